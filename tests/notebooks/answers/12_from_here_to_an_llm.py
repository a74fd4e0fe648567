"""Answers to the stubs of the page on language models, and what their checks say."""

NORM = """\
def rms_norm(x, weight, eps=1e-6):
    size = x.square().mean(-1, keepdim=True)
"""
TURN = """\
def my_rotate(x):
    theta = angles(x.size(-2), x.size(-1))
    cos, sin = theta.cos(), theta.sin()
    a, b = x[..., 0::2], x[..., 1::2]
"""
PAIRS = "    return torch.stack([first, second], dim=-1).flatten(-2)"
CACHE = "def cache_bytes(n_layers, n_kv_heads, d_k, n_tokens):\n    return "
ANSWERS = {
    "rms_norm": {
        NORM + "    return F.layer_norm(x, (8,), weight)": "that is layer norm",
        NORM + "    return weight * x / size": "by the root",
        NORM + "    size = x.square().sum(-1, keepdim=True)\n"
        "    return weight * x / size.sqrt()": "not their sum",
        NORM + "    return x / (size + eps).sqrt()": "multiply by the weight",
        NORM + "    return weight * x * size.sqrt()": "divide by it",
        NORM + "    return weight * x / x.square().mean().sqrt()": "last axis only",
        NORM + "    size = x.square().mean(1, keepdim=True)\n"
        "    return weight * x / size.sqrt()": "not over the positions",
        NORM + "    return weight * x / x.std(-1, keepdim=True)": "expected",
        NORM + "    return weight * x / size.sqrt()": "add eps, or",
        NORM + "    return F.layer_norm(x, (8,))": "and the weight is missing",
        NORM + "    return weight * x / x.square().mean(-1).sqrt()": "RuntimeError",
        NORM + "    return F.rms_norm(x, weight.shape, weight, eps)": "right",
        NORM + "    return x * (size + eps).rsqrt() * weight": "right",
        NORM
        + "    return weight * x / (x.norm(dim=-1)[..., None] ** 2 / 8 + eps) ** 0.5": (
            "right"
        ),
    },
    "my_rotate": {
        TURN + "    first, second = a * cos + b * sin, b * cos - a * sin\n" + PAIRS: (
            "the other way"
        ),
        TURN + "    first, second = a * cos - b * sin, b * cos - a * sin\n" + PAIRS: (
            "both sine terms"
        ),
        TURN + "    first, second = a * cos, b * cos\n" + PAIRS: "its cosine only",
        TURN + "    first = a * cos - b * sin\n"
        "    second = first * sin + b * cos\n" + PAIRS: "the old a and b",
        TURN + "    first, second = a * cos - b * sin, a * sin + b * cos\n"
        "    return torch.cat([first, second], dim=-1)": "all first ones",
        TURN + "    a, b = x.chunk(2, dim=-1)\n"
        "    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)": "halves",
        TURN + "    return x + torch.stack([sin, cos], dim=-1).flatten(-2)": "added",
        TURN + "    return a * cos - b * sin": "the shape (1, 2, 5, 6)",
        TURN + "    x[..., 0::2] = a * cos - b * sin\n"
        "    x[..., 1::2] = a * sin + b * cos\n    return x": "the old a and b",
        TURN + "    turned = torch.complex(a, b) * torch.polar(torch.ones(()), theta)\n"
        "    return torch.view_as_real(turned).flatten(-2)": "right",
        TURN + "    y = torch.empty_like(x)\n    y[..., 0::2] = a * cos - b * sin\n"
        "    y[..., 1::2] = a * sin + b * cos\n    return y": "right",
        TURN + "    other = torch.stack([-b, a], dim=-1).flatten(-2)\n"
        "    twice = lambda t: t.repeat_interleave(2, -1)\n"
        "    return x * twice(cos) + other * twice(sin)": "right",
    },
    "cache_bytes": {
        CACHE + "2 * n_layers * n_kv_heads * d_k * n_tokens": "half of it",
        CACHE + "n_layers * n_kv_heads * d_k * n_tokens": "a quarter",
        CACHE + "4 * n_kv_heads * d_k * n_tokens": "each layer",
        CACHE + "4 * n_layers * d_k * n_tokens": "each head",
        CACHE + "8 * n_layers * n_kv_heads * d_k * n_tokens": "twice as much",
        CACHE + "4 * n_layers * n_kv_heads * d_k * n_tokens**2": "T × T",
        CACHE + "4 * n_layers * n_kv_heads * n_tokens": "expected",
        CACHE + "4 * n_layers * n_kv_heads * d_k * n_tokens": "right",
        CACHE + "2 * 2 * n_tokens * d_k * n_kv_heads * n_layers": "right",
        CACHE + "torch.tensor([4, n_layers, n_kv_heads, d_k, n_tokens]).prod()": (
            "right"
        ),
    },
}
