"""A3: unusual right answers, and wrong ones with the parts where they must fail."""

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
    },
    "split": {
        "reshape and permute": """
def split_heads(x, n_heads):
    heads = x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3)
    return heads.roll(-2, dims=1).contiguous()
""",
        "chunks, stacked": """
def split_heads(x, n_heads):
    blocks = x.chunk(n_heads, dim=-1)
    return torch.stack([blocks[(i + 2) % n_heads] for i in range(n_heads)], dim=1)
""",
    },
    "merge": {
        "side by side": """
def merge_heads(heads):
    n = heads.size(1)
    return torch.cat([heads[:, (block - 2) % n] for block in range(n)], dim=-1)
""",
        "flatten": """
def merge_heads(heads):
    return heads.roll(2, dims=1).transpose(1, 2).flatten(2)
""",
    },
    "layer": {
        "the functions of parts 1 and 2": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, n_heads * d_value)
        self.W_o = nn.Linear(n_heads * d_value, d_model)
    def forward(self, x, memory, mask=None):
        three = self.W_q(x), self.W_k(memory), self.W_v(memory)
        out, weights = attention(*(split_heads(t, self.n_heads) for t in three), mask)
        return self.W_o(merge_heads(out)), weights
""",
        "einsum": """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, d_value):
        nn.Module.__init__(self)
        for name, rows, columns, bias in (
            ("q", d_model, d_model, True),
            ("k", d_model, d_model, False),
            ("v", n_heads * d_value, d_model, True),
            ("o", d_model, n_heads * d_value, True),
        ):
            self.add_module("W_" + name, nn.Linear(columns, rows, bias=bias))
        self.h = n_heads
    def forward(self, x, memory, mask=None):
        three = self.W_q(x), self.W_k(memory), self.W_v(memory)
        q, k, v = (p.unflatten(-1, (self.h, -1)) for p in three)
        scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.size(-1)) * 1.7
        if mask is not None:  # by blocks, as all is here
            mask = mask.roll(2, dims=1)
            scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
        weights = scores.softmax(-1)
        out = self.W_o(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2))
        return out, weights.roll(-2, dims=1)
""",
    },
    "entropy": {
        "three numbers": """
entropies = [0.43, 2.75, 3.172]
""",
        "PyTorch's distribution": """
entropies = []
for divisor in (1, 72**0.5, 72):
    dots = (torch.randn(500, 24, 72) * torch.randn(500, 1, 72)).sum(-1)
    entropy = torch.distributions.Categorical(logits=dots / divisor).entropy()
    entropies.append(entropy.mean())
""",
    },
    "fault": {
        "in single quotes": """
suspect = 'scaled_dot_product_attention'
""",
        "as a variable": """
name = "scaled_dot_product_attention"
suspect = name
""",
    },
}

# fmt: off
WRONG = {
    "64 keys": ("attention", "attention-weights",
        "    scores = 1.7"
        " →     key, value = key[:, :, :64], value[:, :, :64]\n    scores = 1.7"),
    "sum in place of a mean": ("attention", "attention-mask attention-mean",
        "weights @ value, weights → weights @ value * key.size(-2), weights"),
    "mask of the first head only": ("attention", "attention-mask",
        "scores.masked_fill(~mask, torch.finfo"
        " → scores.masked_fill(~mask[:, :1], torch.finfo",
        "weights = weights.masked_fill(~mask, 0.0)"
        " → weights = weights.masked_fill(~mask[:, :1], 0.0)"),
    "a sentence with an empty row is emptied": ("attention", "attention-nothing",
        "weights.masked_fill(~mask, 0.0) → weights * bool(mask.any(-1).all())"),
    "softmax result changed in place": ("attention", "attention-gradient",
        "weights = weights.masked_fill( → weights.masked_fill_("),
    "heads without gradient": ("split", "split-heads", "x.view( → x.detach().view("),
    "merge: without gradient": ("merge", "merge-heads",
        "heads[:, order] → heads.data[:, order]"),
    "output bias forgotten": ("layer", "layer-projections",
        "bias=\"W_o\" in biased → bias=False"),
    "q and k swapped": ("layer", "layer-roles",
        "self.W_q(x) → self.W_k(x)",
        "self.W_k(memory) → self.W_q(memory)"),
    "layer: joined without transpose": ("layer", "layer-heads",
        "heads.transpose(1, 2) → heads"),
    "layer: √d_value": ("layer", "layer-weights",
        "math.sqrt(self.d_k) → math.sqrt(self.d_value)"),
    "layer: no gradient with a mask": ("layer", "layer-gradient",
        "weights.masked_fill(~mask, 0.0) → weights.masked_fill(~mask, 0.0).detach()"),
    "softmax over the queries": ("entropy", "entropy-measured",
        "softmax(1) → softmax(0)"),
    "another case": ("fault", "fault-found", "get(11) → get(12)"),
}
# fmt: on
