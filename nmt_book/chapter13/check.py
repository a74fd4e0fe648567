"""The exercises of chapter 13, your own pair."""

import torch

from ..exercise.exercise import exercise

MESSY = [
    ("A dog.", "Pies."),
    (" A  dog. ", "Pies."),  # the same pair, in other spaces
    ("A dog.", "Piesek."),
    ("A cat.", " \t"),
    ("OK", " OK"),
    ("a dog.", "pies."),
    ("A cat.", "Kot."),
    ("", "Nic."),
    ("A dog.", "Pies."),
]


def _raw(pairs):
    kept = my_clean.right(pairs)
    tidy = [tuple(" ".join(text.split()) for text in pair) for pair in pairs]
    return [pairs[tidy.index(pair)] for pair in kept]


def _last_kept(pairs):
    return my_clean.right(pairs[::-1])[::-1]


def _cleaned(keep):
    """What is left of pairs when ``keep(src, tgt, earlier pairs)`` decides."""

    def my_clean(pairs):
        kept = []
        for src, tgt in pairs:
            src, tgt = " ".join(src.split()), " ".join(tgt.split())
            if keep(src, tgt, kept):
                kept.append((src, tgt))
        return kept

    return my_clean


@exercise(
    "The pairs worth training on: spaces unified, no empty side, no repeats.",
    cases={
        "a bit of everything": (MESSY,),
        "nothing to do": (
            [("Good day.", "Dzień dobry."), ("Yes.", "Tak, oczywiście, proszę.")],
        ),
        "nothing is left": ([("", "x"), ("same", "same"), ("y", "  ")],),
        "capitals are all that differs": ([("Taxi", "taxi"), ("taxi", "Taxi")],),
        "a line break inside": (
            [("two\nlines", "dwie linie"), ("two lines", "dwie linie")],
        ),
    },
    mistakes={
        "a pair with one empty side is left in": [
            _cleaned(lambda src, tgt, kept: src != tgt and (src, tgt) not in kept),
            _cleaned(
                lambda src, tgt, kept: (
                    (src or tgt) and src != tgt and (src, tgt) not in kept
                )
            ),
        ],
        "a pair of equal sides is no translation": _cleaned(
            lambda src, tgt, kept: src and tgt and (src, tgt) not in kept
        ),
        "a pair that was there already is left in": _cleaned(
            lambda src, tgt, kept: src and tgt and src != tgt
        ),
        "a translation may be long: leave out no pair for its lengths": _cleaned(
            lambda src, tgt, kept: (
                src
                and tgt
                and src != tgt
                and (src, tgt) not in kept
                and max(len(src), len(tgt)) <= 3 * min(len(src), len(tgt))
            )
        ),
        "two translations of one source are two pairs": _cleaned(
            lambda src, tgt, kept: (
                src and tgt and src != tgt and src not in [old for old, _ in kept]
            )
        ),
        "one side is missing: return pairs, not sources": (
            "kept.append((src, tgt)) → kept.append(src)",
            "(src, tgt) not in → src not in",
        ),
        "spaces at the ends and in the middle: unify them before you compare": [
            ("list(dict.fromkeys(((a, b) for a, b in pairs if a and b and (a != b))))"),
            (
                "list(dict.fromkeys(((a, b) for a, b in pairs if a.strip() "
                "and b.strip() and (a.strip() != b.strip()))))"
            ),
        ],
        "strip() leaves the spaces in the middle": (
            '" ".join(text.split()) → text.strip()'
        ),
        "upper and lower case are no repetition": [
            _cleaned(
                lambda src, tgt, kept: (
                    src
                    and tgt
                    and src != tgt
                    and (src.lower(), tgt.lower())
                    not in [(a.lower(), b.lower()) for a, b in kept]
                )
            ),
            _cleaned(
                lambda src, tgt, kept: (
                    src
                    and tgt
                    and src.lower() != tgt.lower()
                    and (src, tgt) not in kept
                )
            ),
            "text.split() → text.lower().split()",
        ],
        "single spaces between the words should stay": '" ".join → "".join',
        "unify the spaces first: only then do you see which pairs are alike": (
            "in pairs → in dict.fromkeys(pairs)",
            " and (src, tgt) not in kept →",
        ),
        "keep the text with its unified spaces, not the raw one": _raw,
        "the order must stay": [
            "return kept → return sorted(kept)",
            _last_kept,
        ],
        "that is what is left out": (
            "return kept → return [pair for pair in pairs if pair not in kept]"
        ),
    },
    hints=(
        "Unify the spaces first; then three questions decide whether a pair is kept.",
        '`" ".join(text.split())` leaves single spaces, and none at the ends.',
    ),
    says="each pair once, in its order, with text on both sides",
    difficulty=1,
    importance=2,
    minutes=6,
)
def my_clean(pairs):
    kept = []
    for pair in pairs:
        src, tgt = (" ".join(text.split()) for text in pair)
        if src and tgt and src != tgt and (src, tgt) not in kept:
            kept.append((src, tgt))
    return kept


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
    by_source, by_target, found = {}, {}, []
    for i, (source, target) in enumerate(zip(sources, targets)):
        group = by_source.get(source, by_target.get(target, i))
        by_source.setdefault(source, group)
        by_target.setdefault(target, group)
        found.append(group)
    return found


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


def _sides_mixed(sources, targets):
    """A source that looks like a target joins their pairs."""
    group, texts = list(range(len(sources))), list(zip(sources, targets))
    for _ in group:
        for i, one in enumerate(texts):
            alike = [group[j] for j, other in enumerate(texts) if {*one} & {*other}]
            group[i] = min(alike)
    return group


def _renumbered(sources, targets):
    found = my_groups.right(sources, targets)
    return [sorted(set(found)).index(group) for group in found]


def _sizes(sources, targets):
    found = my_groups.right(sources, targets)
    return [found.count(group) for group in found]


def _lists(sources, targets):
    found = my_groups.right(sources, targets)
    return [
        [i for i, g in enumerate(found) if g == group] for group in sorted(set(found))
    ]


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
        "a source and a target that look alike are no link": _sides_mixed,
        "a group has the number of its first pair; do not count the groups": (
            _renumbered
        ),
        "that is the size of each pair's group": _sizes,
        "return a number for each pair, not a list for each group": _lists,
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


def _scores(n):
    return (100 * torch.rand(2, n, generator=DRAW)).unbind()


def _two_intervals(a, b, draws):
    one, other = (my_interval.right(x, 0 * x, draws) for x in (a, b))
    return one - other


def _samples(n, size):
    return torch.randint(size, (n, size), generator=DRAW)


@exercise(
    "The 95 % interval of the mean gain of A over B, from samples of sentences.",
    cases={
        "two sentences, 41 samples": (  # of 40 steps 2.5 % are one step
            torch.tensor([40.0, 70]),
            torch.tensor([55.0, 30]),
            _samples(41, 2),
        ),
        "eight sentences": (*_scores(8), _samples(41, 8)),
        "thirty sentences": (*_scores(30), _samples(201, 30)),
    },
    mistakes={
        "both systems need the same sentences of a sample": (
            "(a - b)[draws].mean(1) → a[draws].mean(1) - b[draws.flip(0)].mean(1)"
        ),
        "the gain is A minus B": "a - b → b - a",
        "these are the scores of A; subtract those of B": "a - b → a",
        "these are the scores of B; the gain is A minus B": "a - b → b",
        "95 % of the samples are between the shares 0.025 and 0.975": [
            "0.025, 0.975 → 0.05, 0.95",
            "0.025, 0.975 → 0.005, 0.995",
        ],
        "that is one end only: return both": "[0.025, 0.975] → [0.975]",
        "the smaller number comes first": "0.025, 0.975 → 0.975, 0.025",
        "a row of draws is one sample: the mean goes along axis 1": "mean(1) → mean(0)",
        "a mean, not a sum: a sample has as many sentences as the test set": (
            "mean(1) → sum(1)"
        ),
        "the mean of each sample comes first, then the interval of the means": [
            "[draws].mean(1) →",
            ".mean(1) → .flatten()",
        ],
        "the mean of each sample, not its median": "mean(1) → median(1).values",
        "subtract within each sample; the ends of two intervals have no difference": (
            _two_intervals
        ),
        "use the draws: this is a formula for the standard error": (
            "(a - b).mean() + (a - b).std() / len(a) ** 0.5 * "
            "torch.tensor([-1.96, 1.96])"
        ),
        "that is the range of all samples; leave out 2.5 % at either end": (
            "gains.quantile(torch.tensor([0.025, 0.975])) → "
            "torch.stack([gains.min(), gains.max()])"
        ),
        "the interval comes from the samples themselves, not from their spread": (
            "gains.quantile(torch.tensor([0.025, 0.975])) → "
            "gains.mean() + gains.std() * torch.tensor([-1.96, 1.96])"
        ),
    },
    hints=(
        "A row of `draws` has the numbers of the sentences in one sample, so "
        "`a[draws]` is (samples, N). Which axis does the mean go along?",
        "`gains = (a - b)[draws].mean(1)` is one number for each sample.",
    ),
    says="the same sentences for both, and 95 % of the samples lie inside",
    difficulty=2,
    importance=3,
    minutes=8,
)
def my_interval(a, b, draws):
    gains = (a - b)[draws].mean(1)  # (samples,)
    return gains.quantile(torch.tensor([0.025, 0.975]))  # (2,)
