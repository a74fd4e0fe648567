"""The exercises of chapter 13, your own pair."""

import torch

from ..exercise.exercise import exercise


def _numbered(keys):
    """The number of the first pair with the same key."""
    return [keys.index(key) for key in keys]


def _once(sources, targets):
    """One look at either side: longer chains stay apart."""
    first = _numbered(sources)
    by_target = {}
    for group, text in zip(first, targets):
        by_target[text] = min(group, by_target.get(text, group))
    return [min(group, by_target[text]) for group, text in zip(first, targets)]


def _in_passing(sources, targets):
    """The group of an earlier pair; what links two groups comes too late."""
    by_source, by_target, groups = {}, {}, []
    for i, (source, target) in enumerate(zip(sources, targets)):
        group = by_source.get(source, by_target.get(target, i))
        by_source.setdefault(source, group)
        by_target.setdefault(target, group)
        groups.append(group)
    return groups


def _forest(by_side):
    """Union-find without its last step: each pair's parent, not its root."""

    def my_groups(sources, targets):
        parent, seen = list(range(len(sources))), ({}, {})
        pairs = list(enumerate(zip(sources, targets)))
        steps = [(i, side, texts[side]) for i, texts in pairs for side in (0, 1)]
        for i, side, text in sorted(steps, key=lambda s: s[1]) if by_side else steps:
            roots = [seen[side].setdefault(text, i), i]
            for j, root in enumerate(roots):
                while parent[root] != root:
                    root = parent[root]
                roots[j] = root
            parent[max(roots)] = min(roots)
        return parent

    return my_groups


@exercise(
    "For each pair the number of its group, which is that of the group's first pair.",
    cases={
        "one source, two translations": (
            ["dog", "cat", "dog", "bird"],
            ["pies", "kot", "piesek", "ptak"],
        ),
        "one target, two sources": (["hi", "bye", "hello"], ["hej", "pa", "hej"]),
        "a chain": (
            ["a", "b", "c", "d", "b", "c", "e"],
            ["1", "2", "3", "4", "1", "2", "5"],
        ),
        "a long chain that ends at its beginning": (
            ["f", "e", "d", "c", "b", "a"],
            ["5", "4", "3", "2", "1", "1"],
        ),
        "links from the end to the beginning": (
            ["a", "b", "c", "d", "d", "c", "b"],
            ["1", "2", "3", "4", "3", "2", "1"],
        ),
        "a circle": (["a", "b", "b", "a"], ["1", "1", "2", "2"]),
        "a source that looks like a target": (["no", "ten"], ["nie", "no"]),
        "the same pair twice": (["a", "b", "a"], ["1", "2", "1"]),
        "nothing in common": (["x", "y", "z"], ["1", "2", "3"]),
        "upper and lower case": (["Yes.", "yes."], ["Tak.", "TAK."]),
    },
    mistakes={
        "pairs with the same target belong together, too": ("_numbered(sources)"),
        "pairs with the same source belong together, too": ("_numbered(targets)"),
        "one equal side is enough: source *or* target": (
            "_numbered(list(zip(sources, targets)))"
        ),
        "a chain of pairs is one group: go on until nothing changes": [
            _once,
            _in_passing,
            "while changed → for _ in range(1)",
            "while changed → for _ in range(2)",
        ],
        "union-find ends with one more look: each pair's *root*, not its parent": [
            _forest(True),
            _forest(False),
        ],
        "letter for letter: with other capitals it is another text": (
            "least = {} → least, side = {}, [text.lower() for text in side]"
        ),
        "pairs are counted from 0": "return group → return [g + 1 for g in group]",
        "return a list, in the order of the pairs": (
            "return group → return dict(enumerate(group))"
        ),
        "a source and a target that look alike are no link": (
            "changed = False → changed, least = False, {}",
            "            least = {}\n →",
        ),
        "a group has the number of its first pair; do not count the groups": (
            "return group → return [sorted({*group}).index(g) for g in group]"
        ),
        "that is the size of each pair's group": (
            "return group → return [group.count(g) for g in group]"
        ),
        "return a number for each pair, not a list for each group": (
            "return group → return [[i for i, g in enumerate(group) if g == first] "
            "for first in sorted({*group})]"
        ),
        "each pair has a group of its own here": ("list(range(len(sources)))"),
        "the *first* pair of a group gives its number: take the smallest": (
            "min( → max(",
            "< → >",
        ),
    },
    hints=(
        "Begin with `group = list(range(len(sources)))`. Whenever two pairs share a "
        "text, both get the smaller number. Why is one round not enough?",
        "In each round, and for each side, note the smallest number of each text in a "
        "dict, then give it to all pairs with that text.",
    ),
    says="one equal side joins two pairs, and chains are followed to their end",
    difficulty=3,
    importance=3,
    minutes=10,
)
def my_groups(sources, targets):
    group, changed = list(range(len(sources))), True
    while changed:
        changed = False
        for side in (sources, targets):
            least = {}
            for i, text in enumerate(side):
                least[text] = min(group[i], least.get(text, group[i]))
            for i, text in enumerate(side):
                changed = changed or least[text] < group[i]
                group[i] = least[text]
    return group


DRAW = torch.Generator().manual_seed(0)


def _lengths(n, offset, noise=3.0):
    """Lengths of n lines and of their translations, which stand ``offset`` later."""
    src = torch.randint(10, 80, (n + 4,), generator=DRAW).float()
    tgt = 1.1 * src + noise * torch.randn(n + 4, generator=DRAW)
    return src[2 : n + 2], tgt[2 - offset : n + 2 - offset].round()


R = "r = torch.corrcoef(torch.stack([a, b]))[0, 1].item()"
A = "a = src[max(0, -offset) : len(src) - max(0, offset)]"
B = "b = tgt[max(0, offset) : len(tgt) - max(0, -offset)]"


@exercise(
    "How many lines later the translations are, from -2 to 2, by their lengths.",
    cases={
        "every line beside its translation": _lengths(40, 0),
        "a line was added before": _lengths(40, 1),
        "a line was lost before": _lengths(40, -1),
        "two lines were added": _lengths(40, 2),
        "two lines were lost": _lengths(40, -2),
        "targets three times as long": (lambda pair: (pair[0], 3 * pair[1]))(
            _lengths(30, -1)
        ),
        "only five lines": (
            torch.tensor([10.0, 40, 20, 50, 30]),
            torch.tensor([9.0, 11, 39, 21, 52]),
        ),
        "eight short lines and a longer side": (
            torch.tensor([40.0, 20, 30, 40, 50, 30, 80, 30]),
            torch.tensor([40.0, 90, 70, 50, 60, 80, 80, 60]),
        ),
        "six lines that hardly correlate": (
            torch.tensor([20.0, 30, 10, 30, 40, 30]),
            torch.tensor([40.0, 60, 30, 10, 10, 50]),
        ),
        "all lines of one length": (torch.full((9,), 7.0), torch.full((9,), 8.0)),
        "the first line is out of place": (
            torch.tensor([30.0, 10, 50, 20, 60, 15, 45, 12]),
            torch.tensor([11.0, 52, 19, 62, 14, 46, 13, 90]),
        ),
    },
    mistakes={
        "the other direction: at +1 the translation of line i is line i + 1": (
            "best, highest = offset, r → best, highest = -offset, r"
        ),
        "lengths that do not vary have no correlation: that is 0, not an error": (
            "r > highest → not r <= highest"
        ),
        "take the highest correlation, not the last one": (
            "highest = offset, r → highest = offset, 0"
        ),
        "the highest correlation, not the lowest": [
            "r > highest → r < highest",
        ],
        "offsets go from -2 to 2": [
            "(0, 1, -1, 2, -2) → (0, 1, -1)",
            "(0, 1, -1, 2, -2) → (0, 1, 2)",
        ],
        "return the offset, not the correlation": "return best → return highest",
        "a line beyond the end has no partner: leave it out": (
            f"{A} → a = src",
            f"{B} → b = tgt.roll(-offset)",
        ),
        "lengths in two languages differ by a factor: take the correlation": (
            f"{R} → r = -(a - b).abs().mean().item()",
            "0, 0.0 → 0, -1e9",
        ),
        "a mean product is no correlation: long lines dominate it": (
            f"{R} → r = (a * b).mean().item()"
        ),
        "a covariance is no correlation: divide by both standard deviations": (
            "corrcoef → cov"
        ),
        "a strong negative correlation says that the lines do *not* fit": (
            "[0, 1].item() → [0, 1].abs().item()"
        ),
        "the highest correlation wins, even if it is a low one": "0, 0.0 → 0, 0.5",
    },
    hints=(
        "At offset 1, line i belongs to line i + 1 of the other side, so the first "
        "side loses its last line and the other side its first.",
        "`torch.corrcoef(torch.stack([a, b]))[0, 1]` is the correlation. It is nan "
        "where lengths do not vary, and nan > 0 is False.",
    ),
    says="the offset at which long lines meet long lines",
    difficulty=2,
    importance=2,
    minutes=10,
)
def my_offset(src, tgt):
    best, highest = 0, 0.0
    for offset in (0, 1, -1, 2, -2):
        a = src[max(0, -offset) : len(src) - max(0, offset)]
        b = tgt[max(0, offset) : len(tgt) - max(0, -offset)]
        r = torch.corrcoef(torch.stack([a, b]))[0, 1].item()
        if r > highest:
            best, highest = offset, r
    return best


def _drawn(n_groups, samples, most=4):
    """Gains of sentences in groups, and samples of groups."""
    sizes = torch.randint(1, most + 1, (n_groups,), generator=DRAW)
    groups = torch.arange(n_groups).repeat_interleave(sizes)
    order = torch.randperm(len(groups), generator=DRAW)
    gains = 20 * torch.randn(len(groups), generator=DRAW) + 5
    draws = torch.randint(n_groups, (samples, n_groups), generator=DRAW)
    return gains, groups[order], draws


@exercise(
    "The 95 % interval of the mean gain of a sentence, from samples of groups.",
    cases={
        # 2.5 % of 40 steps is one step: no rule of rounding matters.
        "two groups, 41 samples": (
            torch.tensor([4.0, -2, 9]),
            torch.tensor([0, 0, 1]),
            torch.tensor([[0, 1], [1, 1], [0, 0], [1, 0]] * 10 + [[1, 1]]),
        ),
        "each sentence a group": _drawn(12, 41, 1),
        "groups of up to four": _drawn(10, 41),
        "many samples": _drawn(30, 201),
    },
    mistakes={
        "draw groups, not sentences: `draws` holds numbers of groups": (
            "gains[draws].mean(1).quantile(torch.tensor([0.025, 0.975]))"
        ),
        "long groups count more: divide the sum by the number of sentences": [
            "total[draws].sum(1) / size[draws].sum(1) → (total / size)[draws].mean(1)",
            "/ size[draws].sum(1) → / draws.size(1)",
        ],
        "95 % of the samples are between the fractions 0.025 and 0.975": [
            "0.025, 0.975 → 0.05, 0.95",
            "0.025, 0.975 → 0.005, 0.995",
        ],
        "that is one end only: return both": "[0.025, 0.975] → [0.975]",
        "the smaller number comes first": "0.025, 0.975 → 0.975, 0.025",
        "a row of draws is one sample: sum along axis 1": "sum(1) → sum(0)",
        "a mean, not a sum: divide by the number of sentences": (
            " / size[draws].sum(1) →"
        ),
        "use the draws: this is a formula for the standard error": (
            "gains.mean() + gains.std() / len(gains) ** 0.5 * "
            "torch.tensor([-1.96, 1.96])"
        ),
        "that is the range of all samples; leave out 2.5 % at either end": (
            "means.quantile(torch.tensor([0.025, 0.975])) → "
            "torch.stack([means.min(), means.max()])"
        ),
        "the interval comes from the samples themselves, not from their spread": (
            "means.quantile(torch.tensor([0.025, 0.975])) → "
            "means.mean() + means.std() * torch.tensor([-1.96, 1.96])"
        ),
    },
    hints=(
        "First the sum of the gains and the number of sentences of each group; then "
        "`total[draws]` is (samples, G). Which axis does the sum go along?",
        "`torch.zeros(n).index_add(0, groups, gains)` is the sum of each of n groups, "
        "and `torch.bincount(groups)` its number of sentences.",
    ),
    says="whole groups are drawn, and 95 % of the samples lie inside",
    difficulty=2,
    importance=3,
    minutes=10,
)
def my_interval(gains, groups, draws):
    n = int(groups.max()) + 1
    total = torch.zeros(n).index_add(0, groups, gains)  # (G,)
    size = torch.bincount(groups, minlength=n)  # (G,)
    means = total[draws].sum(1) / size[draws].sum(1)  # (samples,)
    return means.quantile(torch.tensor([0.025, 0.975]))  # (2,)
