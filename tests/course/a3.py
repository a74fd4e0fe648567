"""A3: unusual right answers, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "attention": {
        "log-softmax, hidden rows replaced": """
def attention(query, key, value, mask=None):
    scores = 1.7 * torch.matmul(query, key.transpose(2, 3)) / query.size(3) ** 0.5
    if mask is not None:
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~(mask | empty), float("-inf"))
        weights = scores.log_softmax(-1).exp().masked_fill(empty, 0)
    else:
        weights = scores.log_softmax(-1).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(2)).sum(3), weights
""",
        "softmax by hand, mask as a factor": """
def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) * (1.7 / math.sqrt(query.shape[3]))
    exps = (scores - scores.max(dim=-1, keepdim=True).values.detach()).float().exp()
    if mask is not None:
        lowest = (
            scores.masked_fill(mask == 0, -30000)
            .max(dim=-1, keepdim=True)
            .values.detach()
        )
        exps = torch.exp((scores - lowest).float().clamp(max=0)) * mask.float()
    total = exps.sum(-1, keepdim=True)
    weights = (exps / (total + (total == 0))).to(query.dtype)
    return weights @ value, weights
""",
    },
    "split": {
        "all places of all sentences": """
def split_heads(x, n_heads):
    rows = x.flatten(0, 1)
    heads = [rows[:, columns] for columns in torch.arange(x.size(2)).view(n_heads, -1)]
    return torch.cat([head.view(x.size(0), 1, x.size(1), -1) for head in heads], dim=1)
""",
        "reshape and permute": """
def split_heads(x, n_heads):
    return (
        x.reshape(x.shape[0], x.shape[1], n_heads, -1).permute(0, 2, 1, 3).contiguous()
    )
""",
    },
    "merge": {
        "side by side": """
def merge_heads(heads):
    return torch.cat(heads.unbind(1), dim=-1)
""",
        "a loop": """
def merge_heads(heads):
    B, H, T, d = heads.shape
    out = torch.zeros(B, T, H * d)
    for h in range(H):
        for t in range(T):
            out[:, t, h * d : h * d + d] = heads[:, h, t]
    return out
""",
    },
    "layer": {
        "the functions of parts 1 and 2": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k = (
            nn.Linear(d_model, d_model),
            nn.Linear(d_model, d_model, bias=False),
        )
        self.W_v, self.W_o = (
            nn.Linear(d_model, n_heads * d_value),
            nn.Linear(n_heads * d_value, d_model),
        )

    def forward(self, x, memory, mask=None):
        query, key, value = self.W_q(x), self.W_k(memory), self.W_v(memory)
        out, weights = attention(
            *(split_heads(t, self.n_heads) for t in (query, key, value)), mask
        )
        return self.W_o(merge_heads(out)), weights
""",
    },
    "entropy": {
        "three numbers": """
entropies = [0.43, 2.75, 3.172]
""",
        "log-softmax": """
q, k = torch.randn(500, 72, 1), torch.randn(500, 24, 72)
dots = torch.bmm(k, q).squeeze(-1)
entropies = []
for divisor in [1, math.sqrt(72), 72]:
    logs = (dots / divisor).log_softmax(dim=1)
    entropies.append(float((-logs.exp() * logs).sum(1).mean()))
""",
    },
}

WRONG = {
    "64 keys": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "    scores = 1.7": "    key, value = key[:, :, :64], value[:, :, :64]\n    scores = 1.7"
        },
    ),
    "firmness forgotten": Wrong(
        "attention", ["attention-weights"], edits={"1.7 * (": "("}
    ),
    "sum in place of a mean": Wrong(
        "attention",
        ["attention-mask", "attention-mean"],
        edits={"weights @ value, weights": "weights @ value * key.size(-2), weights"},
    ),
    "mask of the first head only": Wrong(
        "attention",
        ["attention-mask"],
        edits={
            "    if mask is not None:\n        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)\n": "    if mask is not None:\n        scores = scores.masked_fill(~mask[:, :1], torch.finfo(scores.dtype).min)\n",
            "    if mask is not None:\n        weights = weights.masked_fill(~mask, 0.0)\n": "    if mask is not None:\n        weights = weights.masked_fill(~mask[:, :1], 0.0)\n",
        },
    ),
    "-1e10 overflows in float16": Wrong(
        "attention",
        ["attention-mask"],
        edits={"torch.finfo(scores.dtype).min": "-1e10"},
    ),
    "a sentence with an empty row is emptied": Wrong(
        "attention",
        ["attention-nothing"],
        edits={"weights.masked_fill(~mask, 0.0)": "weights * bool(mask.any(-1).all())"},
    ),
    "uniform where nothing is seen": Wrong(
        "attention",
        ["attention-nothing"],
        edits={
            "    if mask is not None:\n        weights = weights.masked_fill(~mask, 0.0)\n": ""
        },
    ),
    "softmax result changed in place": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"weights = weights.masked_fill(": "weights.masked_fill_("},
    ),
    "keys detached": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"key.transpose(-2, -1)": "key.detach().transpose(-2, -1)"},
    ),
    "heads without gradient": Wrong(
        "split", ["split-heads"], edits={"x.view(": "x.detach().view("}
    ),
    "transpose forgotten": Wrong(
        "split", ["split-heads"], edits={".transpose(1, 2)": ""}
    ),
    "merge: without gradient": Wrong(
        "merge", ["merge-heads"], edits={"heads.transpose": "heads.data.transpose"}
    ),
    "merge: view after transpose": Wrong(
        "merge", ["merge-heads"], edits={"reshape": "view"}
    ),
    "output bias forgotten": Wrong(
        "layer", ["layer-projections"], edits={'bias="W_o" in biased': "bias=False"}
    ),
    "q and k swapped": Wrong(
        "layer",
        ["layer-roles"],
        edits={"self.W_q(x)": "self.W_k(x)", "self.W_k(memory)": "self.W_q(memory)"},
    ),
    "layer: joined without transpose": Wrong(
        "layer", ["layer-heads"], edits={"heads.transpose(1, 2)": "heads"}
    ),
    "d_value ignored": Wrong(
        "layer",
        ["layer-heads"],
        edits={
            "d_model // n_heads, d_value": "d_model // n_heads, d_model // n_heads",
            "nn.Linear(d_model, n_heads * d_value,": "nn.Linear(d_model, d_model,",
            "nn.Linear(n_heads * d_value, d_model,": "nn.Linear(d_model, d_model,",
        },
    ),
    "layer: √d_value": Wrong(
        "layer",
        ["layer-weights"],
        edits={"math.sqrt(self.d_k)": "math.sqrt(self.d_value)"},
    ),
    "layer: firmness forgotten": Wrong(
        "layer", ["layer-weights"], edits={"1.7 * (": "("}
    ),
    "layer: no gradient with a mask": Wrong(
        "layer",
        ["layer-gradient"],
        edits={
            "weights.masked_fill(~mask, 0.0)": "weights.masked_fill(~mask, 0.0).detach()"
        },
    ),
    "layer: queries without gradient": Wrong(
        "layer", ["layer-gradient"], edits={"1.7 * (query @": "1.7 * (query.detach() @"}
    ),
    "softmax over the queries": Wrong(
        "entropy", ["entropy-measured"], edits={"softmax(1)": "softmax(0)"}
    ),
    "sum over all rows": Wrong(
        "entropy", ["entropy-measured"], edits={".sum(1).mean()": ".sum()"}
    ),
}
