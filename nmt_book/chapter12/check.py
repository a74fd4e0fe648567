"""The exercises of chapter 12, scaling up."""

import math

from ..cases import ONE_ROUND
from ..exercise.exercise import exercise


@exercise(
    "The operations of the whole encoder, forward and backward.",
    cases={
        "two layers, three sentences": (49_152, 2, 3, 70, 64),
        "six layers of width 512, one sentence": (18_874_368, 6, 1, 400, 512),
        "one layer of width 8": (640, 1, 5, 7, 8),
    },
    mistakes={
        "this is the forward pass alone: the backward pass takes twice as much again": (
            "6 * → 2 *",
            "12 * → 4 *",
        ),
        "the backward pass makes two products of each, not one": [
            ("6 * → 4 *", "12 * → 8 *"),
            "12 * → 8 *",
        ],
        "a multiplication and an addition are two operations, not one": (
            "6 * → 3 *",
            "12 * → 6 *",
        ),
        "attention has a backward pass as well: 12, not 4": "12 * → 4 *",
        "the weights have a backward pass as well: 6, not 2": "6 * → 2 *",
        "the weights meet positions, not pairs of positions: B × S": (
            "B * S  # → B * S * S  #"
        ),
        "attention makes two products, QKᵀ and AV: 12, not 6": "12 * → 6 *",
        "attention is missing: 12 N B T S d_model, here with T = S": (
            "products + attention → products"
        ),
        "this is attention alone: each weight takes 6 for each position": (
            "products + attention → attention"
        ),
        "attention compares S positions with S others: S × S": "S * S → S",
        "a dot product of attention has d_model numbers over all heads": " * d_model →",
        "each layer has an attention": "n_layers * B → B",
        "n_weights counts all layers already": (
            "6 * n_weights → 6 * n_layers * n_weights"
        ),
        "that is one sentence: there are B": " * B →",
        "the weights meet all B × S positions": [
            "B * S  # → B  #",
            "B * S  # → S  #",
        ],
        "each of the B sentences has its own attention": "n_layers * B → n_layers",
        "a sentence attends to itself alone: B × S × S, not (B × S)²": (
            "B * S * S → (B * S) ** 2"
        ),
        "a weight meets each position once: n_weights has counted d_model": (
            "B * S  # → B * S * d_model  #"
        ),
    },
    hints=(
        "Two sums: products of positions with weights, and products of positions with "
        "positions. In the encoder T = S, and each layer has one attention.",
        "The first is `6 * n_weights * B * S`.",
    ),
    says="section 2 counts the same, to the last operation",
    difficulty=2,
    importance=3,
    minutes=5,
)
def encoder_flops(n_weights, n_layers, B, S, d_model):
    products = 6 * n_weights * B * S  # forward 2, backward 4
    attention = 12 * n_layers * B * S * S * d_model  # (2 + 2) · 3
    return products + attention


@exercise(
    "The bytes that self-attention keeps, with its weights written out.",
    cases={
        "four heads": (3, 7, 16, 4),
        "two heads, 20 tokens": (2, 20, 8, 2),
        "one sentence, one head": (1, 5, 6, 1),
    },
    mistakes={
        "these are numbers: each takes 4 bytes": "4 * ( → (",
        "a number of fp32 takes 4 bytes, not 2": "4 * ( → 2 * (",
        "these are bits: 8 of them are a byte": "4 * ( → 32 * (",
        "all of it takes 4 bytes per number: mind the brackets": (
            "4 * (5 * B * T * d_model + B * n_heads * T * T) → 4 * 5 * "
            "B * T * d_model + B * n_heads * T * T"
        ),
        "the matrices are parameters: count what the sentences bring alone": (
            "T * T) → T * T + 4 * d_model**2)"
        ),
        "count five (B, T, D): the input, Q, K, V, the joined heads": "5 * → 4 *",
        "five tensors of (B, T, D) are kept, not three": "5 * → 3 *",
        "the output is not kept: five tensors of (B, T, D)": "5 * → 6 *",
        "one tensor is read for Q, K and V: it is kept once": "5 * → 7 *",
        "the scores are not kept, only the weights": "+ B → + 2 * B",
        "the weights of the heads are missing: T × T numbers each": (
            " + B * n_heads * T * T →"
        ),
        "a head has a weight for each query and each key: T × T": "T * T) → T)",
        "each head has weights of its own: B × H × T × T": "n_heads * T → T",
        "a weight is one number: the heads have B × H × T × T of them": (
            "n_heads * T * T → T * T * d_model"
        ),
        "that is one sentence: there are B": "4 * (5 * T * d_model + n_heads * T * T)",
        "the heads share out d_model: Q, K and V are (B, T, D) over all heads": (
            "d_model + → d_model * n_heads +"
        ),
        "(B, T, d_k) is one head: over all heads Q, K and V are (B, T, D)": (
            "d_model + → d_model // n_heads +"
        ),
    },
    hints=(
        "Which tensors have the shape (B, T, D), and which has (B, H, T, T)? Count "
        "numbers first, then bytes.",
        "Five tensors are (B, T, D): the input, Q, K, V and the joined heads.",
    ),
    says="PyTorch keeps as much",
    difficulty=2,
    importance=2,
    minutes=5,
)
def attention_bytes(B, T, d_model, n_heads):
    return 4 * (5 * B * T * d_model + B * n_heads * T * T)


COUNT = "length * (len(batches[-1]) + 1)"


def _cleared(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if batch and length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch.clear()
        batch.append(length)
    return [*batches, batch] if batch else batches


def _first_lost(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch = []
        else:
            batch.append(length)
    return [*batches, batch]


@exercise(
    "Fills batches with sentences that are sorted by length.",
    cases={
        "a batch that fills the budget exactly": ([3, 3, 4, 5, 5, 6, 6], 18),
        "a budget that is never full": ([4, 4, 4], 11),
        "a long one at the end": ([1, 1, 1, 1, 6], 6),
        "one sentence": ([5], 20),
        "two sentences, both too long": ([7, 7], 6),
        "no sentence at all": ([], 6),
    },
    mistakes={
        "count the padding too: sentences × longest, not the sum of the lengths": (
            f"{COUNT} → sum(batches[-1]) + length"
        ),
        "the new sentence is now the longest: count with it, not with those before": (
            f"{COUNT} → batches[-1][-1] * (len(batches[-1]) + 1)"
        ),
        "take the longest sentence, which comes last, not the first one": (
            f"{COUNT} → batches[-1][0] * (len(batches[-1]) + 1)"
        ),
        "count the new sentence, too: its batch goes over the budget": (
            "(len(batches[-1]) + 1) → len(batches[-1])"
        ),
        "a batch goes over its budget by a sentence: check before that one joins": (
            f"{COUNT} → batches[-1][-1] * len(batches[-1])"
        ),
        "batches differ in size: count with the longest of this batch, not of all": [
            f"{COUNT} → lengths[-1] * (len(batches[-1]) + 1)",
        ],
        "all are in one batch: the budget counts ids, sentences × longest": (
            f"{COUNT} → len(batches[-1]) + 1"
        ),
        "a batch may fill the budget exactly": "> budget → >= budget",
        "the last batch is missing": "return batches → return batches[:-1]",
        "a sentence that is too long has its batch alone, and no batch is empty": (
            "not batches or length → length",
            "batches = [] → batches = [[]]",
        ),
        "of no sentences there is no batch: yours has an empty one": (
            "not batches or length → batches[-1] and length",
            "batches = [] → batches = [[]]",
        ),
        "the sentence that starts a new batch is lost": [
            _first_lost,
            "        batches[-1] →         else:\n            batches[-1]",
        ],
        "each batch needs a list of its own: `clear` empties those in batches, too": (
            _cleared
        ),
        "give the lengths, not where they are in the list": (
            "for length in lengths: → for i, length in enumerate(lengths):",
            "append(length) → append(i)",
        ),
        "a batch takes sentences for as long as they fit; yours are all alone": (
            "[[length] for length in lengths]"
        ),
        "give the lengths in each batch, not how many there are": (
            "return batches → return [len(batch) for batch in batches]"
        ),
        ONE_ROUND: "    return →         return",
    },
    hints=(
        "The lengths are sorted, so the new sentence is the longest of its batch. How "
        "many ids has the batch with it?",
        "A new batch starts if there is none yet, or if `length * (len(batches[-1]) + "
        "1)` is over the budget.",
    ),
    says="every batch keeps to its budget",
    difficulty=2,
    importance=1,
    minutes=8,
    part="batches",
)
def my_batches(lengths, budget):
    batches = []
    for length in lengths:  # the longest of a batch is always the one that comes last
        if not batches or length * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(length)
    return batches


ROUNDED = "-int(-corpus_tokens * epochs // real)"


@exercise(
    "The updates that it takes to go through a corpus several times.",
    cases={
        "one process": (1_000_000, 3, 40_000, 0.0, 1, 1),
        "two processes, four batches each": (1_000_000, 3, 10_000, 0.0, 2, 4),
        "a quarter is padding": (1_000_000, 2, 9_000, 0.25, 3, 2),
        "half a token is left for the last update": (4, 17, 9, 0.25, 1, 1),
    },
    mistakes={
        "round up: the last, smaller update counts": (
            f"{ROUNDED} → int(corpus_tokens * epochs / real)"
        ),
        "round up to a whole number of updates": (
            f"{ROUNDED} → corpus_tokens * epochs / real"
        ),
        "rounded to the nearest: round up": (
            f"{ROUNDED} → round(corpus_tokens * epochs / real)"
        ),
        "where it comes out even there is no further update: math.ceil, not + 1": (
            f"{ROUNDED} → int(corpus_tokens * epochs / real) + 1"
        ),
        "batches run on across epochs: round once, at the end": (
            f"{ROUNDED} → epochs * math.ceil(corpus_tokens / real)"
        ),
        "a batch need not have a whole number of real tokens: round once, at the end": [
            "batch_tokens * (1 - padding) → int(batch_tokens * (1 - padding))",
            "batch_tokens * (1 - padding) → math.ceil(batch_tokens * (1 - padding))",
        ],
        "round once: an epoch need not be a whole number of batches": (
            "math.ceil(math.ceil(corpus_tokens / (batch_tokens * (1 - "
            "padding))) * epochs / (processes * accumulate))"
        ),
        "each process makes `accumulate` batches for one update": " * accumulate →",
        "several processes share an update": " * processes →",
        "one update is processes × accumulate batches": " * processes * accumulate →",
        "more processes or batches per update make fewer updates, not more": [
            ("(1 - padding) * processes * acc → (1 - padding) / processes / acc"),
            ("(1 - padding) * processes * acc → (1 - padding) / processes * acc"),
            "* accumulate → / accumulate",
        ],
        "a quarter of the batch is padding: only three quarters are real tokens": (
            " * (1 - padding) →"
        ),
        "a quarter of the batch is padding: real tokens are × (1 - padding)": [
            "* (1 - padding) → / (1 + padding)",
            "* (1 - padding) → / (1 - padding)",
            "* (1 - padding) → * (1 + padding)",
            "(1 - padding) → padding",
        ],
        "the corpus is read `epochs` times": [" * epochs →", "* ep → / ep"],
    },
    hints=(
        "How many real tokens does one update read, over all processes and their "
        "batches?",
        "`batch_tokens * (1 - padding)` real tokens per batch; `math.ceil` rounds up "
        "(it needs `import math`).",
    ),
    says="75, 38, 50 and 11 updates",
    difficulty=1,
    importance=2,
    minutes=5,
)
def my_updates(corpus_tokens, epochs, batch_tokens, padding, processes, accumulate):
    real = batch_tokens * (1 - padding) * processes * accumulate  # in an update
    return -int(-corpus_tokens * epochs // real)  # rounded up
