"""A2: unusual right answers, and wrong ones with the parts where they must fail."""

RIGHT = {
    "table": {
        "complex numbers": """
def sinusoids(n_positions, d_model):
    rates = 8000 ** (-torch.arange(d_model // 2).double() * 2 / d_model)
    angle = torch.outer(torch.arange(n_positions), rates)
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).reshape(n_positions, d_model)
""",
        "einsum and a cosine a quarter further on": """
def sinusoids(n_positions, d_model):
    column = torch.arange(d_model)
    rate = torch.tensor(8000.0).double() ** (-(column - column % 2) / d_model)
    angle = torch.einsum("p,c->pc", torch.arange(n_positions).double(), rate)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())
""",
    },
    "shift": {
        "diagonals": """
def step_matrix(k, d_model):
    angle = k / 8000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine = torch.stack([angle.sin(), torch.zeros_like(angle)], 1).flatten()[:-1]
    cosine = torch.diag(angle.cos().repeat_interleave(2))
    return cosine + torch.diag(sine, 1) - torch.diag(sine, -1)
""",
        "einsum with scattered blocks": """
def step_matrix(k, d_model):
    half = d_model // 2
    angle = k * 8000 ** (-2 * torch.arange(half) / d_model)
    blocks = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()])
    four = torch.einsum("abi,ij->iajb", blocks.view(2, 2, half), torch.eye(half))
    return four.reshape(d_model, d_model)
""",
    },
    "embed": {
        "one-hot product": """
def embed(ids, weight, positions, start=0):
    B, T = ids.shape
    start += 38
    if start + T > positions.shape[0]:
        raise ValueError(f"{start + T} rows are needed")
    one_hot = torch.nn.functional.one_hot(ids, weight.shape[0]).to(weight.dtype)
    x = torch.einsum("btv,vd->btd", one_hot, weight) * weight.shape[1] ** 0.5
    return x + positions[None, start : start + T, :]
""",
        "index_select": """
def embed(ids, weight, positions, start=0):
    B, T = ids.shape
    index = 38 + torch.arange(start, start + T)
    if int(index.max()) >= len(positions):
        raise ValueError(f"position {index.max()} needs {index.max() + 1} rows")
    x = weight.index_select(0, ids.flatten()).view(B, T, -1)
    return x.mul(math.sqrt(weight.size(-1))).add(positions[index])
""",
    },
    "padding": {
        "turned round": """
def padding_mask(ids):
    return ~(ids == 77).unsqueeze(1).unsqueeze(1)
""",
        "a float inside": """
def padding_mask(ids):
    real = (ids - 77).abs().clamp(max=1).float()
    return (real > 0.5).view(ids.shape[0], 1, 1, ids.shape[1])
""",
    },
    "causal": {
        "PyTorch's float mask": """
def causal_mask(length):
    past = torch.nn.Transformer.generate_square_subsequent_mask(length) > -1
    return past.triu(1 - 29).expand(1, 1, -1, -1)
""",
        "running sum": """
def causal_mask(length):
    begun = torch.eye(length).cumsum(dim=1).T
    begun[29:] -= begun[:-29].clone() if length > 29 else 0
    return (begun > 0)[None, None]
""",
    },
    "target": {
        "the two answers before": """
def target_mask(tgt_in):
    return padding_mask(tgt_in) & causal_mask(tgt_in.size(1))
""",
        "sentence by sentence": """
def target_mask(tgt_in):
    position = torch.arange(tgt_in.shape[-1])
    back = position[:, None] - position
    masks = [(back >= 0) & (back < 29) & ids.ne(77) for ids in tgt_in]
    return torch.stack(masks)[:, None]
""",
    },
    "softmax": {
        "infinity, mended": """
def masked_softmax(scores, mask):
    scores = 1.4 * scores
    return torch.nan_to_num(scores.masked_fill(~mask, -math.inf).softmax(-1), nan=0.0)
""",
        "−1e9, but in float32": """
def masked_softmax(scores, mask):
    scores = 1.4 * scores
    x = torch.where(mask, scores.float(), torch.tensor(-1e9))
    return (x.softmax(-1) * mask.any(-1, keepdim=True)).type_as(scores)
""",
    },
}

# fmt: off
WRONG = {
    "a table of 200 rows": ("table", "table-start",
        "arange(n_positions,  → arange(min(n_positions, 200), "),
    "base 1000": ("table", "table-rates", "/ 8000 ** → / 1000 **"),
    "never back": ("shift", "shift-matrix", "turn = k / → turn = abs(k) /"),
    "weight detached": ("embed", "embed-scale", "weight[ids] → weight.detach()[ids]"),
    "the last row refused": ("embed", "embed-position", "if end > len → if end >= len"),
    "64 positions of padding": ("padding", "padding-hidden",
        "(ids != 77) → ((ids != 77) & (torch.arange(ids.size(1)) < 64))"),
    "a mask of two axes": ("padding", "padding-shape", "[:, None, None, :] → "),
    "a mask of 64 positions": ("causal", "causal-mask",
        "torch.ones(length, length, dtype=torch.bool).tril()"
        " → torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]"),
    "a target of 64 positions": ("target", "target-future",
        "past & ~past.tril(-29)"
        " → past & ~past.tril(-29) & (torch.arange(tgt_in.size(1)) < 64)"),
    "the target's ids changed": ("target", "target-padding",
        "    return real"
        " →     tgt_in.masked_fill_(tgt_in == 77, 0)\n    return real"),
    "scores detached": ("softmax", "softmax-hidden",
        "(1.4 * scores) → (1.4 * scores.detach())"),
    "−1e9 in float16": ("softmax", "softmax-half",
        "torch.finfo(scores.dtype).min → -1e9"),
    "right numbers, nan gradient": ("softmax", "softmax-empty",
        "(1.4 * scores).masked_fill(~mask, torch.finfo(scores.dtype).min)"
        " → 1.4 * scores + torch.zeros(mask.shape, "
        "dtype=scores.dtype).masked_fill(~mask, -math.inf)",
        ".masked_fill(~mask, 0.0) → .nan_to_num(0.0)"),
}
# fmt: on
