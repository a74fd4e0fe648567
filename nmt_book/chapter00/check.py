"""The exercises of chapter 00, start here."""

import torch

from ..exercise.exercise import exercise

ROW = "logits[0, -1].softmax(-1)"
ROWS = "these are the best of every row: take the last one, logits[0, -1]"
ALONG = "softmax runs along the vocabulary, the last axis, not over the rows"


def _logits(seed, T, V):
    return (torch.randn(1, T, V, generator=torch.Generator().manual_seed(seed)),)


@exercise(
    "The most likely next token and its probability.",
    cases={
        "three rows": _logits(0, 3, 6),
        "five rows, another vocabulary": _logits(4, 5, 9),
        "a single row": _logits(2, 1, 4),
    },
    mistakes={
        "the last row is about the next word, not the first": "[0, -1] → [0, 0]",
        "the logit is not a probability yet: softmax": ".softmax(-1) →",
        "this is the logarithm of the probability: softmax, not log_softmax": (
            "softmax → log_softmax"
        ),
        "exp alone does not sum to 1: divide by the sum, with softmax": (
            "softmax(-1) → exp()"
        ),
        "one softmax is enough": "softmax(-1) → softmax(-1).softmax(-1)",
        "the id first, then the probability": (
            "best, float(probabilities[best]) → float(probabilities[best]), best"
        ),
        ALONG: [
            f"{ROW} → logits[0].softmax(0)[-1]",
            "logits[0, -1].argmax(), logits[0].softmax(0)[-1].max()",
            "(z := logits[0])[-1].argmax(), z.softmax(0)[-1, z[-1].argmax()]",
        ],
        "that is the least likely token": "argmax → argmin",
        "take the most likely token; don't draw one": (
            "probabilities.argmax() → probabilities.multinomial(1)"
        ),
        "the id alone is half of the answer": "int(logits[0, -1].argmax())",
        "the probability alone is half of the answer": f"{ROW}.max()",
        "all probabilities are too many: the largest, and its id": ROW,
        ROWS: [
            "logits[0].softmax(-1).max(-1)[::-1]",
            "logits.softmax(-1).max(-1)[::-1]",
        ],
        f"{ROWS}; and max gives the value first": [
            "tuple(logits[0].softmax(-1).max(-1))",
            "tuple(logits.softmax(-1).max(-1))",
        ],
        "an id counts within one row, not over all rows": (
            "logits.argmax(), logits.softmax(-1).max()"
        ),
        "softmax takes one row, the last; this is over all rows at once": (
            f"{ROW} → logits.flatten().softmax(0).view_as(logits)[0, -1]"
        ),
        "a sigmoid looks at one logit alone: softmax compares all of them": (
            "softmax(-1) → sigmoid()"
        ),
    },
    hints=(
        "Which row of the logits is about the next word, and what makes probabilities "
        "of its numbers?",
        "`logits[0, -1].softmax(-1)` is a probability for each of the V tokens.",
    ),
    says="this is what the loop below needs",
    difficulty=1,
    importance=3,
    minutes=5,
    part="next_word",
)
def next_word(logits):
    probabilities = logits[0, -1].softmax(-1)  # (V,) the last row
    best = int(probabilities.argmax())
    return best, float(probabilities[best])


@exercise(
    "The probability of a whole sentence, from those of its steps.",
    cases={
        "four steps": ([0.5, 0.8, 0.2, 0.4],),
        "one step": ([0.9],),
        "nine steps at 0.95": ([0.95] * 9,),
    },
    mistakes={
        "that is the sum: all steps have to come true, so multiply": sum,
        "that is the mean: all steps have to come true, so multiply": (
            "sum(steps) / len(steps)"
        ),
        "that is the least sure step alone": min,
        "that is the surest step alone": max,
        "that is the first step alone: does `return` stand inside the loop?": (
            "    return →         return"
        ),
        "that is the last step alone: multiply it with what is there": (
            "= product * → ="
        ),
        "start at 1, not at 0": "1.0 → 0.0",
        "the first step counts twice: start at 1": "1.0 → steps[0]",
        "<eos> is the last step and counts, too": "in steps → in steps[:-1]",
        "the first step counts, too": "in steps → in steps[1:]",
        "this is the logarithm of it": [
            "torch.tensor(steps).log().sum()",
            "-torch.tensor(steps).log().sum()",
        ],
        "the root makes it a mean: give the product itself": (
            "torch.tensor(steps).log().mean().exp()"
        ),
        "that is the probability that it says something else": (
            "1 - torch.tensor(steps).prod()"
        ),
        "these are the products so far: the last one is the sentence's": (
            "torch.tensor(steps).cumprod(0)"
        ),
    },
    hints=(
        "The sentence comes out only if the first step comes true *and* the second …",
        "Start with `product = 1.0`, and multiply it by each of the steps.",
    ),
    says="nine steps at 0.95 make 0.63",
    difficulty=1,
    importance=2,
    minutes=3,
)
def sentence_probability(steps):
    product = 1.0
    for probability in steps:
        product = product * probability
    return product
