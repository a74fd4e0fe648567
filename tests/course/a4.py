"""A4: unusual right answers, and wrong ones with the parts where they must fail."""

RIGHT = {
    "norm": {
        "var, unbiased=False": """
class Norm(nn.Module):
    def __init__(self, d_model, eps=0.03):
        super().__init__()
        self.norm_shift = nn.Parameter(torch.zeros(d_model))
        self.norm_gain = nn.Parameter(0.88 * torch.ones(d_model))
        self.eps = eps
    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        normed = (x - mean) * torch.rsqrt(variance + self.eps)
        return normed * self.norm_gain + self.norm_shift
""",
        "mean of squares minus square of the mean": """
class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        for name, start in (("norm_gain", 0.88), ("norm_shift", 0.0)):
            self.register_parameter(name, nn.Parameter(torch.full((d_model,), start)))
    def forward(self, x):
        wide = x.double()
        mean = wide.mean(2, True)
        variance = wide.pow(2).mean(2, True) - mean.pow(2)
        normed = ((wide - mean) / (variance + 0.03).sqrt()).to(x.dtype)
        return normed * self.norm_gain + self.norm_shift
""",
    },
    "ffn": {
        "a module for the activation": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = nn.SiLU()
    def forward(self, x):
        return self.W_2(self.activation(self.W_1(x)))
""",
        "matrices by hand": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    def forward(self, x):
        wide = nn.functional.silu(x @ self.W_1.weight.T + self.W_1.bias)
        return torch.einsum("btf,df->btd", wide, self.W_2.weight) + self.W_2.bias
""",
    },
    "sum": {
        "identities": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order, factor=1.35):
        super().__init__()
        self.norm, self.factor = norm, factor
        both = norm, nn.Identity()
        self.enter, self.leave = both if order == "pre" else both[::-1]
        self.dropout = nn.Dropout(p=dropout)
    def forward(self, x, sublayer):
        out = self.dropout(sublayer(self.enter(x)))
        return self.leave(torch.add(out, x, alpha=self.factor))
""",
        "one path": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order, factor=1.35):
        super().__init__()
        self.norm, self.dropout, self.pre = norm, nn.Dropout(dropout), order == "pre"
        self.factor = factor
    def forward(self, x, sublayer):
        h = self.norm(x) if self.pre else x
        x = self.factor * x + self.dropout(sublayer(h))
        return x if self.pre else self.norm(x)
""",
    },
    "encoder": {
        "other names": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.mha, self.ffn = attention, feed_forward
        self.norm_1, self.norm_2 = around
    def forward(self, x, src_mask):
        x = self.norm_1(x, lambda y: self.mha(y, y, mask=src_mask))
        x = self.norm_2(x, lambda y: self.ffn(y))
        return x
""",
        "a loop, a mask of all queries": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.around = nn.Sequential(*around)
    def forward(self, x, src_mask):
        n = x.size(1)
        mask = None if src_mask is None else src_mask.expand(-1, -1, n, n)
        functions = [lambda h: self.attention(h, h, mask), self.feed_forward]
        for around, function in zip(self.around, functions):
            x = around(x, function)
        return x
""",
    },
    "decoder": {
        "other names": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.a, self.b, self.c = self_attention, cross_attention, feed_forward
        self.n1, self.n2, self.n3 = around
    def forward(self, x, memory, src_mask, tgt_mask):
        y = self.n1(x, lambda h: self.a(h, h, mask=tgt_mask))
        z = self.n2(y, lambda h: self.b(x=h, memory=memory, mask=src_mask))
        return self.n3(z, lambda h: self.c(h))
""",
        "masks never None": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.attentions = nn.ModuleList([self_attention, cross_attention])
        self.feed_forward, self.around = feed_forward, nn.ModuleList(around)
    def forward(self, x, memory, src_mask, tgt_mask):
        everything = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        tgt_mask = everything if tgt_mask is None else tgt_mask
        src_mask = everything if src_mask is None else src_mask
        x = self.around[0](x, lambda h: self.attentions[0](h, h, tgt_mask))
        x = self.around[1](x, lambda h: self.attentions[1](h, memory, src_mask))
        x = self.around[2](x, self.feed_forward)
        return x
""",
    },
    "stack": {
        "recursion": """
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.first = make_layer()
        self.rest = Stack(make_layer, n_layers - 1, norm) if n_layers > 1 else None
        self.norm = norm if n_layers == 1 else None
    def forward(self, x, *others):
        x = self.first(x, *others)
        if self.rest is not None:
            return self.rest(x, *others)
        return x if self.norm is None else self.norm(x)
""",
        "reduce": """
from functools import reduce
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.parts = nn.ModuleDict({str(i): make_layer() for i in range(n_layers)})
        self.register_module("norm", norm)
    def forward(self, x, *others):
        x = reduce(lambda h, layer: layer(h, *others), self.parts.values(), x)
        return self.norm(x) if self.norm else x
""",
    },
    "model": {
        "three layers, one matrix": """
class Model(nn.Module):
    def __init__(self, n_words, positions, encoder, decoder):
        super().__init__()
        D = positions.size(1)
        self.table, self.tgt_table = nn.Embedding(n_words, D), nn.Embedding(n_words, D)
        self.output = nn.Linear(D, n_words)
        self.tgt_table.weight = self.output.weight = self.table.weight
        self.encoder, self.decoder, self.factor = encoder, decoder, D**0.5
        self.positions = [position for position in positions][38:]
    def forward(self, src, tgt_in):
        src_mask = nmt.padding_mask(src, 17).repeat(1, 1, 1, 1)
        past = nmt.causal_mask(tgt_in.size(1))
        tgt_mask = torch.logical_and(nmt.padding_mask(tgt_in, 17), past)
        x, y = self.table(src).mul(self.factor), self.tgt_table(tgt_in) * self.factor
        memory = self.encoder(x + torch.stack(self.positions[: src.size(1)]), src_mask)
        y = y + torch.stack(self.positions[: tgt_in.size(1)])
        return self.output(self.decoder(y, memory, src_mask, tgt_mask)).mul(0.65)
""",
        "a method for both sides": """
class Model(nn.Module):
    def __init__(self, n_words, positions, encoder, decoder):
        super().__init__()
        self.D = positions.shape[1]
        self.encoder, self.decoder = encoder, decoder
        self.table = nn.Embedding(n_words, self.D)
        self.output = nn.Linear(self.D, n_words)
        self.output.weight = self.table.weight
        self.positions = nn.Parameter(positions[38:], requires_grad=False)
    def embed(self, ids):
        return self.table(ids) * self.D**0.5 + self.positions[: ids.size(1)]
    def forward(self, src, tgt_in):
        src_mask = nmt.padding_mask(src, pad=17)
        memory = self.encoder(self.embed(src), src_mask)
        tgt_mask = nmt.target_mask(tgt_in, pad=17)
        y = self.decoder(self.embed(tgt_in), memory, src_mask, tgt_mask)
        return (self.output(y) * 65) / 100
""",
    },
    "count": {
        "one formula": """
def count(D, F, N, V, order):
    layers = N * (12 * D * D + 3 * D + 4 * D * F + 2 * D + 10 * D)
    return layers + V * (D + 1) + {"pre": 4 * D, "post": 0}[order]
""",
        "modules on meta": """
def count(d_model, d_ff, n_layers, n_words, order):
    def size(n_in, n_out, bias):
        layer = nn.Linear(n_in, n_out, bias=bias, device="meta")
        return sum(p.numel() for p in layer.parameters())
    attention = size(d_model, d_model, True) + 3 * size(d_model, d_model, False)
    feed_forward = size(d_model, d_ff, False) + size(d_ff, d_model, True)
    norms = (5 * n_layers + (2 if order == "pre" else 0)) * 2 * d_model
    layers = n_layers * (3 * attention + 2 * feed_forward)
    return layers + norms + size(d_model, n_words, True)
""",
    },
    "torch": {
        "unflatten": """
def from_torch(state):
    weights = state["self_attn.in_proj_weight"].unflatten(0, (3, -1))
    biases = state["self_attn.in_proj_bias"].view(3, -1)
    mine = {f"attention.W_{x}.weight": weights[i] for i, x in enumerate("qkv")}
    mine |= {f"attention.W_{x}.bias": biases[i] for i, x in enumerate("qkv")}
    pairs = [
        ("attention.W_o", "self_attn.out_proj"),
        ("feed_forward.W_1", "linear1"),
        ("feed_forward.W_2", "linear2"),
    ]
    for end in ("weight", "bias"):
        mine |= {f"{a}.{end}": state[f"{b}.{end}"] for a, b in pairs}
    for i, norm in enumerate(("norm1", "norm2")):
        mine |= {f"around.{i}.norm.norm_gain": state[norm + ".weight"]}
        mine |= {f"around.{i}.norm.norm_shift": state[norm + ".bias"]}
    return mine
""",
        "replace in the names": """
def from_torch(state):
    mine = {}
    for name, value in state.items():
        if "in_proj" in name:
            end = name.removeprefix("self_attn.in_proj_")
            for letter, part in zip("qkv", torch.chunk(value, 3, dim=0)):
                mine[f"attention.W_{letter}.{end}"] = part
            continue
        for old, new in (
            ("self_attn.out_proj", "attention.W_o"),
            ("linear", "feed_forward.W_"),
            ("norm1.weight", "around.0.norm.norm_gain"),
            ("norm1.bias", "around.0.norm.norm_shift"),
            ("norm2.weight", "around.1.norm.norm_gain"),
            ("norm2.bias", "around.1.norm.norm_shift"),
        ):
            name = name.replace(old, new)
        mine[name] = value
    return mine
""",
    },
    "fault": {
        "in single quotes": """
suspect = 'causal_mask'
""",
        "as a variable": """
name = "causal_mask"
suspect = name
""",
    },
}

# fmt: off
WRONG = {
    "norm: another one after eval()": ("norm", "norm-numbers",
        "middle = x - x.mean(dim=-1, keepdim=True)"
        " → middle = x - x.mean(dim=-1, keepdim=True) * self.training"),
    "norm: variance without gradient": ("norm", "norm-trained",
        "(middle**2) → (middle.detach() ** 2)"),
    "ffn: x without gradient": ("ffn", "ffn-numbers",
        "self.W_1(x) → self.W_1(x.detach())"),
    "sum: x without gradient": ("sum", "sum-order",
        "return self.factor * x + → return self.factor * x.detach() +"),
    "pre: no dropout": ("sum", "sum-dropout",
        "+ self.dropout(sublayer(self.norm(x))) → + sublayer(self.norm(x))"),
    "encoder: mask not passed on": ("encoder", "encoder-layer",
        "(h, h, src_mask) → (h, h)"),
    "values of x: read past the norm": ("decoder", "decoder-reads",
        "(h, h, tgt_mask) → (x, x, tgt_mask)"),
    "decoder: 64 positions of the source": ("decoder", "decoder-masks",
        "(h, memory, src_mask)"
        " → (h, memory[:, :64], None if src_mask is None else src_mask[..., :64])"),
    "only the first mask passed on": ("stack", "stack-layers",
        "layer(x, *others) → layer(x, *others[:1])"),
    "model: words without gradient": ("model", "model-embedding",
        "x = factor * self.table(src) → x = factor * self.table(src).detach()"),
    "model: memory without gradient": ("model", "model-masks",
        "self.decoder(y, memory, → self.decoder(y, memory.detach(),"),
    "not tied": ("model", "model-output",
        "        self.output.weight = self.table.weight\n → "),
    "no norms behind the stacks": ("count", "count-numbers", "2 * norm if → 0 if"),
    "norms swapped": ("torch", "torch-names", "around.{i - 1} → around.{2 - i}"),
    "another case": ("fault", "fault-found", "get(8) → get(2)"),
}
# fmt: on
