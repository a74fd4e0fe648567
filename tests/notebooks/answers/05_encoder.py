"""Answers to the stubs of chapter 05, and what their checks say."""

NORM = """
def layer_norm(x, gain, bias, eps=1e-5):
    inner = x - x.mean(-1, keepdim=True)
    variance = inner.pow(2).mean(-1, keepdim=True)
    return gain * inner / (variance + eps).sqrt() + bias
"""
LAYER = """
def encoder_layer(part, x, mask):
    x = part.norm1(x + part.self_attention(x, x, mask))
    return part.norm2(x + part.feed_forward(x))
"""
SORT = """
def sorting_weights():
    W_1 = [[1, -1, 0, 0], [-1, 1, 1, -1]]
    W_2 = [[1, 0], [0, -1], [1, 1], [-1, -1]]
    return W_1, W_2
"""
ANSWERS = {
    "layer_norm": {
        """
def layer_norm(x, gain, bias, eps=1e-5):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return gain * (x - mean) / (variance + eps).sqrt() + bias
""": "not by D − 1",
        NORM.replace(".sqrt()", ""): "root of the variance",
        NORM.replace("-1, keepdim=True", ""): "everything together",
        NORM.replace("-1, keepdim", "(-1, -2), keepdim"): "a whole sentence",
        NORM.replace("-1, keepdim", "1, keepdim"): "normalises each column",
        NORM.replace("-1, keepdim", "0, keepdim"): "over the batch",
        NORM.replace("gain * inner /", "gain * x /"): "subtract the mean from x",
        NORM.replace("x - x.mean(-1, keepdim=True)", "x"): "root mean square",
        NORM.replace("gain * ", ""): "gain is not used",
        NORM.replace(" + bias", ""): "bias is not used",
        NORM.replace("gain * ", "").replace(
            " + bias", ""
        ): "gain and bias are not used",
        NORM.replace(" + eps", ""): "eps is missing",
        NORM.replace("(variance + eps).sqrt()", "variance.sqrt() + eps"): "under the",
        NORM.replace("(variance + eps).sqrt()", "(variance.sqrt() + eps)"): "under",
        """
def layer_norm(x, gain, bias, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + eps) + bias
""": "std divides by D − 1",
        """
def layer_norm(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) + bias
""": "two faults",
        NORM.replace("-1, keepdim=True", "-1"): "RuntimeError",
        NORM.replace("gain * inner", "(gain * inner + bias)").replace(
            " + bias\n", "\n"
        ): "expected",
        NORM: "right",
        """
def layer_norm(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, gain.shape, gain, bias, eps)
""": "right",
        """
def layer_norm(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, -1, unbiased=False, keepdim=True)
    return torch.addcmul(bias, gain, (x - mean) * torch.rsqrt(variance + eps))
""": "right",
        """
def layer_norm(x, gain, bias, eps=1e-5):
    D = x.size(-1)
    mean = x.sum(-1)[..., None] / D
    variance = (x * x).double().sum(-1)[..., None] / D - mean.double() ** 2
    return (x - mean) / (variance + eps) ** 0.5 * gain + bias
""": "right",
    },
    "encoder_layer": {
        LAYER.replace("x, x, mask", "x, x, None"): "mask is not used",
        LAYER.replace("x + part.self", "part.self"): "not added to self-attention",
        LAYER.replace("x + part.feed", "part.feed"): "the second sum is missing",
        LAYER.replace("x + ", ""): "the residual connections are missing",
        LAYER.replace("part.norm1", "").replace("part.norm2", ""): "there is no norm",
        LAYER.replace("part.norm1", ""): "the first norm is missing",
        LAYER.replace("part.norm2", ""): "the last norm is missing",
        LAYER.replace("norm2", "norm1"): "a norm of its own",
        LAYER.replace("norm2", "norm")
        .replace("norm1", "norm2")
        .replace("norm(", "norm1("): "norm1 comes first",
        LAYER.replace("x = ", "h = ").replace("forward(x)", "forward(h)"): "second sum",
        """
def encoder_layer(part, x, mask):
    h = part.norm1(x)
    x = x + part.self_attention(h, h, mask)
    return x + part.feed_forward(part.norm2(x))
""": "pre-LN",
        """
def encoder_layer(part, x, mask):
    x = x + part.norm1(part.self_attention(x, x, mask))
    return x + part.norm2(part.feed_forward(x))
""": "norm the sum",
        LAYER.replace("part.feed_forward(x)", "part.self_attention(x, x, mask)"): (
            "expected"
        ),
        LAYER.replace("x, x, mask", "x, mask"): "Error",
        LAYER: "right",
        """
def encoder_layer(part, x, mask):
    attended = part.self_attention(x, memory=x, mask=mask)
    middle = part.norm1(torch.add(attended, x))
    return part.norm2(part.feed_forward(middle) + middle)
""": "right",
        """
def encoder_layer(part, x, mask):
    steps = lambda h: part.self_attention(h, h, mask), part.feed_forward
    for step, norm in zip(steps, (part.norm1, part.norm2)):
        x = norm(x + step(x))
    return x
""": "right",
        LAYER.replace("def encoder_layer", "def made").replace(
            "x = part", "x = 1 * part"
        )
        + "encoder_layer = made\n": "right",
    },
    "sorting_weights": {
        "def sorting_weights():\n    return torch.eye(2, 4), torch.eye(4, 2)": (
            "expected"
        ),
        SORT.replace(
            "[[1, 0], [0, -1], [1, 1], [-1, -1]]", "[[0, 1], [-1, 0], [1, 1], [-1, -1]]"
        ): "the smaller one",
        """
def sorting_weights():
    W_1 = [[1, -1, 0, 0], [0, 0, 1, -1]]
    return W_1, [[1, 0], [-1, 0], [0, 1], [0, -1]]
""": "returns x as it is",
        """
def sorting_weights():
    W_1 = [[1, -1, 0, 0], [0, 0, 1, -1]]
    return W_1, [[0, 1], [0, -1], [1, 0], [-1, 0]]
""": "always swaps",
        """
def sorting_weights():
    W_1 = [[1, -1, 0, 0], [0, 0, 1, -1]]
    return W_1, [[1, 0], [1, 0], [0, 1], [0, 1]]
""": "absolute values",
        SORT.replace("[-1, -1]]", "[0, 0]]"): "b needs two",
        """
def sorting_weights():
    W_1 = [[1, -1, 1, 0], [-1, 1, 0, 0]]
    return W_1, [[0, -1], [1, 0], [1, 1], [0, 0]]
""": "a needs two",
        SORT.replace("[0, -1]", "[0, 0]"): "the second is b",
        SORT.replace("[1, 1], [-1, -1]", "[1, 0], [-1, 0]").replace(
            "[0, -1]", "[0, 0]"
        ): ("the second is 0"),
        """
def sorting_weights():
    W_1 = [[1, -1, 0, 0], [-1, 1, 1, -1]]
    return W_1, [[1, 1], [0, 0], [1, 1], [-1, -1]]
""": "comes out twice",
        SORT.replace("return W_1, W_2", "return torch.tensor(W_1).T, W_2"): "shapes",
        SORT.replace("[0, -1]", "[0, 1]"): "expected",
        SORT: "right",
        """
def sorting_weights():
    W_1 = torch.tensor([[1.0, -1, 1, -1], [-1, 1, 0, 0]])
    return W_1, torch.tensor([[0.0, -1], [1, 0], [1, 1], [-1, -1]])
""": "right",
        """
def sorting_weights():
    W_1 = [[0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]
    return W_1, [[1, 1], [-1, -1], [1, -1], [1, -1]]
""": "right",
        SORT.replace(
            "return W_1", "W_1 = torch.tensor(W_1, dtype=torch.float64)\n    return W_1"
        ): "right",
    },
}
