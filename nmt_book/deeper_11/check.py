"""The exercise of the deeper page on real French."""

from ..exercise.exercise import exercise


@exercise(
    "The couples that are won.",
    cases={
        "ten margins": ([1.0, 2.0, 3.0, -1.0, -1.0, 2.0, 4.0, -2.0, 3.0, -5.0],),
        "margins of 0": ([-3.0, -1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 1.0],),
        "the first couple is won, and the last": ([1.0, 2.0, 1.0, -4.0, 0.5, 3.0],),
    },
    mistakes={
        "these are contrasts: a couple counts only if both are won": (
            "sum((m > 0 for m in margins))"
        ),
        "these are contrasts, halved: a couple counts only if both are won": [
            "sum((m > 0 for m in margins)) / 2",
            "sum((m > 0 for m in margins)) // 2",
        ],
        "a couple is won if both are, not one of them": "min → max",
        "a couple is won if both are: this looks at one of them": [
            "min(pair) → pair[0]",
            "min(pair) → pair[1]",
        ],
        "a couple is won if both are: their mean hides a loss": "min → sum",
        "numbers 1 and 2 belong to different couples: take 0 and 1, 2 and 3": (
            "margins[::2], margins[1::2] → margins, margins[1:]"
        ),
        "0 and 1 are a couple, 2 and 3 the next; not the two halves": (
            "margins[::2], margins[1::2] → margins[: len(margins) // "
            "2], margins[len(margins) // 2 :]"
        ),
        "a margin of 0 is no win": "> 0 → >= 0",
        "a negative number is True as well: ask whether both are > 0": (
            "min(pair) > 0 → all(pair)"
        ),
        "these couples are lost, or half lost": "> 0 → <= 0",
        "two losses are no win": (
            "sum((a * b > 0 for a, b in zip(margins[::2], margins[1::2], strict=True)))"
        ),
        "count, do not divide by the number of couples": (
            "margins[1::2]) → margins[1::2])) / (len(margins) / 2"
        ),
        "count the couples, do not add up their margins": [
            "min(pair) > 0 → min(pair)",
            "min(pair) > 0 → sum(pair)",
        ],
    },
    hints=(
        "Which margins belong together, and what must be true of the smaller one?",
        "`zip(margins[::2], margins[1::2])` gives the couples.",
    ),
    says="now ask it about in_couples",
    difficulty=1,
    importance=2,
    minutes=4,
)
def couples_won(margins):
    return sum(min(pair) > 0 for pair in zip(margins[::2], margins[1::2]))
