"""The exercises of chapter 10, evaluation."""

from collections import Counter

import torch

from ..exercise.exercise import exercise


def _on_copies(answer, output, reference, n):
    words, other_words = list(output), list(reference)
    share = answer(words, other_words, n)
    if (words, other_words) != (output, reference):
        raise ValueError("your function changes its lists: work on a copy, words[:]")
    return share


def _grams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def _share(count, cut=_grams):
    """The share of what ``count`` finds, for other n-grams or another count."""

    def my_precision(output, reference, n):
        in_output, in_reference = Counter(cut(output, n)), Counter(cut(reference, n))
        matches = sum(
            count(in_output[gram], in_reference[gram])
            for gram in in_output
            if in_reference[gram]
        )
        return matches / (len(output) - n + 1)

    return my_precision


def _used_up(output, reference, n):
    """The words of a matches n-gram are gone for others."""
    left, matches = list(reference), 0
    for gram in _grams(output, n):
        at = [i for i in range(len(left)) if tuple(left[i : i + n]) == gram]
        if at:
            left[at[0] : at[0] + n] = [None] * n
            matches += 1
    return matches / (len(output) - n + 1)


def _case(output, reference, n):
    return output.split(), reference.split(), n


TOTAL, USED = "found / total", "left.remove(output[i : i + n])  # used up"


@exercise(
    "The fraction of the output's n-grams that are found in the reference, clipped.",
    cases={
        "four times the": _case(
            "the the the the cat milk", "the cat drank the milk", 1
        ),
        "pairs": _case("a the cat sat the cat", "so the cat drank the cat", 2),
        "a pair three times": _case(
            "the cat the cat the cat", "the cat and the cat", 2
        ),
        "a long reference": _case("the cat", "the cat the cat the cat", 1),
        "output = reference": _case("the cat sat", "the cat sat", 2),
        "another order": _case("cat the mat", "the cat mat", 2),
        "pairs of the same letters": _case("a nut is", "an ut is", 2),
        "a word inside another one": _case("he the", "the then", 1),
        "triples": _case("we saw two old men there", "we saw two old dogs here", 3),
        "a short output, found late": _case("the cat", "so the cat", 1),
        "a capital letter and a full stop": _case("The milk .", "the milk .", 1),
    },
    mistakes={
        "not clipped: an n-gram counts at most as often as the reference has it": (
            f"{USED} → pass"
        ),
        "clipped is the smaller of two counts, not the larger": _share(max),
        "that is the number found; divide by the output's n-grams": f"{TOTAL} → found",
        "divide by the n-grams of the output, not of the reference": (
            f"{TOTAL} → found / (len(reference) - n + 1)"
        ),
        "divide by the number of the output's n-grams, not of its words": (
            f"{TOTAL} → found / len(output)"
        ),
        "divide by the number of n-grams, not of different ones": (
            f"{TOTAL} → found / "
            f"len({{*map(tuple, (output[i : i + n] for i in range(total)))}})"
        ),
        "the last n-gram of the output is missing: there are len(output) - n + 1": (
            "len(output) - n + 1 → len(output) - n"
        ),
        "the last n-gram of the output is never looked at: the loop is one too short": (
            "range(total) → range(total - 1)"
        ),
        "the last n-gram of the reference is missing: also there are … - n + 1": (
            "reference) - n + 1 → reference) - n"
        ),
        "the reference has len(reference) - n + 1 n-grams, not as many as the output": (
            "reference) - n + 1 → output) - n + 1"
        ),
        "the last n-gram is missing in both: there are len(…) - n + 1": (
            " - n + 1 →  - n"
        ),
        "with sets, an n-gram that occurs twice counts once": (
            "len({*_grams(output, n)} & {*_grams(reference, n)}) "
            "/ len({*_grams(output, n)})"
        ),
        "the output has len(output) - n + 1 n-grams: divide by as many": (
            f"{TOTAL} → found / (len(output) - n)"
        ),
        "an n-gram may be anywhere in the reference, not only at its own place": (
            "in left: → == reference[i : i + n]:",
            f"{USED} → pass",
        ),
        "an n-gram counts as often as in the reference, not just once": _share(
            lambda in_output, in_reference: 1
        ),
        "look up the output's n-grams in the reference, not the other way round": (
            _share(lambda in_output, in_reference: in_reference)
        ),
        "percent; return a fraction from 0 to 1": f"{TOTAL} → 100 * found / total",
        "n-grams overlap: what was used for one may still be part of another": _used_up,
        "the same words in another order are another n-gram": _share(
            min, lambda words, n: [tuple(sorted(gram)) for gram in _grams(words, n)]
        ),
        "joined without a space, other words may look the same": _share(
            min, lambda words, n: ["".join(gram) for gram in _grams(words, n)]
        ),
        "compare words: in a joined text *he* is also found in *the*": (
            "sum(min(' '.join(output).count(gram), ' '.join(reference).count(gram)) "
            "for gram in {*map(' '.join, _grams(output, n))}) / (len(output) - n + 1)"
        ),
        "The and the are two words: change no letter": (
            "_share(min)(*([w.lower() for w in x] for x in (output, reference)), n)"
        ),
        "a full stop counts as a word does: leave nothing out": (
            "_share(min)(*([w for w in x if w != '.'] for x in (output, reference)), n)"
        ),
        "n is not used: these are single words": [
            "_share(min)(output, reference, 1)",
            _share(min, lambda words, n: [*words]),
        ],
        "an n-gram has n words: words[i : i + n]": "[i : i + n] → [i : i + n - 1]",
    },
    hints=(
        "Make a list of the reference's n-grams. What must happen to one that is found "
        "so that it cannot be found again?",
        "`left = [reference[i : i + n] for i in range(len(reference) - n + 1)]`, and "
        "`left.remove(…)` what was found.",
    ),
    says="clipped, overlapping and in order, as Counter counts",
    difficulty=2,
    importance=3,
    minutes=8,
    call=_on_copies,
)
def my_precision(output, reference, n):
    left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
    total = len(output) - n + 1
    found = 0
    for i in range(total):
        if output[i : i + n] in left:
            left.remove(output[i : i + n])  # used up
            found += 1
    return found / total


MEAN = "precisions.log().mean().exp()"


@exercise(
    "BLEU from ten counts: found and possible for n = 1 … 4, then c and r.",
    cases={
        "c < r": (torch.tensor([15, 11, 8, 5, 18, 16, 14, 12, 18, 19]),),
        "c > r": (torch.tensor([17, 12, 9, 4, 20, 18, 16, 14, 20, 17]),),
        "c = r": (torch.tensor([9, 7, 5, 3, 10, 9, 8, 7, 10, 10]),),
        "far too short": (
            torch.tensor([300, 200, 120, 80, 400, 370, 340, 310, 400, 900]),
        ),
    },
    mistakes={
        "the brevity penalty is missing": "penalty *  →",
        "BP is at most 1: too long an output gets no reward": "min(1.0,  → (",
        "BP is 1 if c > r; yours leaves out the penalty of what is too short": (
            "min(1.0 → max(1.0"
        ),
        "c and r are exchanged in BP": [
            "r / c → c / r",
            ("min(1.0, (1 - r / c).exp().item()) → (1 - c / r).exp().item()"),
            (
                "min(1.0, (1 - r / c).exp().item()) → 1.0 if c > r else (1 "
                "- c / r).exp().item()"
            ),
        ],
        "BP is e to the power of 1 − r/c": [
            "(1 - r / c).exp().item() → c / r",
            "(1 - r / c).exp().item() → 1 - r / c",
            "(1 - r / c).exp().item() → (-r / c).exp().item()",
        ],
        "the root is of the four precisions: BP is a factor before it": (
            f"penalty * {MEAN} → ((penalty * precisions.prod()) ** 0.25)"
        ),
        "the factor 100 is missing": "100 *  →",
        "the 1/4 is missing: that is the product of the four": "mean → sum",
        "the root of four numbers is the fourth, not the square root": (
            "mean() → sum().div(2)"
        ),
        "the arithmetic mean; take the geometric one": f"{MEAN} → precisions.mean()",
        "the arithmetic mean, without the brevity penalty": (
            f"penalty * {MEAN} → precisions.mean()"
        ),
        "the harmonic mean; take the geometric one": (
            f"{MEAN} → (4 / (1 / precisions).sum())"
        ),
        "this is a logarithm: exp is missing": "mean().exp() → mean()",
        "exp undoes the natural logarithm: take log, not log10 or log2": [
            ".log() → .log10()",
            ".log() → .log2()",
        ],
        "this is 0 whatever the counts are: is a precision rounded down (//), or a "
        "factor 0?": ("counts[:4] / counts[4:8] → (counts[:4] // counts[4:8]).float()"),
        "no smoothing here: take the counts as they are": (
            "counts[:4] / counts[4:8] → (counts[:4] + 1) / (counts[4:8] + 1)"
        ),
        "each n has a precision of its own: do not add up the counts of all four": (
            f"{MEAN} → (counts[:4].sum() / counts[4:8].sum())"
        ),
        "divide what was found by what was possible: counts[:4] / counts[4:8]": [
            "counts[:4] / counts[4:8] → counts[0:8:2] / counts[1:8:2]",
            "counts[:4] / counts[4:8] → counts[4:8] / counts[:4]",
            "counts[:4] / counts[4:8] → counts[:4] / counts[8]",
            "counts[:4] / counts[4:8] → counts[:4] / counts[4]",
        ],
        "all four n count: yours leaves some out": [
            f"{MEAN} → precisions[{some}].log().mean().exp()"
            for some in (":1", ":2", ":3", "3:", "1:")
        ],
    },
    hints=(
        "Three factors: 100, the brevity penalty, and the geometric mean of the four "
        "precisions, which is exp of the mean of their logarithms.",
        "`precisions = counts[:4] / counts[4:8]`, and `c, r = counts[8:].tolist()`.",
    ),
    says="sacreBLEU gives the same from these counts, for short and long outputs",
    difficulty=2,
    importance=3,
    minutes=6,
    fixed=(0,),
)
def my_bleu(counts):
    precisions, (c, r) = counts[:4] / counts[4:8], counts[8:]
    penalty = min(1.0, (1 - r / c).exp().item())
    return 100 * penalty * precisions.log().mean().exp().item()


bleu_of = my_bleu.right


WIN = "bleu_of(a[rows].sum(0)) > bleu_of(b[rows].sum(0))"
OF_12, OF_8, OF_5 = [12, 11, 10, 9, 12, 12], [8, 7, 6, 5, 8, 8], [5, 4, 3, 2, 5, 5]
SAME = [5, 2, 1, 1, 6, 5, 4, 3, 6, 6]
FIRST = torch.tensor(
    [[8, 6, 5, 3, *OF_12], [5, 2, 1, 1, *OF_5], [8, 6, 5, 2, *OF_8], SAME]
)
SECOND = torch.tensor(
    [[6, 4, 3, 2, *OF_12], [5, 4, 3, 2, *OF_5], [8, 7, 6, 3, *OF_8], SAME]
)
DRAW = torch.Generator().manual_seed(0)


@exercise(
    "How often A has the higher BLEU, when both are scored on the same sample.",
    cases={
        "two sentences": (FIRST[:2], SECOND[:2], torch.tensor([[0, 1], [1, 1]])),
        "eight samples of four": (
            FIRST,
            SECOND,
            torch.randint(4, (8, 4), generator=DRAW),
        ),
        "two samples with ties": (
            FIRST,
            SECOND,
            torch.tensor([[1, 3, 3, 3], [3, 3, 3, 3], [0, 3, 3, 3]]),
        ),
        "thirty samples of six": (
            FIRST,
            SECOND,
            torch.randint(4, (30, 6), generator=DRAW),
        ),
    },
    mistakes={
        "A must be better; a tie does not count": " >  →  >= ",
        "a tie is no win, not half a one": (
            f"{WIN} → (({WIN}) + ({WIN.replace('>', '>=')})) / 2"
        ),
        "that is how often B wins": " >  →  < ",
        "that is how often A does *not* win": " >  →  <= ",
        "a sentence that is drawn twice counts twice": "[rows] → [rows.unique()]",
        "add the counts of a sample, then one BLEU; no mean of sentences": (
            f"{WIN} → sum(map(bleu_of, a[rows])) > sum(map(bleu_of, b[rows]))"
        ),
        "one comparison per sample, of the sums; not one per sentence": (
            f"{WIN} → sum(bleu_of(a[i]) > bleu_of(b[i]) for i in rows) / len(rows)"
        ),
        "the number of samples; divide by how many there are": " / len(wins) →",
        "a tie is neither won nor lost: divide by the number of samples": (
            "len(wins) → sum(bleu_of(a[rows].sum(0)) != bleu_of(b[rows].sum(0)) "
            "for rows in draws)"
        ),
        "divide by the number of samples, not of sentences": [
            "len(wins) → len(a)",
            "len(wins) → draws.size(1)",
        ],
        "percent; return a fraction from 0 to 1": "return sum → return 100 * sum",
        "how often A wins, not by how much": " >  →  - ",
        "both models need the same rows of a sample": [
            "b[rows] → b",
            "b[rows] → b[draws[0]]",
            (
                "for rows in draws → for rows, other in zip(draws, draws.flip(0))",
                "b[rows] → b[other]",
            ),
        ],
        "use the rows of a sample: one comparison for each, not one for all": (
            "[rows] →"
        ),
        "a row of draws is a sample, not a column": "in draws → in draws.T",
        "the higher BLEU wins, not more n-grams found": (
            f"{WIN} → a[rows, :4].sum() > b[rows, :4].sum()"
        ),
    },
    hints=(
        "A row of `draws` picks the same sentences for both: `a[rows]` and `b[rows]` "
        "are (k, 10). What makes one BLEU of k sentences?",
        "`bleu_of(a[rows].sum(0))` is A's BLEU on the sample `rows`.",
    ),
    says="the same sentences for both, and a tie is no win",
    difficulty=2,
    importance=2,
    minutes=6,
    fixed=(0, 1),
)
def my_paired(a, b, draws):
    wins = [bleu_of(a[rows].sum(0)) > bleu_of(b[rows].sum(0)) for rows in draws]
    return sum(wins) / len(wins)
