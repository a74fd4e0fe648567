"""A6: greedy, beam and cached decoding, reading attention. Examples that need more than
``gives``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from nmt_lib import EOS, PAD, SOS

from ..standins.a6 import *
from .kit import *

SEEN = torch.tensor([[True] * 4, [True, True, False, False]]).view(2, 1, 1, 4)


def stop(function: Any, extra: int) -> None:
    """A model that never says ``<eos>``, then one that says it in step 2."""
    src = torch.tensor([[SOS, 6, EOS, PAD, PAD], [SOS, 6, 6, 6, EOS]])
    got = [len(cut(row)) for row in greedy_rows(function, Toy({}), src)]
    hint = f"{extra} words more than ids in its row of src, <pad> not counted"
    match(got, [3 + extra, 5 + extra], "without <eos>, the rows have", hint=hint)
    _, calls = heard(function, Toy({(6,): {9: 1.0}, (6, 9): {EOS: 1.0}}), src)
    hint = "one call a step for all rows together, and none after every row is finished"
    match(calls, 2, "both rows end in step 2; calls of the model:", hint=hint)
    done("the stop")


def cache(cached_class: Any, window: int) -> None:
    tokens, memory = torch.arange(2 * window)[None] % 20 + 4, random_numbers(1, 4, 12)
    right, wide = (
        Layer(1, n)(tokens, memory, SEEN[:1])[0, :, :3] for n in (window, 200)
    )
    cached = ask(cached_class, Layer(1, window), memory, SEEN[:1])
    for t in range(2 * window):
        got = advance(cached, tokens[:, t])[0, :3]
        known, hint = (
            (wide[t], f"the window is {window}"),
            "which start does embed get?",
        )
        match(got, right[t], f"step {t} gives", known, hint=hint)
    done("the steps with a cache")


def source(cached_class: Any, window: int) -> None:
    layer, memory = Layer(2, window), random_numbers(2, 4, 12)
    got = advance(ask(cached_class, layer, memory, SEEN), torch.tensor([5, 7]))
    right = layer(torch.tensor([[5], [7]]), memory, SEEN)[:, 0]
    hint = "row 0 is wrong: cross takes its keys and values from memory"
    expect(near(got[0], right[0]), hint)
    expect(near(got[1], right[1]), "row 1 has two <pad> in its source: use src_mask")
    done("the source")


def select(cached_class: Any, window: int) -> None:
    """Rows change places, with everything that belongs to them."""
    layer, memory = Layer(4, window, positions=0.0), random_numbers(2, 4, 12)
    for before, rows in ((1, [1, 0]), (0, [1, 1, 0])):
        tokens = torch.tensor([[5], [7]])[:, :before]
        moved, still = followed(cached_class, layer, memory, SEEN, tokens, rows, 6)
        what = "row 0 is not old row 1: keys and values of own and memory, src_mask?"
        expect(near(moved, still), f"select({rows}) after {before} steps: {what}")
    done("the choice of rows")


# -------------------------------------------------- what public and hidden tests share


def greedy_rows(function: Any, model: Model, src: Tensor) -> list[list[int]]:
    """The rows that a greedy search returns."""
    return rows_of(ask(function, model, src), src)


def rows_of(got: Any, src: Tensor) -> list[list[int]]:
    good = isinstance(got, Tensor) and got.dim() == 2 and len(got) == len(src)
    expect(good, f"expected a tensor of ids ({len(src)}, L), got {kind(got)}")
    expect(got.dtype == torch.int64, f"ids should be torch.long, got {got.dtype}")
    return got.tolist()  # type: ignore[no-any-return]


def cut(ids: Iterable[int]) -> list[int]:
    """The words of a translation, even if it still has ``<sos>``, ``<eos>`` or
    ``<pad>``."""
    row = [int(i) for i in ids]
    row = row[1:] if row[:1] == [SOS] else row
    row = row[: row.index(EOS)] if EOS in row else row
    while row[-1:] == [PAD]:
        row.pop()
    return row


def advance(cached: Any, tokens: Tensor) -> Tensor:
    """One step."""
    got = ask(part(cached.step, lambda got: got, "step"), tokens)
    return single(tensor(got, "the result of step", (len(tokens), 12), "(B, D)"))


def followed(
    class_: Any, layer: Layer, memory: Any, seen: Any, tokens: Any, rows: Any, n: int
) -> tuple[Tensor, Tensor]:
    """A step after ``select(rows)``, and the same step of a cache that had these rows
    from the start; n chooses its tokens."""
    moved = ask(class_, layer, memory, seen)
    still = ask(class_, layer, memory[rows], seen[rows])
    for token in tokens.T:
        advance(moved, token)
        advance(still, token[rows])
    ask(part(moved.select, lambda _: "done", "select"), torch.tensor(rows))
    new = (n + torch.arange(len(rows))) % 20 + 4  # another token in each row
    return advance(moved, new), advance(still, new)


def pairs_of(got: Any, name: str, most: int) -> list[tuple[list[int], float]]:
    """Hypotheses as a search or a ranking returns them."""
    good = isinstance(got, (list, tuple)) and all(len(pair) == 2 for pair in got)
    wanted = f"a list of at most {most} pairs (ids, {name})"
    expect(good and len(got) <= most, f"expected {wanted}, got {kind(got)}")
    return [([int(i) for i in ids], number(value, f"the {name}")) for ids, value in got]


def hypotheses(function: Any, model: Model, src: Tensor, K: int, limit: int) -> Any:
    """What a beam search returns, as ids and log-probability."""
    return pairs_of(ask(function, model, src, K, limit), "log-probability", K)


def ids_of(function: Any) -> Any:
    """The function that returns the ids of the hypotheses, best first."""
    return part(function, lambda g: [cut(i) for i, _ in pairs_of(g, "score", 9)], "ids")


def numbers_of(function: Any) -> Any:
    """The function that returns their log-probabilities or scores."""

    def numbers(got: Any) -> Tensor:
        return torch.tensor([n for _, n in pairs_of(got, "number", 9)])

    return part(function, numbers, "numbers")


def pairs(got: Any) -> set[tuple[int, int]]:
    """The links that an answer finds."""
    got = got.tolist() if isinstance(got, Tensor) else list(got)
    good = all(len(pair) == 2 for pair in got)
    expect(good, f"expected pairs (source word, target word), got {kind(got)}")
    return {(int(s), int(t)) for s, t in got}
