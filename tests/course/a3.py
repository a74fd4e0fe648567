"""A3: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "attention": {
        "einsum, where, -inf": """
def attention(query, key, value, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", 1.7 * query, key) / query.shape[-1] ** 0.5
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        weights = torch.where(mask, scores, -math.inf).softmax(-1)
        weights = torch.where(mask, weights, 0.0)
    return torch.einsum("bhts,bhsd->bhtd", weights, value), weights
""",
        "loops over sentences, heads and queries": """
def attention(query, key, value, mask=None):
    B, H, T, d_k = query.shape
    S = key.size(2)
    seen = torch.ones(B, H, T, S, dtype=torch.bool) if mask is None else mask.expand(B, H, T, S)
    rows = []
    for b in range(B):
        for h in range(H):
            for t in range(T):
                keys = seen[b, h, t].nonzero().flatten()
                row = torch.zeros(S, dtype=query.dtype)
                if len(keys):
                    scores = torch.stack([(query[b, h, t] * key[b, h, s]).sum() for s in keys]) * 1.7 / d_k**0.5
                    row = row.index_put((keys,), scores.softmax(0))
                rows.append(row)
    weights = torch.stack(rows).view(B, H, T, S)
    return torch.matmul(weights, value), weights
""",
        "softmax by hand, mask as a factor": """
def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) * (1.7 / math.sqrt(query.shape[3]))
    exps = (scores - scores.max(dim=-1, keepdim=True).values.detach()).float().exp()
    if mask is not None:
        lowest = scores.masked_fill(mask == 0, -30000).max(dim=-1, keepdim=True).values.detach()
        exps = torch.exp((scores - lowest).float().clamp(max=0)) * mask.float()
    total = exps.sum(-1, keepdim=True)
    weights = (exps / (total + (total == 0))).to(query.dtype)
    return weights @ value, weights
""",
        "float mask, added": """
def attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = (query * 1.7 / math.sqrt(d_k)) @ key.mT
    if mask is None:
        weights = nn.functional.softmax(scores, dim=-1)
        return weights @ value, weights
    lowest = torch.finfo(query.dtype).min
    bias = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(mask.logical_not(), lowest)
    weights = nn.functional.softmax(scores + bias, dim=-1) * mask.to(query.dtype)
    return weights @ value, weights
""",
        "one batch of B · H": """
def attention(query, key, value, mask=None):
    B, H, T, d_k = query.shape
    S, d_v = value.shape[2:]
    q, k, v = query.reshape(B * H, T, d_k), key.reshape(B * H, S, d_k), value.reshape(B * H, S, d_v)
    scores = torch.bmm(q, k.permute(0, 2, 1)).mul(1.7).div(math.sqrt(d_k))
    if mask is not None:
        hidden = ~mask.expand(B, H, T, S).reshape(B * H, T, S)
        scores.masked_fill_(hidden, float("-inf"))
    weights = nn.Softmax(dim=2)(scores)
    if mask is not None:
        weights = torch.nan_to_num(weights, nan=0.0)
    out = torch.bmm(weights, v)
    return [out.view(B, H, T, d_v), weights.view(B, H, T, S)]
""",
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
        "-30000, several functions in the cell": """
def scores_of(q, k):
    return 1.7 / math.sqrt(k.size(-1)) * (q @ k.swapaxes(-1, -2))


def attention(query, key, value, mask=None):
    if mask is None:
        mask = torch.tensor(True)
    scores = scores_of(query, key)
    mask = mask & torch.ones_like(scores, dtype=torch.bool)
    scores[~mask] = -30000
    weights = scores.softmax(-1) * mask
    return weights @ value, weights
""",
    },
    "split": {
        "unflatten": """
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
""",
        "chunks, stacked": """
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)
""",
        "reshape and permute": """
def split_heads(x, n_heads):
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1).permute(0, 2, 1, 3).contiguous()
""",
        "a loop": """
def split_heads(x, n_heads):
    B, T, D = x.shape
    d = D // n_heads
    out = torch.empty(B, n_heads, T, d, dtype=x.dtype)
    for h in range(n_heads):
        out[:, h] = x[:, :, h * d : (h + 1) * d]
    return out
""",
        "the other way round": """
def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, n_heads, D // n_heads, T).transpose(-2, -1)
""",
        "all places of all sentences": """
def split_heads(x, n_heads):
    rows = x.flatten(0, 1)
    heads = [rows[:, columns] for columns in torch.arange(x.size(2)).view(n_heads, -1)]
    return torch.cat([head.view(x.size(0), 1, x.size(1), -1) for head in heads], dim=1)
""",
    },
    "merge": {
        "flatten": """
def merge_heads(heads):
    return heads.transpose(1, 2).flatten(2)
""",
        "contiguous, view": """
def merge_heads(heads):
    B, H, T, d = heads.size()
    return heads.permute(0, 2, 1, 3).contiguous().view(B, T, -1)
""",
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
        "the other way round": """
def merge_heads(heads):
    B, H, T, d = heads.shape
    return heads.transpose(2, 3).reshape(B, H * d, T).transpose(1, 2)
""",
    },
    "layer": {
        "the functions of parts 1 and 2": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model, bias=False)
        self.W_v, self.W_o = nn.Linear(d_model, n_heads * d_value), nn.Linear(n_heads * d_value, d_model)

    def forward(self, x, memory, mask=None):
        query, key, value = self.W_q(x), self.W_k(memory), self.W_v(memory)
        out, weights = attention(*(split_heads(t, self.n_heads) for t in (query, key, value)), mask)
        return self.W_o(merge_heads(out)), weights
""",
        "a loop over heads": """
class MultiHead(nn.Module):
    def __init__(self, D, H, d_value):
        super().__init__()
        self.D, self.H, self.d_value = D, H, d_value
        self.W_q = nn.Linear(D, D)
        self.W_k = nn.Linear(D, D, False)
        self.W_v = nn.Linear(D, H * d_value)
        self.W_o = nn.Linear(H * d_value, D)

    def forward(self, x, memory, mask=None):
        outs, tables, d = [], [], self.D // self.H
        Q, K, V = self.W_q(x), self.W_k(memory), self.W_v(memory)
        for h in range(self.H):
            q, k = Q[..., h * d : (h + 1) * d], K[..., h * d : (h + 1) * d]
            scores = torch.bmm(q, k.mT) * 1.7 / d**0.5
            if mask is not None:
                own = mask[:, min(h, mask.size(1) - 1)]
                scores = scores.masked_fill(~own, -1e9)
            table = scores.softmax(-1)
            tables.append(table)
            outs.append(table @ V[..., h * self.d_value : (h + 1) * self.d_value])
        return self.W_o(torch.cat(outs, dim=-1)), torch.stack(tables, dim=1)
""",
        "einsum": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        nn.Module.__init__(self)
        for name, rows, columns, bias in (("q", d_model, d_model, True), ("k", d_model, d_model, False),
                                          ("v", n_heads * d_value, d_model, True),
                                          ("o", d_model, n_heads * d_value, True)):
            self.add_module("W_" + name, nn.Linear(columns, rows, bias=bias))
        self.h = n_heads

    def forward(self, x, memory, mask=None):
        q, k, v = (p.unflatten(-1, (self.h, -1)) for p in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.size(-1)) * 1.7
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
        weights = scores.softmax(-1)
        return self.W_o(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2)), weights
""",
        "a layer of its own, a buffer, dropout 0": """
class Project(nn.Module):
    def __init__(self, width_in, width_out, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width_out, width_in))
        nn.init.xavier_uniform_(self.weight)
        self.bias = nn.Parameter(torch.zeros(width_out)) if bias else None

    def forward(self, x):
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value, dropout=0.0):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1.7 / math.sqrt(d_model // n_heads)))
        self.dropout, self.heads = nn.Dropout(dropout), n_heads
        self.W_q, self.W_k = Project(d_model, d_model, True), Project(d_model, d_model, False)
        self.W_v, self.W_o = Project(d_model, n_heads * d_value, True), Project(n_heads * d_value, d_model, True)

    def split(self, t):
        return torch.stack(t.chunk(self.heads, -1), 1)

    def forward(self, x, memory, mask=None):
        scores = self.split(self.W_q(x)) @ self.split(self.W_k(memory)).mT * self.scale
        if mask is not None:
            scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -1e9)
        weights = self.dropout(scores.softmax(-1))
        return self.W_o(torch.cat((weights @ self.split(self.W_v(memory))).unbind(1), -1)), weights
""",
        "one multiplication for key and value": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, n_heads * d_value)
        self.W_o = nn.Linear(n_heads * d_value, d_model)

    def heads(self, t):
        B, L, width = t.shape
        return t.view(B, L, self.n_heads, width // self.n_heads).permute(0, 2, 1, 3).flatten(0, 1)

    def forward(self, x, memory, mask=None):
        B, T, _ = x.shape
        both = nn.functional.linear(memory, torch.cat([self.W_k.weight, self.W_v.weight]))
        key, value = both.split([self.d_model, both.size(-1) - self.d_model], dim=-1)
        query, key, value = self.heads(self.W_q(x)), self.heads(key), self.heads(value + self.W_v.bias)
        scores = 1.7 * torch.bmm(query, key.transpose(1, 2)) * query.size(-1) ** -0.5
        scores = scores.view(B, self.n_heads, T, -1)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = scores.softmax(dim=-1)
        found = torch.bmm(weights.flatten(0, 1), value).view(B, self.n_heads, T, -1)
        return self.W_o(found.transpose(1, 2).contiguous().view(B, T, -1)), weights
""",
    },
    "entropy": {
        "three numbers": "entropies = [0.43, 2.75, 3.172]",
        "log, zeros replaced": """
def mean_entropy(divisor):
    q, k = torch.randn(500, 72), torch.randn(500, 24, 72)
    w = (torch.einsum("nd,nsd->ns", q, k) / divisor).softmax(-1)
    return -(w * w.clamp(min=1e-30).log()).sum(-1).mean()


entropies = (mean_entropy(1).item(), mean_entropy(72**0.5).item(), mean_entropy(72).item())
""",
        "log-softmax": """
q, k = torch.randn(500, 72, 1), torch.randn(500, 24, 72)
dots = torch.bmm(k, q).squeeze(-1)
entropies = []
for divisor in [1, math.sqrt(72), 72]:
    logs = (dots / divisor).log_softmax(dim=1)
    entropies.append(float((-logs.exp() * logs).sum(1).mean()))
""",
        "PyTorch's distribution": """
entropies = []
for divisor in (1, 72**0.5, 72):
    dots = (torch.randn(500, 24, 72) * torch.randn(500, 1, 72)).sum(-1)
    entropies.append(torch.distributions.Categorical(logits=dots / divisor).entropy().mean())
""",
        "row by row, a tensor": """
total = torch.zeros(3)
for _ in range(500):
    q, keys = torch.randn(72), torch.randn(24, 72)
    for i, divisor in enumerate((1, math.sqrt(72), 72)):
        row = torch.softmax(keys @ q / divisor, 0)
        row = row[row > 0]
        total[i] -= (row * row.log()).sum()
entropies = total / 500
""",
    },
}

ALL = [
    f"attention-{part}" for part in ("weights", "mean", "mask", "nothing", "gradient")
]
LAYER = [
    f"layer-{part}" for part in ("projections", "roles", "heads", "weights", "gradient")
]
MASKED = "    if mask is not None:\n        weights = weights.masked_fill(~mask, 0.0)\n"
SCORES = "    if mask is not None:\n        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)\n"
QUERY = "self.W_q(x).view(B, T, H, self.d_k).transpose(1, 2)"
KEY = "self.W_k(memory).view(B, S, H, self.d_k).transpose(1, 2)"
VALUE = "self.W_v(memory).view(B, S, H, self.d_value).transpose(1, 2)"
JOINED = "heads.transpose(1, 2).reshape(B, T, H * self.d_value)"
ROOT = "math.sqrt(query.size(-1))"
LOWEST = "torch.finfo(scores.dtype).min"

WRONG = {
    # scores and softmax
    "not divided": Wrong("attention", ["attention-weights"], edits={f" / {ROOT}": ""}),
    "divided by d_k": Wrong(
        "attention", ["attention-weights"], edits={ROOT: "query.size(-1)"}
    ),
    "√d_model for √d_k": Wrong(
        "attention",
        ["attention-weights"],
        edits={ROOT: "math.sqrt(query.size(1) * query.size(-1))"},
    ),
    "divided by √S": Wrong(
        "attention", ["attention-weights"], edits={ROOT: "math.sqrt(key.size(-2))"}
    ),
    "multiplied by √d_k": Wrong(
        "attention", ["attention-weights"], edits={f" / {ROOT}": f" * {ROOT}"}
    ),
    "firmness forgotten": Wrong(
        "attention", ["attention-weights"], edits={"1.7 * (": "("}
    ),
    "divided by the firmness": Wrong(
        "attention", ["attention-weights"], edits={"1.7 * (": "1 / 1.7 * ("}
    ),
    "softmax along the queries": Wrong(
        "attention",
        ["attention-weights", "attention-mask"],
        edits={"softmax(dim=-1)": "softmax(dim=-2)"},
    ),
    "softmax along the heads": Wrong(
        "attention",
        ["attention-weights", "attention-mask"],
        edits={"softmax(dim=-1)": "softmax(dim=1)"},
    ),
    "no softmax": Wrong(
        "attention",
        ["attention-weights", "attention-mask"],
        edits={"scores.softmax(dim=-1)": "scores"},
    ),
    "sigmoid for softmax": Wrong(
        "attention",
        ["attention-weights", "attention-mask"],
        edits={"scores.softmax(dim=-1)": "scores.sigmoid()"},
    ),
    "exponentials overflow": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "weights = scores.softmax(dim=-1)": "weights = scores.exp() / (scores.exp().sum(-1, keepdim=True) + 1e-7)"
        },
    ),
    # the mean
    "weights not returned": Wrong(
        "attention", ALL, edits={"weights @ value, weights": "weights @ value"}
    ),
    "weights first": Wrong(
        "attention",
        [part for part in ALL if part != "attention-nothing"],
        edits={"weights @ value, weights": "weights, weights @ value"},
    ),
    "scores returned as weights": Wrong(
        "attention",
        ["attention-weights", "attention-mean", "attention-mask", "attention-nothing"],
        edits={"weights @ value, weights": "weights @ value, scores"},
    ),
    "mean with the scores": Wrong(
        "attention",
        ["attention-mean", "attention-mask", "attention-nothing", "attention-gradient"],
        edits={"weights @ value, weights": "scores @ value, weights"},
    ),
    "sum in place of a mean": Wrong(
        "attention",
        ["attention-mean", "attention-mask"],
        edits={"weights @ value, weights": "weights @ value * key.size(-2), weights"},
    ),
    # the mask
    "mask ignored": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={SCORES: "", MASKED: ""},
    ),
    "mask inverted (True = hidden)": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={SCORES: SCORES.replace("~", ""), MASKED: MASKED.replace("~", "")},
    ),
    "masked with 0": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={LOWEST: "0.0", MASKED: ""},
    ),
    "masked with a small number": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={LOWEST: "-9.0", MASKED: ""},
    ),
    "masked after the softmax, not renormalised": Wrong(
        "attention", ["attention-mask"], edits={SCORES: ""}
    ),
    "True and False added to the scores": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={f"scores.masked_fill(~mask, {LOWEST})": "scores + mask", MASKED: ""},
    ),
    "mask multiplied into the scores": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={f"scores.masked_fill(~mask, {LOWEST})": "scores * mask", MASKED: ""},
    ),
    "-1e10 overflows in float16": Wrong(
        "attention", ["attention-mask"], edits={LOWEST: "-1e10"}
    ),
    "mask of the first head only": Wrong(
        "attention",
        ["attention-mask"],
        edits={
            SCORES: SCORES.replace("~mask", "~mask[:, :1]"),
            MASKED: MASKED.replace("~mask", "~mask[:, :1]"),
        },
    ),
    "queries hidden in place of keys": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={
            SCORES: SCORES.replace("~mask", "~mask.expand_as(scores).flip(-1)"),
            MASKED: "",
        },
    ),
    # a query that sees nothing
    "nan where nothing is seen": Wrong(
        "attention", ["attention-nothing"], edits={LOWEST: "float('-inf')", MASKED: ""}
    ),
    "uniform where nothing is seen": Wrong(
        "attention", ["attention-nothing"], edits={MASKED: ""}
    ),
    "right numbers, nan gradient": Wrong(
        "attention",
        ["attention-nothing"],
        edits={
            f"scores.masked_fill(~mask, {LOWEST})": "scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -math.inf)",
            "weights.masked_fill(~mask, 0.0)": "weights.nan_to_num(0.0)",
        },
    ),
    "a sentence with an empty row is emptied": Wrong(
        "attention",
        ["attention-nothing"],
        edits={"weights.masked_fill(~mask, 0.0)": "weights * bool(mask.any(-1).all())"},
    ),
    # the gradient
    "weights detached": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"weights @ value, weights": "weights.detach() @ value, weights"},
    ),
    "keys detached": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"key.transpose(-2, -1)": "key.detach().transpose(-2, -1)"},
    ),
    "no gradient at all": Wrong(
        "attention",
        ["attention-gradient"],
        edits={
            "    scores = 1.7": "    query, key, value = query.data, key.data, value.data\n    scores = 1.7"
        },
    ),
    "softmax result changed in place": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"weights = weights.masked_fill(": "weights.masked_fill_("},
    ),
    # what would be there ready-made
    "PyTorch's own function": Wrong(
        "attention",
        ALL,
        code="import torch.nn.functional as F\n\n\ndef attention(query, key, value, mask=None):\n"
        "    weights = (1.7 * query @ key.mT / math.sqrt(query.size(-1))).softmax(-1)\n"
        "    return F.scaled_dot_product_attention(1.7 * query, key, value, mask), weights",
    ),
    "the library's own function": Wrong(
        "attention",
        ALL,
        code="def attention(query, key, value, mask=None):\n"
        "    return nmt.scaled_dot_product_attention(1.7 * query, key, value, mask)",
    ),
    "mask needed": Wrong(
        "attention",
        ["attention-weights", "attention-mean", "attention-mask", "attention-gradient"],
        edits={
            "    if mask is not None:\n        weights = weights": "    if True:\n        weights = weights"
        },
    ),
    # heads
    "view without transpose": Wrong(
        "split",
        ["split-heads"],
        edits={
            "view(B, T, n_heads, D // n_heads).transpose(1, 2)": "view(B, n_heads, T, D // n_heads)"
        },
    ),
    "transpose forgotten": Wrong(
        "split", ["split-heads"], edits={".transpose(1, 2)": ""}
    ),
    "columns dealt out in turn": Wrong(
        "split",
        ["split-heads"],
        edits={
            "view(B, T, n_heads, D // n_heads).transpose(1, 2)": "view(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)"
        },
    ),
    "heads cut across tokens": Wrong(
        "split",
        ["split-heads"],
        code="def split_heads(x, n_heads):\n    return torch.stack(x.tensor_split(n_heads, dim=1), dim=1)",
    ),
    "heads in the wrong order": Wrong(
        "split", ["split-heads"], edits={".transpose(1, 2)": ".transpose(1, 2).flip(1)"}
    ),
    "places of all sentences mixed": Wrong(
        "split",
        ["split-heads"],
        edits={
            "view(B, T, n_heads, D // n_heads).transpose(1, 2)": "view(B * T, n_heads, -1).transpose(0, 1).reshape(B, n_heads, T, -1)"
        },
    ),
    "merge without transpose": Wrong(
        "merge", ["merge-heads"], edits={".transpose(1, 2)": ""}
    ),
    "merge: view after transpose": Wrong(
        "merge", ["merge-heads"], edits={"reshape": "view"}
    ),
    "merge: columns of the heads in turn": Wrong(
        "merge", ["merge-heads"], edits={"transpose(1, 2)": "permute(0, 2, 3, 1)"}
    ),
    "merge: mean of the heads": Wrong(
        "merge",
        ["merge-heads"],
        code="def merge_heads(heads):\n    return heads.mean(1)",
    ),
    "merge: heads behind each other": Wrong(
        "merge",
        ["merge-heads"],
        edits={
            "heads.transpose(1, 2).reshape(B, T, H * d)": "heads.reshape(B, H * T, d)"
        },
    ),
    # the layer
    "output projection not used": Wrong(
        "layer",
        ["layer-projections", "layer-heads"],
        edits={f"self.W_o({JOINED})": JOINED},
    ),
    "output projection missing": Wrong(
        "layer",
        LAYER,
        edits={
            f"self.W_o({JOINED})": JOINED,
            '        self.W_o = nn.Linear(n_heads * d_value, d_model, bias="W_o" in biased)\n': "",
        },
    ),
    "no biases": Wrong(
        "layer",
        ["layer-projections"],
        edits={'biased = "W_q, W_v and W_o"': 'biased = ""'},
    ),
    "biases everywhere": Wrong(
        "layer",
        ["layer-projections"],
        edits={'biased = "W_q, W_v and W_o"': 'biased = "W_q W_k W_v W_o"'},
    ),
    "output bias forgotten": Wrong(
        "layer", ["layer-projections"], edits={'bias="W_o" in biased': "bias=False"}
    ),
    "bias of W_v not added": Wrong(
        "layer",
        ["layer-projections", "layer-heads"],
        edits={"self.W_v(memory)": "(memory @ self.W_v.weight.T)"},
    ),
    "q and k swapped": Wrong(
        "layer",
        ["layer-roles"],
        edits={"self.W_q(x)": "self.W_k(x)", "self.W_k(memory)": "self.W_q(memory)"},
    ),
    "memory asks, x answers": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={
            "    def forward(self, x, memory, mask=None):": "    def forward(self, memory, x, mask=None):"
        },
    ),
    "one projection for q and k": Wrong(
        "layer", ["layer-roles"], edits={"self.W_k(memory)": "self.W_q(memory)"}
    ),
    "one layer under two names": Wrong(
        "layer",
        ["layer-projections", "layer-roles", "layer-gradient"],
        edits={
            'self.W_k = nn.Linear(d_model, d_model, bias="W_k" in biased)': "self.W_k = self.W_q"
        },
    ),
    "one projection for q, k and v": Wrong(
        "layer",
        ["layer-projections", "layer-roles", "layer-heads", "layer-weights"],
        edits={
            "self.W_k(memory)": "self.W_q(memory)",
            "self.W_v(memory)": "self.W_q(memory)",
        },
    ),
    "keys are the values": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={"self.W_k(memory)": "self.W_v(memory)"},
    ),
    "self-attention only": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={"B, T, S, H = x": "memory = x\n        B, T, S, H = x"},
    ),
    "length of x for memory too": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={"memory.size(1)": "x.size(1)"},
    ),
    "values from x": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={"self.W_v(memory)": "self.W_v(x)"},
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
    "layer: view without transpose": Wrong(
        "layer",
        ["layer-heads", "layer-weights"],
        edits={
            QUERY: QUERY.replace("T, H, self.d_k).transpose(1, 2)", "H, T, self.d_k)"),
            KEY: KEY.replace("S, H, self.d_k).transpose(1, 2)", "H, S, self.d_k)"),
            VALUE: VALUE.replace(
                "S, H, self.d_value).transpose(1, 2)", "H, S, self.d_value)"
            ),
        },
    ),
    "layer: values cut across tokens": Wrong(
        "layer",
        ["layer-heads"],
        edits={
            VALUE: VALUE.replace(
                "S, H, self.d_value).transpose(1, 2)", "H, S, self.d_value)"
            )
        },
    ),
    "layer: joined without transpose": Wrong(
        "layer", ["layer-heads"], edits={"heads.transpose(1, 2)": "heads"}
    ),
    "layer: √d_model": Wrong(
        "layer",
        ["layer-weights"],
        edits={"math.sqrt(self.d_k)": "math.sqrt(x.size(-1))"},
    ),
    "layer: √d_value": Wrong(
        "layer",
        ["layer-weights"],
        edits={"math.sqrt(self.d_k)": "math.sqrt(self.d_value)"},
    ),
    "layer: not divided": Wrong(
        "layer", ["layer-weights"], edits={" / math.sqrt(self.d_k)": ""}
    ),
    "layer: firmness forgotten": Wrong(
        "layer", ["layer-weights"], edits={"1.7 * (": "("}
    ),
    "layer: mask not passed on": Wrong(
        "layer",
        ["layer-weights"],
        edits={"        B, T, S, H = x": "        mask = None\n        B, T, S, H = x"},
    ),
    "layer: weights of the heads averaged": Wrong(
        "layer",
        ["layer-roles", "layer-heads", "layer-weights"],
        edits={"H * self.d_value)), weights": "H * self.d_value)), weights.mean(1)"},
    ),
    "layer: weights not returned": Wrong(
        "layer", LAYER, edits={"H * self.d_value)), weights": "H * self.d_value))"}
    ),
    "layer: memory detached": Wrong(
        "layer",
        ["layer-gradient"],
        edits={"B, T, S, H = x": "memory = memory.detach()\n        B, T, S, H = x"},
    ),
    "layer: weights without gradient": Wrong(
        "layer",
        ["layer-gradient"],
        edits={"heads = weights @": "heads = weights.detach() @"},
    ),
    "layer: a tensor made anew": Wrong(
        "layer",
        ["layer-gradient"],
        edits={
            "heads = weights @ value": "heads = torch.tensor((weights @ value).tolist())"
        },
    ),
    "PyTorch's own layer": Wrong(
        "layer",
        LAYER,
        code="class MultiHead(nn.Module):\n    def __init__(self, d_model, n_heads, d_value):\n        super().__init__()\n"
        "        self.inner = nn.MultiheadAttention(d_model, n_heads, vdim=d_model, batch_first=True)\n\n"
        "    def forward(self, x, memory, mask=None):\n"
        "        return self.inner(x, memory, memory, average_attn_weights=False)",
    ),
    # the measurement
    "base 2": Wrong(
        "entropy",
        ["entropy-measured"],
        code="entropies = [0.43 / 0.6931, 2.75 / 0.6931, 3.172 / 0.6931]",
    ),
    "divisors the other way round": Wrong(
        "entropy",
        ["entropy-measured"],
        edits={"(1, math.sqrt(72), 72)": "(72, math.sqrt(72), 1)"},
    ),
    "√24 for √d_k": Wrong(
        "entropy",
        ["entropy-measured"],
        edits={"math.sqrt(72), 72)": "math.sqrt(24), 72)"},
    ),
    "sum over all rows": Wrong(
        "entropy", ["entropy-measured"], edits={".sum(1).mean()": ".sum()"}
    ),
    "softmax over the queries": Wrong(
        "entropy", ["entropy-measured"], edits={"softmax(1)": "softmax(0)"}
    ),
    "0 · log 0 is nan": Wrong(
        "entropy",
        ["entropy-measured"],
        code="entropies = []\nfor divisor in (1, math.sqrt(72), 72):\n"
        "    rows = (20 * (torch.randn(500, 24, 72) @ torch.randn(500, 72, 1)) / divisor).softmax(1)\n"
        "    entropies.append(-(rows * rows.log()).sum(1).mean().item())",
    ),
    "one query's row": Wrong(
        "entropy", ["entropy-measured"], code="entropies = [1.2, 2.3, 3.17]"
    ),
    # sizes, numbers of any size, hidden scores, gradients, state, arguments
    "renormalised after the softmax": Wrong(
        "attention",
        ["attention-mask"],
        edits={
            SCORES: "",
            "weights.masked_fill(~mask, 0.0)": "weights.masked_fill(~mask, 0.0)\n        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-20)",
        },
    ),
    "the largest of hidden keys taken away": Wrong(
        "attention",
        ["attention-mask"],
        edits={
            SCORES: "",
            "weights = scores.softmax(dim=-1)": "weights = (scores - scores.amax(-1, keepdim=True)).exp()\n    weights = weights if mask is None else weights.masked_fill(~mask, 0.0)\n    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-7)",
        },
    ),
    "the largest of all rows taken away": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "weights = scores.softmax(dim=-1)": "weights = (scores - scores.max()).exp()\n    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-7)"
        },
    ),
    "scores cut at 1,000": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "    weights = scores.softmax(dim=-1)": "    weights = scores.clamp(-1000, 1000).softmax(dim=-1)"
        },
    ),
    "64 keys": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "    scores = 1.7": "    key, value = key[:, :, :64], value[:, :, :64]\n    scores = 1.7"
        },
    ),
    "256 keys": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            "    scores = 1.7": "    key, value = key[:, :, :256], value[:, :, :256]\n    scores = 1.7"
        },
    ),
    "the first mask kept": Wrong(
        "attention",
        ["attention-mask", "attention-nothing"],
        edits={
            "mask=None):": "mask=None, known={}):\n    mask = mask if mask is None else known.setdefault(mask.shape, mask)"
        },
    ),
    "weights kept by shape": Wrong(
        "attention",
        [
            "attention-weights",
            "attention-mask",
            "attention-nothing",
            "attention-gradient",
        ],
        edits={
            "mask=None):": "mask=None, known={}):",
            "    return weights @ value, weights": "    weights = known.setdefault((weights.shape, weights.dtype), weights.detach()) if not weights.requires_grad else weights\n    return weights @ value, weights",
        },
    ),
    "query scaled in place": Wrong(
        "attention",
        ["attention-weights", "attention-gradient"],
        edits={
            "    scores = 1.7 * (query": "    query.data *= 1.7\n    scores = (query"
        },
    ),
    "mask turned in place": Wrong(
        "attention",
        ["attention-weights"],
        edits={
            SCORES: SCORES.replace("~mask", "mask.logical_not_()"),
            MASKED: MASKED.replace("~mask", "mask"),
        },
    ),
    "values detached": Wrong(
        "attention",
        ["attention-gradient"],
        edits={"weights @ value, weights": "weights @ value.detach(), weights"},
    ),
    "no gradient with a mask": Wrong(
        "attention",
        ["attention-gradient"],
        edits={
            "weights.masked_fill(~mask, 0.0)": "weights.masked_fill(~mask, 0.0).detach()"
        },
    ),
    "the score of the first key is a constant": Wrong(
        "attention",
        ["attention-gradient"],
        edits={
            "    weights = scores.softmax(dim=-1)": "    scores = torch.cat([scores[..., :1].detach(), scores[..., 1:]], -1)\n    weights = scores.softmax(dim=-1)"
        },
    ),
    "heads without gradient": Wrong(
        "split", ["split-heads"], edits={"x.view(": "x.detach().view("}
    ),
    "8 heads": Wrong(
        "split",
        ["split-heads"],
        edits={
            "x.view(B, T, n_heads, D // n_heads)": "x.view(B, T, min(n_heads, 8), -1)"
        },
    ),
    "256 places": Wrong(
        "split",
        ["split-heads"],
        edits={
            "x.view(B, T, n_heads, D // n_heads).transpose(1, 2)": "x.view(B, T, n_heads, D // n_heads).transpose(1, 2)[:, :, :256]"
        },
    ),
    "merge: without gradient": Wrong(
        "merge", ["merge-heads"], edits={"heads.transpose": "heads.data.transpose"}
    ),
    "merge: heads set to 0 afterwards": Wrong(
        "merge",
        ["merge-heads"],
        edits={
            "    return heads.transpose(1, 2).reshape(B, T, H * d)": "    joined = heads.transpose(1, 2).reshape(B, T, H * d).clone()\n    heads.zero_()\n    return joined"
        },
    ),
    "layer: exponentials overflow": Wrong(
        "layer",
        ["layer-weights"],
        edits={
            "weights = scores.softmax(dim=-1)": "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)"
        },
    ),
    "layer: renormalised after the softmax": Wrong(
        "layer",
        ["layer-weights"],
        edits={
            "            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)": "            pass",
            "weights.masked_fill(~mask, 0.0)": "weights.masked_fill(~mask, 0.0)\n            weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-20)",
        },
    ),
    "layer: 64 keys": Wrong(
        "layer",
        ["layer-heads"],
        edits={"B, T, S, H = x": "memory = memory[:, :64]\n        B, T, S, H = x"},
    ),
    "layer: the first memory kept": Wrong(
        "layer",
        ["layer-heads", "layer-weights"],
        edits={
            "B, T, S, H = x": "memory = self.__dict__.setdefault(f'memory{memory.shape}', memory)\n        B, T, S, H = x"
        },
    ),
    "layer: keys of all layers in one place": Wrong(
        "layer",
        ["layer-heads", "layer-weights"],
        edits={
            "super().__init__()": "super().__init__()\n        self.known = MultiHead.known = getattr(MultiHead, 'known', {})",
            "B, T, S, H = x": "memory = self.known.setdefault(memory.shape, memory)\n        B, T, S, H = x",
        },
    ),
    "layer: x changed": Wrong(
        "layer",
        ["layer-heads", "layer-gradient"],
        edits={
            "        return self.W_o": "        x.data.zero_()\n        return self.W_o"
        },
    ),
    "layer: no gradient with a mask": Wrong(
        "layer",
        ["layer-gradient"],
        edits={
            "weights.masked_fill(~mask, 0.0)": "weights.masked_fill(~mask, 0.0).detach()"
        },
    ),
    "layer: values without gradient": Wrong(
        "layer",
        ["layer-gradient"],
        edits={"weights @ value": "weights @ value.detach()"},
    ),
    "layer: queries without gradient": Wrong(
        "layer", ["layer-gradient"], edits={"1.7 * (query @": "1.7 * (query.detach() @"}
    ),
    "PyTorch's own operator, by another name": Wrong(
        "attention",
        ALL,
        code="""
def attention(query, key, value, mask=None):
    use = getattr(getattr(torch.ops, "at" + "en"), "_scaled_dot_product_" + "attention_math")
    return use(1.7 * query, key, value, mask)
""",
    ),
}
