"""The exercises of chapter 09, attention heatmaps."""

import torch

import nmt_lib as nmt

from ..exercise.exercise import exercise

NO_LINK_FITS = (
    "no link fits, not even a right one: is a number in it still a tensor? Sets and "
    "`in` compare tensors as objects, so write int(row.argmax())"
)
TURNED = "a link is (source, target), not (target, source)"
BY_COLUMNS = "the largest weight of each row, not of each column"
SMALL = "a row links to its largest weight, however small that is"
SEVERAL = "a target word may have several gold links: keep them all"
ARGMAX = "(int(row.argmax()){}, t) for t, row in enumerate(weights)"
ABOVE = "(s{}, t) for t, s in (weights {}).nonzero().tolist()"


def _above(offset):
    """Links to all large weights, in place of the largest of each row."""
    limits = ">= 0.5", "> 0.5", "> 0.3"
    return [f"{ARGMAX} → {ABOVE}".format(offset, offset, limit) for limit in limits]


def _rate(found, gold):
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def _columns(weights, first=0):
    return {(s - first, int(t)) for s, t in enumerate(weights.argmax(0))}


ORDERS = set, sorted, lambda gold: sorted(gold)[::-1]


def _one_each(order):
    """Only one gold link of each target word."""
    return lambda gold: {(s, t) for t, s in {t: s for s, t in order(gold)}.items()}


def _with_one_each(name):
    return [
        lambda weights, gold, keep=keep: globals()[name].right(weights, keep(gold))
        for keep in map(_one_each, ORDERS)
    ]


HAT = torch.tensor(  # the page's example
    [
        [0.1, 0.2, 0.6, 0.1, 0, 0],
        [0, 0.1, 0.1, 0.5, 0.1, 0.2],
        [0, 0, 0.1, 0.1, 0.1, 0.7],
        [0.1, 0, 0, 0.1, 0.7, 0.1],
    ]
)
PALE = torch.tensor(
    [
        [0.1, 0.2, 0.4, 0.3],
        [0.45, 0.1, 0.25, 0.2],
        [0.2, 0.3, 0.1, 0.4],
        [0.05, 0.4, 0.35, 0.2],
        [0.2, 0.2, 0.35, 0.25],
    ]
)
SHARED = "2 * len(found & gold) / (len(found) + len(gold))"


@exercise(
    "The alignment error rate of one head: 1 − 2 |A ∩ G| / (|A| + |G|).",
    cases={
        "the red hat": (HAT, {(0, 0), (1, 0), (2, 1), (4, 2), (3, 3)}),
        "the same weights, other links": (HAT, {(2, 0), (2, 1), (4, 2), (1, 3)}),
        "a row that is largest at <sos>": (
            PALE,
            {(1, 0), (2, 1), (1, 1), (1, 2), (2, 2), (0, 4), (2, 3)},
        ),
        "target words without a gold link": (HAT, {(0, 0), (1, 0), (4, 2)}),
        "a single word": (torch.tensor([[0.2, 0.7, 0.1]]), {(0, 0)}),
    },
    mistakes={
        NO_LINK_FITS: "int(row.argmax()) → row.argmax()",
        "column 0 is <sos>: source word s has column s + 1": [
            " - 1, t → , t",
            " - 1, t →  + 1, t",
        ],
        "a row may be largest at <sos>: its link counts, as a wrong one": (
            "row.argmax()) - 1 → row[1:].argmax())"
        ),
        "a row that is largest at <sos> has a link, too: count it in |A|": (
            "(weights) → (weights) if row.argmax()"
        ),
        SMALL: _above(" - 1"),
        TURNED: [
            "(int(row.argmax()) - 1, t) → (t, int(row.argmax()) - 1)",
            "found & gold → found & {(t, s) for s, t in gold}",
        ],
        BY_COLUMNS: [
            "_rate(_columns(weights, 1), gold)",
            "_rate(_columns(weights[:, 1:]), gold)",
        ],
        "this is the share of what fits: AER is 1 minus it": "1 - 2 → 2",
        "the links in both sets count twice: 2 |A ∩ G|": "2 *  →",
        "divide by |A| + |G|; this divides by |A| alone": (
            f"{SHARED} → len(found & gold) / len(found)"
        ),
        "divide by |A| + |G|; this divides by |G| alone": (
            f"{SHARED} → len(found & gold) / len(gold)"
        ),
        "divide by |A| + |G|, not by the size of the union": [
            f"{SHARED} → len(found & gold) / len(found | gold)",
            "(len(found) + len(gold)) → len(found | gold)",
        ],
        "first the fraction, then 1 minus it: check the brackets": [
            "1 - 2 * len(found & gold) → (1 - 2 * len(found & gold))",
            "(len(found) + len(gold)) → len(found) + len(gold)",
        ],
        SEVERAL: _with_one_each("error_rate"),
        "`&` gives A ∩ G; `and` gives one of the two sets": "found & → found and",
        "a number from 0 to 1, not percent": "1 - 2 → 100 - 200",
    },
    hints=(
        "First the set A, with one link for each row: where is its largest weight, and "
        "which source word has that column? For two sets, `&` gives A ∩ G.",
        "`(int(row.argmax()) - 1, t)` is the link of row t; "
        "`for t, row in enumerate(weights)` counts the rows.",
    ),
    says="rows at <sos> count, and a word may have several gold links or none",
    difficulty=2,
    importance=2,
    minutes=8,
)
def error_rate(weights, gold):
    found = {(int(row.argmax()) - 1, t) for t, row in enumerate(weights)}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def _layer(D, H, S):
    """Words (S, D) and a layer of the library, the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(D)
        return torch.randn(S, D), nmt.MultiHeadAttention(D, H).requires_grad_(False)


OWN = "own = slice(h * d_k, (h + 1) * d_k)"
COLUMNS = "cut out the columns of head h"
PROJECTED = "attention.W_q(x)[:, own], attention.W_k(x)[:, own]"
BOTH = "Q and K have a matrix each, W_q and W_k"
BIAS = (
    "call the layers, attention.W_q(x): a weight matrix is (out, in), and a bias is "
    "added"
)


@exercise(
    "The map of one head of self-attention: the softmax of its scores.",
    cases={
        "the first of two heads, D = 24": (*_layer(24, 2, 5), 0),
        "the last of two heads, D = 24": (*_layer(24, 2, 5), 1),
        "the third of four heads, D = 8": (*_layer(8, 4, 3), 2),
    },
    mistakes={
        "these are the scores: the softmax is missing": ".softmax(-1) →",
        "divide the scores by √d_k": " / d_k**0.5 →",
        "divide by √d_k, not by d_k": "d_k**0.5 → d_k",
        "divide by √d_k, the width of one head, not by √D": (
            "d_k**0.5 → x.size(1) ** 0.5"
        ),
        "divide by √d_k, not by the square root of the number of words": (
            "d_k**0.5 → len(x) ** 0.5"
        ),
        "divide by √d_k, the width of a head, not by the number of heads": [
            "d_k**0.5 → attention.n_heads",
            "d_k**0.5 → attention.n_heads**0.5",
        ],
        "divide by √d_k, don't multiply": "/ d_k → * d_k",
        "divide the scores before the softmax, not the weights after it": (
            "(Q @ K.T / d_k**0.5).softmax(-1) → (Q @ K.T).softmax(-1) / d_k**0.5"
        ),
        "softmax along each row: dim=-1": [
            "softmax(-1) → softmax(0)",
            "softmax(-1) → flatten().softmax(0).view(len(x), -1)",
        ],
        "rows are queries, made by W_q: Q @ K.T": [
            "Q @ K.T → K @ Q.T",
            "Q, K = → K, Q =",
        ],
        "this is head 0, whatever h is": f"{OWN} → own = slice(d_k)",
        "a head is d_k columns wide, not n_heads": (
            "h * d_k → h * attention.n_heads",
            "(h + 1) * d_k → (h + 1) * attention.n_heads",
        ),
        "heads count from 0: head h begins at column h · d_k": [
            f"{OWN} → own = slice((h - 1) * d_k, h * d_k)",
            f"{OWN} → own = slice((h + 1) * d_k, (h + 2) * d_k)",
        ],
        f"{COLUMNS}: this is the same for all heads": [
            f"{OWN} → own = slice(None)",
            f"{OWN} → own = slice(None); d_k = x.size(1)",
        ],
        "head h ends at column (h + 1) · d_k: yours takes all columns before it, too": (
            f"{OWN} → own = slice((h + 1) * d_k)"
        ),
        "head h ends at column (h + 1) · d_k: yours takes all columns after it, too": (
            f"{OWN} → own = slice(h * d_k, None)"
        ),
        "head h owns d_k columns side by side, not every H-th column": (
            f"{OWN} → own = slice(h, None, attention.n_heads)"
        ),
        f"[:, own]: {COLUMNS}; yours are rows": "[:, own] → [own]",
        "this view mixes positions: cut the columns, x.unflatten(-1, (H, d_k))": (
            f"{PROJECTED} → (W(x).view(-1, len(x), d_k)[h] for W in "
            "(attention.W_q, attention.W_k))"
        ),
        f"{BOTH}; here both are made by W_q": "W_k → W_q",
        f"{BOTH}; here both are made by W_k": "W_q → W_k",
        f"{BOTH}; W_v makes the values": "W_k → W_v",
        "x itself is no query: project it with attention.W_q and W_k": (
            f"{PROJECTED} → x[:, own], x[:, own]"
        ),
        BIAS: [
            f"{PROJECTED} → ({product} for W in (attention.W_q, attention.W_k))"
            for product in (
                "x @ W.weight[:, own]",
                "x @ W.weight[:, own] + W.bias[own]",
                "(x @ W.weight)[:, own] + W.bias[own]",
                "x @ W.weight.T[:, own]",
            )
        ],
        "(S, S): no axis is wanted in front": "softmax(-1) → softmax(-1)[None]",
        "the encoder hides nothing: this one hides the future": (
            "(Q @ K.T / d_k**0.5) → (Q @ K.T / "
            "d_k**0.5).masked_fill(~nmt.causal_mask(len(x))[0, 0], "
            "-1e9)"
        ),
        "this is the output of the head: the map alone is wanted": (
            "softmax(-1) → softmax(-1) @ attention.W_v(x)[:, own]"
        ),
    },
    hints=(
        "Which columns of `attention.W_q(x)` belong to head h? With these, and those "
        "of `attention.W_k(x)`, the formula above is one line.",
        "`d_k = x.size(1) // attention.n_heads`, and `attention.W_q(x)[:, h * d_k : "
        "(h + 1) * d_k]` has the shape (S, d_k).",
    ),
    says="the softmax of its own scores, for the first head and the last",
    difficulty=2,
    importance=2,
    minutes=8,
)
def head_map(x, attention, h):
    d_k = x.size(1) // attention.n_heads
    own = slice(h * d_k, (h + 1) * d_k)
    Q, K = attention.W_q(x)[:, own], attention.W_k(x)[:, own]  # (S, d_k) each
    return (Q @ K.T / d_k**0.5).softmax(-1)  # (S, S)


def _added(*sizes):
    return torch.zeros(1).where(cut_head.right(*sizes), -torch.inf)


@exercise(
    "A mask that stops one head from looking from row t to column s.",
    cases={
        "2 heads, T = 3, S = 4": (2, 3, 4, 1, 2, 0),
        "3 heads, T = S = 2": (3, 2, 2, 0, 0, 1),
        "4 heads, T = 6, S = 5": (4, 6, 5, 1, 3, 4),
    },
    mistakes={
        "True means: may look. Yours lets through what it should stop": [
            ".bool() → .bool().logical_not()",
            "False → True; mask = ~mask",
            "False → False; mask = ~mask",
        ],
        "only one head is stopped; the others may look": "[0, head → [0, :",
        "the row is t, the column is s": "t, s] → s, t]",
        "the shape is (1, H, T, S): rows are target words": [
            "H, T, S) → H, S, T)",
            ("H, T, S) → H, S, T)", "t, s] → s, t]"),
        ],
        "only one cell is closed, not the whole row": [
            "head, t, s] → head, t]",
            "[0, head, t, s] → [0, :, t]",
        ],
        "only one cell is closed, not the whole column": [
            "head, t, s] → head, :, s]",
            "[0, head, t, s] → [..., s]",
        ],
        "only one cell is closed, not the whole head": "head, t, s] → head]",
        "only row t is closed, not those before or after it": [
            "t, s] → t:, s]",
            "t, s] → :t, s]",
            "t, s] → : t + 1, s]",
        ],
        "only column s is closed, not those before or after it": [
            "t, s] → t, s:]",
            "t, s] → t, :s]",
            "t, s] → t, : s + 1]",
        ],
        "column s is closed; yours closes the others of the row": (
            "t, s] = False → t] = torch.arange(S) == s"
        ),
        "nothing is closed: one cell must be False": "= False → = True",
        "heads, rows and columns count from 0, special tokens included: no ± 1": [
            "[0, head → [0, head - 1",
            "t, s] → t - 1, s]",
            "t, s] → t, s - 1]",
            "t, s] → t + 1, s]",
            "t, s] → t, s + 1]",
        ],
        "a mask holds booleans: .bool(), or dtype=torch.bool": ".bool() →",
        "−∞ is what is added to scores; a mask holds True and False": _added,
        "an axis for the sentences is missing: (1, H, T, S)": [
            "return mask → return mask[0]",
            "return mask → return mask[0, head]",
        ],
    },
    hints=(
        "Begin with a mask that hides nothing, and close a single cell of it.",
        "`torch.ones(1, H, T, S).bool()` hides nothing; a cell has four numbers in "
        "the brackets.",
    ),
    says="one cell of one head is closed, and nothing else",
    difficulty=1,
    importance=2,
    minutes=4,
)
def cut_head(H, T, S, head, t, s):
    mask = torch.ones(1, H, T, S).bool()  # (1, H, T, S)
    mask[0, head, t, s] = False
    return mask


def _aer(weights, gold):
    return _rate({(int(row.argmax()), t) for t, row in enumerate(weights)}, gold)


@exercise(
    "The share of target words whose largest weight is a gold link.",
    cases={
        "a word with two gold links": (
            torch.tensor(
                [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2], [0.3, 0.25, 0.45]]
            ),
            {(0, 0), (1, 0), (2, 1), (0, 2), (2, 3)},
        ),
        "five target words, one without a gold link": (
            torch.tensor(
                [[0.3, 0.7], [0.8, 0.2], [0.9, 0.1], [0.2, 0.8], [0.95, 0.05]]
            ),
            {(1, 0), (1, 1), (0, 3), (0, 2)},
        ),
        "three target words, four source words": (
            torch.tensor(
                [[0.4, 0.3, 0.2, 0.1], [0.2, 0, 0.7, 0.1], [0.6, 0.2, 0.2, 0]]
            ),
            {(0, 0), (1, 0), (1, 1)},
        ),
        "no large weight, and two gold links for each word": (
            torch.tensor([[0.32, 0.28, 0.4], [0.36, 0.3, 0.34]]),
            {(0, 0), (2, 0), (0, 1), (2, 1)},
        ),
    },
    mistakes={
        NO_LINK_FITS: "int(row.argmax()) → row.argmax()",
        TURNED: "(int(row.argmax()), t) → (t, int(row.argmax()))",
        "there is no <sos> here: column s is source word s": (
            "row.argmax()) → row.argmax()) - 1"
        ),
        "there is no <sos> here: column 0 is a word": "row.argmax → row[1:].argmax",
        SMALL: _above(""),
        "divide by the number of target words, not of source words": (
            "len(weights) → weights.size(1)"
        ),
        "divide by the number of target words, not of gold links": (
            "len(weights) → len(gold)"
        ),
        "divide by all target words, those without a gold link, too": (
            "len(weights) → len({t for s, t in gold})"
        ),
        "this is 1 − AER: divide by the target words alone": (
            "1 - _aer(weights, gold)"
        ),
        "this is AER: count the right links, for each target word": (
            "_aer(weights, gold)"
        ),
        "this is the share that is wrong": "(link in → (link not in",
        "this is the number of right words: divide by how many there are": (
            " / len(weights) →"
        ),
        "a number from 0 to 1, not percent": "/ len → * 100 / len",
        BY_COLUMNS: "len(_columns(weights) & gold) / len(weights)",
        SEVERAL: _with_one_each("link_accuracy"),
    },
    hints=(
        "As for AER, but without <sos>, and with another denominator: how many target "
        "words are there?",
        "`sum(link in gold for link in found)` counts, since True is 1.",
    ),
    says="3 of 4, 2 of 5, 1 of 3 and 2 of 2 target words",
    difficulty=1,
    importance=1,
    minutes=4,
)
def link_accuracy(weights, gold):
    found = [(int(row.argmax()), t) for t, row in enumerate(weights)]
    return sum(link in gold for link in found) / len(weights)
