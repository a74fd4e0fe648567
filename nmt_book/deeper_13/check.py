"""The exercises of the deeper page on more pairs."""

from ..exercise.exercise import exercise


def _compared_with_the_last(losses, patience):
    """Counts validations that are worse than the one before them."""
    best = waited = 0
    for i in range(1, len(losses)):
        waited = waited + 1 if losses[i] >= losses[i - 1] else 0
        best = i if losses[i] < losses[best] else best
        if waited == patience:
            return best, i
    return best, len(losses) - 1


def _total(losses, patience):
    """Never begins to count again."""
    best = waited = 0
    for i in range(1, len(losses)):
        best, waited = (i, waited) if losses[i] < losses[best] else (best, waited + 1)
        if waited == patience:
            return best, i
    return best, len(losses) - 1


@exercise(
    "Early stopping: the validation with the lowest loss so far, and the last one.",
    cases={
        "rises after the third": ([3.0, 2.0, 1.5, 1.6, 1.7, 1.8, 1.9], 2),
        "a patience of one": ([3.0, 2.0, 2.1, 1.0], 1),
        "a pause, then a lower loss": ([3.0, 2.5, 2.6, 2.7, 2.0, 2.1, 2.2, 2.3], 3),
        "a lower loss that comes too late": ([2.0, 1.0, 1.1, 1.2, 0.5], 2),
        "falls to the end": ([4.0, 3.0, 2.0, 1.0], 2),
        "two equal losses": ([2.0, 1.0, 1.0, 1.0, 0.9], 2),
        "better than the one before, but not the lowest": (
            [3.0, 1.0, 2.0, 1.9, 1.8, 1.7, 1.6],
            3,
        ),
        "updates end first": ([2.0, 1.0, 1.1], 5),
        "a single validation": ([2.0], 3),
        "four pauses": ([5.0, 5.1, 4.0, 4.1, 3.0, 3.1, 2.0, 2.1, 2.2], 2),
    },
    mistakes={
        "the run stops: a lower loss that would come later is never seen": (
            "return best → return losses.index(min(losses))"
        ),
        "stop when `patience` validations have passed without a new lowest loss": (
            "== patience → == -1"
        ),
        "compare with the lowest loss so far, not with the loss before": (
            _compared_with_the_last
        ),
        "a new lowest loss sets the count back": _total,
        "an equal loss is not a lower one": "< losses[best] → <= losses[best]",
        "that is one validation too late": "== patience → > patience",
        "that is one validation too early": "== patience → == patience - 1",
        "first the lowest, then the last": ("return best, last → return last, best",),
        "validations are counted from 0": (
            "return best, last → return best + 1, last + 1"
        ),
        "the number of the validation, not its loss": (
            "return best, last → return losses[best], last"
        ),
    },
    hints=(
        "Go through the losses and keep the number of the lowest. How far behind you "
        "does it lie?",
        "`if last - best == patience:` the run is over.",
    ),
    says="the library stops at the same validation",
    difficulty=2,
    importance=2,
    minutes=6,
)
def my_stop(losses, patience):
    best = 0
    for last in range(len(losses)):
        if losses[last] < losses[best]:
            best = last
        if last - best == patience:
            break
    return best, last


REAL = [("A dog runs.", "Ein Hund rennt."), ("Yes.", "Ja.")]


@exercise(
    "Pairs to train on: the real ones, then those with a source that a model wrote.",
    cases={
        "one of each": (REAL[:1], ["Two cat."], ["Zwei Katzen."], "★ "),
        "an empty source": (REAL, ["", "A man."], ["Hm.", "Ein Mann."], "★ "),
        "only spaces": (REAL, ["A girl.", "  "], ["Ein Mädchen.", "Oh."], "★ "),
        "no tag": (REAL, ["A house."], ["Ein Haus."], ""),
        "the target is there already": (REAL, ["Yeah."], ["Ja."], "<bt> "),
        "nothing real": ([], ["He sleep.", "So."], ["Er schläft.", "Also."], "★ "),
        "nothing synthetic": (REAL, [], [], "★ "),
    },
    mistakes={
        "the text that a person wrote is the *target*": (
            "(tag + source, target) → (tag + target, source)"
        ),
        "mark each source that a model wrote with the tag": "tag + source → source",
        "the tag stands before the source, not after it": "tag + source → source + tag",
        "the tag goes to the source: in a target the model would learn to write it": [
            "(tag + source, target) → (source, tag + target)",
            "(tag + source, target) → (tag + source, tag + target)",
        ],
        "real pairs have no tag": "[*real, → [*((tag + s, t) for s, t in real),",
        "keep the real pairs": "*real, →",
        "first the real pairs": (
            "*real, →",
            ".strip()\n    ] → .strip()\n    ] + real",
        ),
        "leave out the pairs with an empty source": " if source.strip() →",
        "a source of spaces is empty, too": "source.strip() → source",
        "a target may occur twice: with another source it is another pair": (
            ".strip() → .strip() and target not in dict(real).values()"
        ),
    },
    hints=(
        "Which of the two texts may be wrong without teaching the model to *write* "
        "something wrong?",
        "`[*real, *synthetic]`, where synthetic is a list of `(tag + source, target)`.",
    ),
    says="the model learns to write what people wrote",
    difficulty=1,
    importance=3,
    minutes=5,
)
def mix(real, sources, targets, tag):
    synthetic = [
        (tag + source, target)
        for source, target in zip(sources, targets)
        if source.strip()
    ]
    return [*real, *synthetic]
