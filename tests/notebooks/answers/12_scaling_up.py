"""Answers to chapter 12, and what its checks must say."""

ENCODER = "def encoder_flops(n_weights, n_layers, B, S, d_model):\n    return "
ATTENTION = "def attention_bytes(B, T, d_model, n_heads):\n    return "
HOURS = "def hours(flop_per_token, n_tokens, peak, mfu):\n    return "
UPDATES = (
    "import math\n"
    "def my_updates(corpus_tokens, epochs, batch_tokens, padding, processes, "
    "accumulate):\n    return "
)
ANSWERS = {
    "encoder_flops": {
        ENCODER + "2 * n_weights * B * S + 4 * n_layers * B * S * S * d_model": (
            "the forward pass alone"
        ),
        ENCODER + "4 * n_weights * B * S + 8 * n_layers * B * S * S * d_model": (
            "two products of each"
        ),
        ENCODER + "6 * n_weights * B * S + 4 * n_layers * B * S * S * d_model": (
            "12, not 4"
        ),
        ENCODER + "6 * n_weights * B * S + 6 * n_layers * B * S * S * d_model": (
            "12, not 6"
        ),
        ENCODER + "6 * n_weights * B * S": "attention is missing",
        ENCODER + "6 * n_weights * B * S + 12 * n_layers * B * S * d_model": "S × S",
        ENCODER + "6 * n_weights * B * S + 12 * B * S * S * d_model": "each layer has",
        ENCODER + "n_layers * (6 * n_weights * B * S + 12 * B * S**2 * d_model)": (
            "counts all layers already"
        ),
        ENCODER + "6 * n_weights * S + 12 * n_layers * S * S * d_model": "expected ",
        ENCODER + "12 * n_layers * B * S * S * d_model": "expected ",
        ENCODER + "6 * B * S * (n_weights + 2 * n_layers * S * d_model)": "right",
        """
def encoder_flops(n_weights, n_layers, B, S, d_model):
    forward = 2 * n_weights * B * S
    for _ in range(n_layers):
        forward += 2 * B * S * S * d_model  # scores
        forward += 2 * B * S * S * d_model  # mean of the values
    return forward * 3.0
""": "right",
        """
def encoder_flops(n_weights, n_layers, B, S, d_model):
    return torch.tensor([6.0, 12]).double() @ torch.tensor(
        [n_weights * B * S, n_layers * B * S**2 * d_model]).double()
""": "right",
    },
    "attention_bytes": {
        ATTENTION + "5 * B * T * d_model + B * n_heads * T * T": "these are numbers",
        ATTENTION + "4 * (4 * B * T * d_model + B * n_heads * T * T)": "count five",
        ATTENTION + "4 * (3 * B * T * d_model + B * n_heads * T * T)": "not three",
        ATTENTION + "4 * (6 * B * T * d_model + B * n_heads * T * T)": "is not kept",
        ATTENTION + "4 * (5 * B * T * d_model + 2 * B * n_heads * T * T)": (
            "the scores are not kept"
        ),
        ATTENTION + "4 * 5 * B * T * d_model": "weights of the heads are missing",
        ATTENTION + "4 * (5 * B * T * d_model + B * T * T)": "weights of its own",
        ATTENTION + "4 * B * n_heads * (5 * T * d_model + T * T)": "share out d_model",
        ATTENTION + "2 * (5 * B * T * d_model + B * n_heads * T * T)": "expected ",
        ATTENTION + "4 * (5 * T * d_model + n_heads * T * T)": "expected ",
        ATTENTION + "4 * B * T * (5 * d_model + n_heads * T)": "right",
        """
def attention_bytes(B, T, d_model, n_heads):
    d_k = d_model // n_heads
    x = B * T * d_model
    per_head = 3 * T * d_k + T * T + T * d_k
    return (x + B * n_heads * per_head) * 4
""": "right",
        """
def attention_bytes(B, T, d_model, n_heads):
    vectors = torch.empty(5, B, T, d_model)
    weights = torch.empty(B, n_heads, T, T)
    return vectors.nbytes + weights.nbytes
""": "right",
    },
    "hours": {
        HOURS + "flop_per_token * n_tokens / (mfu * peak)": "these are seconds",
        HOURS + "flop_per_token * n_tokens / (60 * mfu * peak)": "these are minutes",
        HOURS + "flop_per_token * n_tokens * mfu / (3600 * peak)": "divide by it",
        HOURS + "flop_per_token * n_tokens / (3600 * peak)": "mfu is ignored",
        HOURS + "flop_per_token * n_tokens / (3600 * mfu / 100 * peak)": "percentage",
        HOURS + "3 * flop_per_token * n_tokens / (3600 * mfu * peak)": (
            "in flop_per_token already"
        ),
        HOURS + "3600 * mfu * peak / (flop_per_token * n_tokens)": "upside down",
        HOURS + "flop_per_token * n_tokens / 3600 * mfu * peak": "expected ",
        HOURS + "n_tokens / (3600 * mfu * peak)": "expected ",
        HOURS + "flop_per_token / peak / mfu * (n_tokens / 60 / 60)": "right",
        """
def hours(flop_per_token, n_tokens, peak, mfu):
    tokens_a_second = peak * mfu / flop_per_token
    return torch.tensor(n_tokens / tokens_a_second / 3600)
""": "right",
        """
def hours(flop_per_token, n_tokens, peak, mfu):
    from datetime import timedelta
    took = timedelta(seconds=flop_per_token * n_tokens / (mfu * peak))
    return took / timedelta(hours=1)
""": "right",
    },
    "my_updates": {
        UPDATES
        + "int(corpus_tokens * epochs / (batch_tokens * (1 - padding) * processes "
        "* accumulate))": "the last, smaller update counts",
        UPDATES + "corpus_tokens * epochs / (batch_tokens * (1 - padding) * processes "
        "* accumulate)": "to a whole number",
        UPDATES
        + "round(corpus_tokens * epochs / (batch_tokens * (1 - padding) * processes "
        "* accumulate))": "rounded to the nearest",
        UPDATES + "epochs * math.ceil(corpus_tokens / (batch_tokens * (1 - padding) "
        "* processes * accumulate))": "run on across epochs",
        UPDATES + "math.ceil(corpus_tokens * epochs / (batch_tokens * (1 - padding) "
        "* processes))": "each process makes",
        UPDATES + "math.ceil(corpus_tokens * epochs / (batch_tokens * (1 - padding) "
        "* accumulate))": "several processes",
        UPDATES
        + "math.ceil(corpus_tokens * epochs / (batch_tokens * (1 - padding)))": (
            "processes × accumulate"
        ),
        UPDATES + "math.ceil(corpus_tokens * epochs / (batch_tokens * processes "
        "* accumulate))": "only three quarters",
        UPDATES + "math.ceil(corpus_tokens * epochs * (1 + padding) / (batch_tokens "
        "* processes * accumulate))": "× (1 - padding)",
        UPDATES + "math.ceil(corpus_tokens * epochs / (batch_tokens / (1 + padding) "
        "* processes * accumulate))": "× (1 - padding)",
        UPDATES + "math.ceil(corpus_tokens / (batch_tokens * (1 - padding) * processes "
        "* accumulate))": "read `epochs` times",
        UPDATES + "math.ceil(corpus_tokens * epochs * processes / (batch_tokens "
        "* (1 - padding) * accumulate))": "expected (75, 38",
        UPDATES + "math.ceil(math.ceil(corpus_tokens / (batch_tokens * (1 - padding))) "
        "* epochs / (processes * accumulate))": "need not be a whole number",
        UPDATES
        + "-int(-corpus_tokens * epochs // (batch_tokens * (1 - padding) * processes "
        "* accumulate))": "right",
        """
def my_updates(corpus_tokens, epochs, batch_tokens, padding, processes, accumulate):
    left, updates = corpus_tokens * epochs, 0
    while left > 0:
        left -= batch_tokens * (1 - padding) * processes * accumulate
        updates += 1
    return updates
""": "right",
        """
def my_updates(corpus_tokens, epochs, batch_tokens, padding, processes, accumulate):
    batches = torch.tensor(corpus_tokens * epochs / (batch_tokens * (1 - padding)))
    return (batches / processes / accumulate).ceil()
""": "right",
    },
}
