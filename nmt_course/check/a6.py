"""A6: greedy, beam and cached decoding, reading attention. One public check for each
graded part."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from nmt_lib import EOS, PAD, SOS

from ..standins.a6 import Heads as Heads
from ..standins.a6 import Layer, Model, Toy, places, steps
from .kit import ask, done, expect, kind, match, number, random_numbers, single, tensor
from .kit import near as near
from .kit import spares as spares

_ONE = torch.tensor([[SOS, 6, EOS]])


def words(function: Any, banned: int) -> None:
    toy = Toy(
        {
            (6,): {banned: 0.5, SOS: 0.2, 9: 0.2, 8: 0.1},
            (6, 9): {8: 0.6, 9: 0.4},
            (6, 9, 8): {EOS: 1.0},
        }
    )
    got = cut(greedy_rows(function, toy, _ONE)[0])
    expect(
        banned not in got,
        f"{got} is written: the rules say that {banned} never is, however likely",
    )
    expect(
        got[:1] != [SOS] and PAD not in got,
        f"{got} is written: <sos> and <pad> are never chosen, however likely",
    )
    likeliest = (
        "of those allowed, 9 is likeliest, then 8, then <eos>. Ask for the last "
        "place, with all so far"
    )
    expect(got == [9, 8], f"{got} is written: {likeliest}")
    done("the words")


def ends(function: Any) -> None:
    toy = Toy(
        {
            (6,): {9: 1.0},
            (6, 9): {EOS: 1.0},
            (7,): {8: 1.0},
            (7, 8): {9: 1.0},
            (7, 8, 9): {8: 1.0},
            (7, 8, 9, 8): {EOS: 1.0},
        }
    )
    got = greedy_rows(function, toy, torch.tensor([[SOS, 6, EOS], [SOS, 7, EOS]]))
    shown = f"[9, <eos>] and [8, 9, 8, <eos>] are written, {got} is returned"
    specials = any({SOS, EOS} & set(row) for row in got)
    expect(
        not specials,
        f"{shown}: <sos> ({SOS}) and <eos> ({EOS}) are not part of a translation",
    )
    expect(cut(got[1]) == [8, 9, 8], f"{shown}: row 1 is not done when row 0 is")
    end = f"behind the end of row 0 comes only <pad> ({PAD}), up to the longest"
    expect(got == [[9, PAD, PAD], [8, 9, 8]], f"{shown}: {end}")
    done("the ends")


def stop(function: Any, extra: int) -> None:
    """A model that talks on, then one that ends at once."""
    src = torch.tensor([[SOS, 6, EOS, PAD, PAD], [SOS, 6, 6, 6, EOS]])
    got = [len(cut(row)) for row in greedy_rows(function, Toy({}), src)]
    rule = f"at most {extra} words more than ids in its row of src, <pad> not counted"
    shown = f"3 ids and two <pad>, and 5 ids; no <eos> comes: {got} words"
    expect(
        got == [3 + extra, 5 + extra], f"{shown}, not {[3 + extra, 5 + extra]}: {rule}"
    )
    asked, _ = ask(steps, function, Toy({(6,): {9: 1.0}, (6, 9): {EOS: 1.0}}), src)
    expect(
        asked < 4,
        (
            f"every row has said <eos> in step 2, but the model is asked {asked} "
            "times: stop then"
        ),
    )
    done("the stop")


def cache(cached_class: Any) -> None:
    layer, stuck, tokens = Layer(1), Layer(1), torch.tensor([[5, 7, 6], [4, 4, 9]])
    stuck.places = stuck.places[:1].expand(200, 12)  # as if each place were place 0
    memory, seen = random_numbers(2, 4, 12), torch.ones(2, 1, 1, 4, dtype=torch.bool)
    cached = ask(cached_class, layer, memory, seen)
    whole, unmoved = layer(tokens, memory, seen), stuck(tokens, memory, seen)
    for t in range(3):
        got = tensor(
            advance(cached, tokens[:, t]), "what two tokens give", (2, 12), "(B, D)"
        )
        mistakes = [
            (
                unmoved[:, t],
                (
                    "the new token is embedded at place 0; layer.embed needs to "
                    "know its place"
                ),
            )
        ]
        otherwise = (
            "compare with Layer.forward: the new place, and what the own attention sees"
        )
        match(
            got,
            whole[:, t],
            f"step {t} differs from place {t} without a cache",
            mistakes,
            otherwise,
        )
    done("the steps with a cache")


def source(cached_class: Any) -> None:
    layer, memory, tokens = Layer(2), random_numbers(2, 4, 12), torch.tensor([5, 7])
    got, wanted = (
        advance(ask(cached_class, layer, memory, _SEEN), tokens),
        layer(tokens[:, None], memory, _SEEN)[:, 0],
    )
    expect(
        near(got[0], wanted[0]),
        (
            "row 0, without <pad>: the cross-attention's keys and values are those "
            "of memory"
        ),
    )
    expect(
        near(got[1], wanted[1]),
        "row 1 has two <pad> in its source: src_mask belongs to the cross-attention",
    )
    done("the source")


def work(cached_class: Any) -> None:
    tokens = torch.tensor([[5, 7, 6, 4, 8]])
    n, _ = ask(places, cached_class, Layer(3), random_numbers(1, 4, 12), tokens)
    for part in ("key", "value"):
        own, cross = n["own", part], n["cross", part]
        made = f"{own} {part}s of the own attention are computed"
        expect(own == 5, f"5 steps make 5 places; here {made}: keep the old ones")
        expect(
            cross == 4,
            (
                f"memory has 4 places; {cross} of its {part}s are computed: once "
                "for all steps is enough"
            ),
        )
    done("the work")


def select(cached_class: Any) -> None:
    """Rows change places: everything goes with them."""
    layer, memory = Layer(4, places=0.0), random_numbers(2, 4, 12)
    for before, rows in ((1, [1, 0]), (0, [1, 1, 0])):
        moved, still = followed(
            cached_class,
            layer,
            memory,
            _SEEN,
            torch.tensor([[5], [7]])[:, :before],
            rows,
            6,
        )
        shown = f"after {before} step{'s' * (before != 1)} and select({rows})"
        expect(
            moved.shape == still.shape,
            f"{shown} there should be {len(rows)} rows, not {len(moved)}",
        )
        what = "own keys and values, if there are any, those of memory, and src_mask"
        expect(
            near(moved, still),
            f"{shown}, new row 0 is old row {rows[0]}: {what} all go with it",
        )
    done("the choice of rows")


def sums(function: Any) -> None:
    toy = Toy(
        {
            (6,): {7: 0.6, 8: 0.4},
            (6, 7): {9: 0.55, 8: 0.45},
            (6, 7, 9): {EOS: 0.5, 8: 0.3, 7: 0.2},
        }
    )
    found = hypotheses(function, toy, _ONE, 1, 5)
    expect(
        found,
        (
            "K = 1, 5 steps: 7, 9, <eos> are the likeliest, so one finished "
            "hypothesis is expected, not none"
        ),
    )
    ids, total = cut(found[0][0]), found[0][1]
    right = math.log(0.165)
    mistakes = [
        (0.165, "this is the probability, not its logarithm"),
        (1.65, "these are probabilities, added: add their logarithms"),
        (math.log(0.33), "the log-probability of <eos> counts too"),
        (
            right + 6,
            "the model's scores are added: make log-probabilities of them first",
        ),
    ]
    shown = (
        f"0.6 · 0.55 · 0.5 = 0.165, ln 0.165 = {right:.3f}; here {total:.4g}, for {ids}"
    )
    match(
        total, right, shown, mistakes, "a sum of log-probabilities, that of <eos> too"
    )
    done("the sums")


def kept(function: Any) -> None:
    """Seven sentences: which are found, in which order."""
    ends = {(6, first, second): {EOS: 1.0} for first in (4, 5, 6) for second in (7, 8)}
    toy = Toy(
        {
            (6,): {4: 0.55, 5: 0.37, 6: 0.05, EOS: 0.03},
            (6, 4): {7: 0.55, 8: 0.45},
            (6, 5): {7: 0.1, 8: 0.9},
            (6, 6): {7: 0.5, 8: 0.5},
            **ends,
        }
    )
    ranked = [
        [5, 8],
        [4, 7],
        [4, 8],
        [5, 7],
    ]  # with the probabilities 0.333, 0.3025, 0.2475, 0.037
    for K, wanted in ((1, [[4, 7]]), (2, ranked[:2]), (4, ranked)):
        got = [list(ids) for ids, _ in hypotheses(function, toy, _ONE, K, 3)]
        shown = f"K = {K}: {got}"
        expect(
            not any({PAD, SOS, EOS} & set(ids) for ids in got),
            f"{shown}: <sos>, <eos> and <pad> are not returned",
        )
        expect(
            len({*map(tuple, got)}) == len(got),
            f"{shown}: one twice. At first there is one prefix, not {K} alike",
        )
        expect(
            sorted(got) != sorted(wanted) or got == wanted,
            f"{shown}: all found, now the likeliest first",
        )
        expect(
            got == wanted,
            (
                f"{shown}, not {wanted}: keep the {K} best of all extensions, each "
                "with its own history"
            ),
        )
    done("the beam")


def finished(function: Any) -> None:
    """An early end: it stays, as it is."""
    toy = Toy(
        {
            (6,): {EOS: 0.4, 4: 0.6},
            (6, 4): {5: 0.9, EOS: 0.1},
            (6, 4, 5): {EOS: 0.55, 6: 0.45},
            (6, EOS): {4: 0.6, EOS: 0.4},
        }
    )
    found = {
        tuple(cut(ids)): total for ids, total in hypotheses(function, toy, _ONE, 2, 3)
    }
    shown = f"K = 2, 3 steps: {list(map(list, found))}"
    expect(
        not any(ids[2:] for ids in found),
        f"{shown}: was something returned that has not ended, or grew after it?",
    )
    expect(
        (4, 5) in found,
        (
            f"{shown}: [4, 5] ends in step 3, so the search has to go on after the "
            "first end"
        ),
    )
    expect(
        () in found,
        (
            f"{shown}: [] ends in step 1 with probability 0.4, stays, and is still "
            "among the best two"
        ),
    )
    shown = (
        f"[] has probability 0.4, ln 0.4 = {math.log(0.4):.3f}, in each step; here "
        f"it is {found[()]:.3f}"
    )
    match(found[()], math.log(0.4), shown, otherwise="a finished one stays as it is")
    done("the finished ones")


def rank(function: Any, k: int) -> None:
    """Three hypotheses; the length penalty changes their order."""
    given = [([4, 5, 6], -4.0), ([4, 5, 6, 7, 8, 9, 4, 5], -4.4), ([9], -4.1)]
    got = ranking(function, given, 1.0)
    expect(
        sorted(i for i, _ in got) == sorted(i for i, _ in given),
        f"the three come back as they are, not {got}",
    )
    score, right = {len(ids): score for ids, score in got}[8], -4.4 * (k + 1) / (k + 9)
    mistakes = [
        (-4.4 * (k + 1) / (k + 8), "L counts <eos>, so it is 9 here"),
        (-4.4 * 6 / (5 + 9), f"5 and 6 are the numbers of the paper; here k is {k}"),
    ]
    shown = (
        f"α = 1, log-probability -4.4, 8 ids and <eos>: {score:.4g}, not {right:.4g}"
    )
    match(score, right, shown, mistakes, "divide the log-probability by the penalty")
    expect(
        [s for _, s in got] == sorted((s for _, s in got), reverse=True),
        "the best, nearest to 0, comes first",
    )
    done("the n-best list")


def links(function: Any, threshold: float) -> None:
    """Two heads, three words of the source, three written."""
    low, high = threshold - 0.05, threshold + 0.05
    mean = torch.tensor(
        [
            [0.1, 0.2, 0.0, 0.5, 0.2, 0],
            [0.5, high, 0.05, 0.05, 0.4 - high, 0],
            [0.6, 0.05, low, 0.05, 0.3 - low, 0],
            [0.0, 0.9, 0.1, 0.0, 0.0, 0],
        ]
    )
    sway = torch.zeros(4, 6)
    sway[0, 1], sway[0, 3] = 0.2, -0.2  # how the two heads differ
    got = pairs(
        function,
        torch.stack([mean + sway, mean - sway]),
        torch.tensor([SOS, 8, 9, 7, EOS, PAD]),
    )
    shown = f"{sorted(got)} (source word, target word)"
    expect(got != {(0, 2), (1, 0)}, f"{shown}: the source word stands first in a pair")
    expect(got != {(3, 0), (1, 1)}, f"{shown}: the first word is 0; <sos> is no word")
    expect(
        not any(t == 3 for _, t in got),
        f"{shown}: row 3 is the one that writes <eos>; it has no link",
    )
    expect(
        all(s in (0, 1, 2) for s, _ in got),
        f"{shown}: the source has the words 0, 1, 2; the rest is special",
    )
    enough = (
        f"row 0 has its largest mean, 0.5, at word 2; row 1 has {high:.2f} for "
        f"word 0; row 2 at most {low:.2f}"
    )
    expect(
        got == {(2, 0), (0, 1)}, f"{shown}: (2, 0) and (0, 1) are expected: {enough}"
    )
    done("the links")


def links_wrong(function: Any) -> None:
    found, sure, possible = (
        [(0, 0), (1, 1), (2, 3), (3, 2)],
        [(0, 0), (1, 1), (2, 2)],
        [(3, 2)],
    )
    got = number(ask(function, found, sure, possible), "the error rate")
    mistakes = [
        (4 / 7, "a sure link is possible, too, whether or not it is listed among them"),
        (5 / 7, "this is 1 minus the error rate"),
    ]
    shown = f"4 found, 3 sure, 1 possible besides, 2 + 1 of them found: {got:.4g}"
    match(
        got, 2 / 7, shown, mistakes, "the formula gives 1 - (2 + 3) / (4 + 3) = 0.2857"
    )
    done("the error rate")


# ----------------------------------------------------------------- what public and
# hidden tests share


def greedy_rows(function: Any, model: Model, src: Tensor) -> list[list[int]]:
    """The rows that a greedy search returns."""
    got = ask(function, model, src)
    good = isinstance(got, Tensor) and got.dim() == 2 and len(got) == len(src)
    expect(
        good,
        (
            f"{len(src)} sentences: a tensor ({len(src)}, L) of ids is expected, "
            f"not {kind(got)}"
        ),
    )
    expect(
        got.dtype == torch.int64,
        f"ids are int64 (torch.long), here they are {got.dtype}",
    )
    return got.tolist()  # type: ignore[no-any-return]


def cut(ids: Iterable[int]) -> list[int]:
    """The words of a translation, whatever was forgotten: without ``<sos>`` before,
    ``<eos>`` and the rest behind."""
    row = [int(i) for i in ids]
    row = row[1:] if row[:1] == [SOS] else row
    row = row[: row.index(EOS)] if EOS in row else row
    while row[-1:] == [PAD]:
        row.pop()
    return row


def advance(cached: Any, tokens: Tensor) -> Tensor:
    """One step."""

    def step(tokens: Tensor) -> Any:
        return cached.step(tokens)

    got = ask(step, tokens)
    expect(isinstance(got, Tensor), f"step gives a tensor (B, D), not {kind(got)}")
    return single(got)  # type: ignore[no-any-return]


def followed(
    cached_class: Any,
    layer: Layer,
    memory: Tensor,
    seen: Tensor,
    tokens: Tensor,
    rows: list[int],
    last: int,
) -> tuple[Tensor, Tensor]:
    """A step after ``select(rows)``, and the same where these rows stood there from the
    start."""

    def select(rows: list[int]) -> str:
        moved.select(torch.tensor(rows))
        return "done"

    moved, still = (
        ask(cached_class, layer, memory, seen),
        ask(cached_class, layer, memory[rows], seen[rows]),
    )
    for token in tokens.T:
        advance(moved, token)
        advance(still, token[rows])
    ask(select, rows)
    new = (last + torch.arange(len(rows))) % 20 + 4  # another token in each row
    return advance(moved, new), advance(still, new)


def hypotheses(
    function: Any, model: Model, src: Tensor, K: int, limit: int
) -> list[tuple[list[int], float]]:
    """What a beam search returns, as ids and log-probability."""
    return _pairs_of(ask(function, model, src, K, limit), "log-probability", K)


def ranking(
    function: Any, given: list[tuple[list[int], float]], alpha: float
) -> list[tuple[list[int], float]]:
    """What comes back ranked, as ids and score."""
    return _pairs_of(ask(function, given, alpha), "score", len(given))


def pairs(function: Any, weights: Tensor, src: Tensor) -> set[tuple[int, int]]:
    """The links that an answer finds."""
    got = ask(function, weights, src)
    got = got.tolist() if isinstance(got, Tensor) else got
    good = isinstance(got, (list, tuple, set, frozenset)) and all(map(_two, got))
    expect(
        good,
        (
            "a list or set of pairs (source word, target word) is expected, not "
            f"{kind(got)}"
        ),
    )
    return {(int(s), int(t)) for s, t in got}


_SEEN = torch.tensor([[True, True, True, True], [True, True, False, False]]).view(
    2, 1, 1, 4
)


def _pairs_of(got: Any, name: str, most: int) -> list[tuple[list[int], float]]:
    good = isinstance(got, (list, tuple)) and all(
        _two(i) and isinstance(i[0], (list, tuple, Tensor)) for i in got
    )
    expect(good, f"a list of pairs (ids, {name}) is expected; here it is {kind(got)}")
    expect(
        len(got) <= most,
        f"{len(got)} hypotheses are returned; at most {most} are wanted",
    )
    return [([int(i) for i in ids], number(value, f"the {name}")) for ids, value in got]


def _two(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2
