"""The exercises of chapter 09, attention heatmaps."""

import torch

from ..exercise.exercise import exercise

BEST = "(int(row.argmax()) - 1, t) for t, row in enumerate(weights)"


def _rate(links, gold):
    return 1 - 2 * len(links & gold) / (len(links) + len(gold))


def _columns(weights, first=0):
    return {(s - first, int(t)) for s, t in enumerate(weights.argmax(0))}


def _one_each(order):
    """Only one gold link of each target word, the last one in this order."""
    return lambda weights, gold: error_rate.right(
        weights, {(s, t) for t, s in {t: s for s, t in order(gold)}.items()}
    )


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
SHARED = "2 * len(links & gold) / (len(links) + len(gold))"


@exercise(
    "The alignment error rate of one head: 1 − 2 |A ∩ G| / (|A| + |G|).",
    cases={
        "the red hat": (HAT, {(0, 0), (1, 0), (2, 1), (4, 2), (3, 3)}),
        "the same weights, other links": (HAT, {(2, 0), (2, 1), (4, 2), (1, 3)}),
        "a row that is largest at <sos>": (
            PALE,
            {(1, 0), (0, 1), (2, 1), (1, 1), (2, 2), (0, 4), (2, 3)},
        ),
        "a target word without a gold link": (HAT, {(0, 0), (1, 0), (4, 1), (4, 2)}),
        "a single word": (torch.tensor([[0.2, 0.7, 0.1]]), {(0, 0)}),
    },
    mistakes={
        "no link fits, not even a right one: is a number in it still a tensor? Sets "
        "and `in` compare tensors as objects, so write int(row.argmax())": (
            "int(row.argmax()) → row.argmax()"
        ),
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
        "a row links to its largest weight, however small that is": [
            f"{BEST} → (s - 1, t) for t, s in (weights {limit}).nonzero().tolist()"
            for limit in (">= 0.5", "> 0.5", "> 0.3")
        ],
        "a link is (source, target), not (target, source)": (
            "(int(row.argmax()) - 1, t) → (t, int(row.argmax()) - 1)"
        ),
        "the largest weight of each row, not of each column": [
            "_rate(_columns(weights, 1), gold)",
            "_rate(_columns(weights[:, 1:]), gold)",
        ],
        "this is the fraction that fits: AER is 1 minus it": "1 - 2 → 2",
        "the links in both sets count twice: 2 |A ∩ G|": "2 *  →",
        "divide by |A| + |G|; this divides by |A| alone": (
            f"{SHARED} → len(links & gold) / len(links)"
        ),
        "divide by |A| + |G|; this divides by |G| alone": (
            f"{SHARED} → len(links & gold) / len(gold)"
        ),
        "divide by |A| + |G|, not by the size of the union": [
            f"{SHARED} → len(links & gold) / len(links | gold)",
            "(len(links) + len(gold)) → len(links | gold)",
        ],
        "first the fraction, then 1 minus it: check the brackets": [
            "1 - 2 * len(links & gold) → (1 - 2 * len(links & gold))",
            "(len(links) + len(gold)) → len(links) + len(gold)",
        ],
        "a target word may have several gold links: keep them all": [
            _one_each(set),
            _one_each(sorted),
            _one_each(lambda gold: sorted(gold)[::-1]),
        ],
        "`&` gives A ∩ G; `and` gives one of the two sets": "links & → links and",
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
    links = {(int(row.argmax()) - 1, t) for t, row in enumerate(weights)}
    return 1 - 2 * len(links & gold) / (len(links) + len(gold))


def _asked(answer, gives):
    """By a model that has these probabilities for two scenes, "m" and "f"."""

    def p_il(english, french):
        return gives[english + french]

    return answer(p_il, "m", "f")


ENGLISH = "(p_il(m, m) - p_il(f, m) + p_il(m, f) - p_il(f, f)) / 2"
FRENCH = "(p_il(m, m) - p_il(m, f) + p_il(f, m) - p_il(f, f)) / 2"
AFTER_M, AFTER_F = "p_il(m, m) - p_il(f, m)", "p_il(m, f) - p_il(f, f)"
WITH_M, WITH_F = "p_il(m, m) - p_il(m, f)", "p_il(f, m) - p_il(f, f)"
BOTH = "p_il(m, m) - p_il(f, f)"
MINUS_E, MINUS_F = (f"-{number}" for number in (ENGLISH, FRENCH))
ABS_E = f"(abs({AFTER_M}) + abs({AFTER_F})) / 2"
ABS_F = f"(abs({WITH_M}) + abs({WITH_F})) / 2"


@exercise(
    "How much of P(il) follows the English, and how much follows the French.",
    cases={
        "only the English counts": ({"mm": 0.9, "mf": 0.9, "fm": 0.1, "ff": 0.1},),
        "both count": ({"mm": 0.9, "mf": 0.5, "fm": 0.2, "ff": 0.1},),
        "the French counts more": ({"mm": 0.8, "mf": 0.05, "fm": 0.65, "ff": 0.15},),
        "it contradicts the English": ({"mm": 0.5, "mf": 0.2, "fm": 0.9, "ff": 0.7},),
        "it contradicts the French": ({"mm": 0.6, "mf": 0.7, "fm": 0.1, "ff": 0.3},),
    },
    call=_asked,
    mistakes={
        "the two numbers are swapped: what follows the English comes first": (
            f"{FRENCH}, {ENGLISH}"
        ),
        "exchange one language at a time: this exchanges both": [
            f"{BOTH}, {BOTH}",
            f"{BOTH}, p_il(m, f) - p_il(f, m)",
            f"({BOTH}) / 2, ({BOTH}) / 2",
        ],
        "one exchange is not enough: what the English does may depend on the French, "
        "and the other way round, so average two differences for each number": [
            f"{english}, {french}"
            for english in (AFTER_M, AFTER_F, ENGLISH)
            for french in (WITH_M, WITH_F, FRENCH)
            if (english, french) != (ENGLISH, FRENCH)
        ]
        + [f"{WITH_M}, {AFTER_M}", f"{WITH_F}, {AFTER_F}"],
        "average the two differences: their sum is divided by 2": (
            f"2 * {ENGLISH}, 2 * {FRENCH}"
        ),
        "average two differences, not four numbers: divide by 2": (
            f"{ENGLISH} / 2, {FRENCH} / 2"
        ),
        "the whole sum is divided by 2, not its last term: check the brackets": (
            f"{AFTER_M} + p_il(m, f) - p_il(f, f) / 2, "
            f"{WITH_M} + p_il(f, m) - p_il(f, f) / 2"
        ),
        "both of your numbers exchange the same language": [
            f"{AFTER_M}, {AFTER_F}",
            f"{WITH_M}, {WITH_F}",
            f"{ENGLISH}, {ENGLISH}",
            f"{FRENCH}, {FRENCH}",
        ],
        "masculine minus feminine: P(il) should be larger with the masculine noun": [
            f"{MINUS_E}, {MINUS_F}",
            f"{MINUS_E}, {FRENCH}",
            f"{ENGLISH}, {MINUS_F}",
            "p_il(f, m) - p_il(m, m), p_il(m, f) - p_il(m, m)",
            "p_il(f, f) - p_il(m, f), p_il(f, f) - p_il(f, m)",
        ],
        "keep the sign: a model may do the opposite of what its source says": [
            f"abs({ENGLISH}), abs({FRENCH})",
            f"{ABS_E}, {ABS_F}",
        ],
        "the two differences in a pair are added, not subtracted": (
            f"({AFTER_M} - ({AFTER_F})) / 2, ({WITH_M} - ({WITH_F})) / 2"
        ),
        "these are probabilities, not differences of two of them": [
            "p_il(m, f), p_il(f, m)",
            "p_il(f, m), p_il(m, f)",
            "p_il(m, m), p_il(f, f)",
            "(p_il(m, m) + p_il(m, f)) / 2, (p_il(m, m) + p_il(f, m)) / 2",
        ],
        "these are fractions: differences of P(il) are wanted, undivided": (
            f"{ENGLISH} / ({BOTH}), {FRENCH} / ({BOTH})"
        ),
        "numbers from −1 to 1, not percent": f"100 * {ENGLISH}, 100 * {FRENCH}",
        "two numbers are wanted: this exchanges both languages at once": BOTH,
        "two numbers are wanted: the French is missing": ENGLISH,
        "two numbers are wanted: the English is missing": FRENCH,
        "p_il takes two scenes, that of the English and that of the French": (
            "p_il(m), p_il(f)"
        ),
        "p_il takes the scenes as they are: p_il(m, f)": [
            "p_il(m.src, f.tgt), p_il(f.src, m.tgt)",
            "p_il(m.text, f.text), p_il(f.text, m.text)",
        ],
    },
    hints=(
        "Four calls of p_il, one for each pair of scenes. Which of them differ in "
        "the English alone?",
        "`p_il(m, f) - p_il(f, f)` exchanges the English after feminine French. What "
        "is the same after masculine French?",
    ),
    says="and the two numbers add up to p_il(m, m) - p_il(f, f)",
    difficulty=2,
    importance=3,
    minutes=8,
)
def exchange(p_il, m, f):
    english = (p_il(m, m) - p_il(f, m) + p_il(m, f) - p_il(f, f)) / 2
    french = (p_il(m, m) - p_il(m, f) + p_il(f, m) - p_il(f, f)) / 2
    return english, french
