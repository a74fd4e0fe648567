"""Answers to the stubs of chapter 04, and what their checks say."""

CLASS = """
class MultiHead(torch.nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.n_heads = H
        self.W_q, self.W_k = torch.nn.Linear(D, D), torch.nn.Linear(D, D)
        self.W_v, self.W_o = torch.nn.Linear(D, D), torch.nn.Linear(D, D)

    def cut(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, memory, mask=None):
        q = self.cut(self.W_q(x))
        k, v = self.cut(self.W_k(memory)), self.cut(self.W_v(memory))
        scores = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.W_o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
"""
FLAT = """
def attention(Q, K, V, mask=None):
    scores = Q @ K.T / math.sqrt(K.size(1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ V
"""
ONE = """
def one_key_at_a_time(q, K, V):
    top, total, mixed = -math.inf, 0.0, 0 * V[0]
    for k, v in zip(K, V):
        score = q @ k / math.sqrt(len(q))
        new = max(top, score.item())
        shrink, e = math.exp(top - new), math.exp(score - new)
        total, mixed, top = shrink * total + e, shrink * mixed + e * v, new
    return mixed / total
"""
PLAIN = """
def one_key_at_a_time(q, K, V):
    total, mixed = 0.0, 0 * V[0]
    for k, v in zip(K, V):
        e = (q @ k / math.sqrt(len(q))).exp()
        total, mixed = total + e, mixed + e * v
    return mixed / total
"""
ANSWERS = {
    "attention": {
        FLAT.replace(" / math.sqrt(K.size(1))", ""): "by √d_k",
        FLAT.replace("math.sqrt(K.size(1))", "K.size(1)"): "not by d_k",
        FLAT.replace("K.size(1)", "K.size(0)"): "by √S",
        FLAT.replace("K.size(1)", "V.size(1)"): "expected",
        FLAT.replace("softmax(-1)", "softmax(0)"): "each row must sum to 1",
        FLAT.replace("~mask", "mask"): "hide where the mask is False",
        FLAT.replace("-1e9", "0"): "must be very low",
        FLAT.replace("mask is not None", "False"): "the mask is not used",
        FLAT.replace(" @ V", ""): "these are the weights",
        FLAT.replace(".softmax(-1)", ""): "expected",
        FLAT.replace("Q @ K.T", "Q * K"): "RuntimeError",
        FLAT.replace("scores = scores.masked_fill", "scores.masked_fill"): "not used",
        """
def attention(Q, K, V, mask=None):
    weights = (Q @ K.T / math.sqrt(K.size(1))).softmax(-1)
    return (weights if mask is None else weights * mask) @ V
""": "too late",
        """
def attention(Q, K, V, mask=None):
    scores = Q @ K.T / math.sqrt(K.size(1))
    return scores.exp() / scores.exp().sum() @ V
""": "expected",
        FLAT: "right",
        FLAT.replace("-1e9", "-torch.inf"): "right",
        """
def attention(Q, K, V, mask=None):
    return torch.nn.functional.scaled_dot_product_attention(
        Q[None], K[None], V[None], mask
    )[0]
""": "right",
        """
def attention(Q, K, V, mask=None):
    e = (torch.einsum("td,sd->ts", Q, K) / Q.size(1) ** 0.5).exp()
    e = e if mask is None else e * mask
    return torch.einsum("ts,sv->tv", e / e.sum(1, keepdim=True), V)
""": "right",
    },
    "split_heads": {
        """
def split_heads(x, n_heads):
    return x.view(x.size(0), n_heads, x.size(1), -1)
""": "mixes positions",
        """
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1))
""": "swap them",
        """
def split_heads(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
""": "every H-th",
        """
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)
""": "come last",
        """
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, -1))
""": "the batch comes first",
        """
def split_heads(x, n_heads):
    return x.unflatten(-1, (3, -1)).transpose(1, 2)
""": "expected the shape (2, 2, 5, 6)",
        """
def split_heads(x, n_heads):
    return x.unflatten(1, (n_heads, -1))
""": "RuntimeError",
        """
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(2)
""": "expected the shape (2, 3, 5, 4)",
        """
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, -1), 1)
""": "right",
        """
def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).permute(0, 2, 1, 3)
""": "right",
        """
def split_heads(x, n_heads):
    d = x.size(-1) // n_heads
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(n_heads)], dim=1)
""": "right",
    },
    "MultiHead": {
        CLASS.replace("self.W_o((", "((", 1): "W_o is missing",
        CLASS.replace(".transpose(1, 2).flatten(2)", ".reshape(x.shape)"): "swapping",
        CLASS.replace(
            "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
            "x.view(len(x), self.n_heads, x.size(1), -1)",
        ): "split with one `view`",
        CLASS.replace(" / q.size(-1) ** 0.5", ""): "divide the scores by √d_k",
        CLASS.replace("/ q.size(-1) ** 0.5", "/ x.size(-1) ** 0.5"): "not by √D",
        CLASS.replace("q.size(-1) ** 0.5", "q.size(-1)"): "not by d_k",
        CLASS.replace("(memory)", "(x)"): "come from memory",
        CLASS.replace("W_v(memory)", "W_k(memory)"): "W_v",
        CLASS.replace("mask is not None", "False"): "the mask is not used",
        CLASS.replace("~mask", "mask"): "hide where",
        CLASS.replace("(self.n_heads, -1)", "(1, -1)"): "a single head",
        CLASS.replace("W_q(x)", "W_q(memory)"): "expected the shape (2, 5, 12)",
        CLASS.replace(".transpose(1, 2)\n", "\n", 1): "RuntimeError",
        CLASS: "right",
        CLASS.replace(
            """scores = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.W_o((scores.softmax(-1) @ v)""",
            """F = torch.nn.functional
        return self.W_o(F.scaled_dot_product_attention(q, k, v, mask)""",
        ): "right",
        CLASS.replace(
            "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
            "torch.stack(x.chunk(self.n_heads, -1), 1)",
        ): "right",
        CLASS.replace("q @ k.mT", 'torch.einsum("bhtd,bhsd->bhts", q, k)'): "right",
    },
    "one_key_at_a_time": {
        ONE.replace(
            "top, total, mixed = -math.inf", "top, total, mixed = 0.0"
        ): "below 0",
        PLAIN: "exp(128) is infinite",
        PLAIN.replace(" / total", ""): "expected",
        PLAIN.replace(" / math.sqrt(len(q))", ""): "by √d_k (and exp(128)",
        PLAIN.replace("math.sqrt(len(q))", "len(q)"): "not by d_k",
        ONE.replace(" / total", ""): "divide by their sum",
        ONE.replace("math.sqrt(len(q))", "math.sqrt(len(K))"): "divides by √S",
        ONE.replace(" / math.sqrt(len(q))", ""): "divide the scores by √d_k",
        ONE.replace("e * v", "v / len(K) * total"): "expected",
        ONE.replace("shrink * total + e, shrink * mixed", "total + e, mixed"): "old",
        ONE.replace("shrink * mixed", "mixed"): "expected",
        "def one_key_at_a_time(q, K, V):\n    return V.mean(0)": "the plain mean",
        ONE: "right",
        """
def one_key_at_a_time(q, K, V):
    return (K @ q / math.sqrt(len(q))).softmax(-1) @ V
""": "right",
        """
def one_key_at_a_time(q, K, V):
    scores = [float(q @ k) / len(q) ** 0.5 for k in K]
    e = [math.exp(score - max(scores)) for score in scores]
    return [sum(a * b for a, b in zip(e, column)) / sum(e) for column in V.T.tolist()]
""": "right",
        PLAIN.replace("(q @", "(q.double() @").replace(
            "zip(K, V)", "zip(K.double(), V.double())"
        ): "subtract the largest so far",
        PLAIN.replace("q @ k", "q @ (k - K[0])"): "subtract the largest so far",
        """
def one_key_at_a_time(q, K, V):
    largest, kept = -math.inf, []
    for k, v in zip(K, V):
        score = float(q @ k) / len(q) ** 0.5
        largest = max(largest, score)
        kept = [(s, w) for s, w in kept if s > largest - 60] + [(score, v)]
    e = [math.exp(s - largest) for s, _ in kept]
    return sum(x * v for x, (_, v) in zip(e, kept)) / sum(e)
""": "right",
    },
}
