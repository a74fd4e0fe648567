"""A1: tokenizer, vocabulary and batches. One public check for each graded part."""

from __future__ import annotations

from typing import Any

import torch

from .kit import ask, done, expect, kind, tensor
from .kit import between as between
from .kit import spares as spares

WORDS = ["the", "dog", "sees", "a", "cat", "."]
Names = list[str]  # of the special tokens, in their order


def tokenize(function: Any) -> None:
    hint = "small letters, and each mark a token of its own, wherever it stands"
    _gives(function, ["The dog sees Ann."], ["the", "dog", "sees", "ann", "."], hint)
    _gives(function, ["well,well"], ["well", ",", "well"], hint)
    done("marks and capitals")


def numbers(function: Any, number: str) -> None:
    _gives(
        function,
        ["12 b52"],
        [number, "b52"],
        f"a token of nothing but digits becomes {number}",
    )
    done("numbers")


def vocabulary(function: Any, specials: Names) -> None:
    got = ask(function, [["the", "dog"], ["the", "cat"]], min_freq=2)
    expect(
        isinstance(got, list), f"build_vocab gives a list of tokens, not {kind(got)}"
    )
    expect(
        got[:4] == specials,
        f"the first four are {got[:4]}, not {specials}: their ids are 0, 1, 2, 3",
    )
    wanted = (
        "'the' occurs twice, 'dog' and 'cat' once, and with min_freq=2 'the' alone "
        "stays"
    )
    expect(got[4:] == ["the"], f"after the special tokens come {got[4:]}: {wanted}")
    done("special tokens and rare words")


def order(function: Any, specials: Names) -> None:
    words = [
        token
        for token in ask(function, [["b", "a", "c", "c"], ["b", "a", "c"]], 1)
        if token not in specials
    ]
    expect(
        words[:1] == ["c"], f"'c' is the most frequent word, so it comes first: {words}"
    )
    expect(
        words == ["c", "a", "b"],
        f"'a' and 'b' are equally frequent: by code point 'a' comes first: {words}",
    )
    done("the order")


def encode(function: Any, specials: Names) -> None:
    sos, eos = _ids(specials)[2:]
    hint = f"<sos> ({sos}), the positions of the words in itos, <eos> ({eos})"
    _gives(function, [["the", "dog"], specials + WORDS], [sos, 4, 5, eos], hint)
    done("<sos>, ids, <eos>")


def unknown(function: Any, specials: Names) -> None:
    got, unk = ask(function, ["the", "owl"], specials + WORDS), _ids(specials)[1]
    expect(
        got[2:3] == [unk],
        f"'owl' is not in the vocabulary, so its id is {unk} (<unk>): {got}",
    )
    done("unknown words")


def longest(function: Any, most: int, specials: Names) -> None:
    got = ask(function, ["dog"] * 50, specials + WORDS)
    expect(
        len(got) == most,
        f"50 words give {len(got)} ids; {most} is the most, <sos> and <eos> included",
    )
    expect(
        got[-1] == _ids(specials)[3],
        "a long sentence that is cut has to end with <eos> too",
    )
    done("long sentences")


def decode(function: Any, specials: Names) -> None:
    pad, _, sos, eos = _ids(specials)
    hint = (
        "<sos>, <eos> and <pad> are no part of the text, and no space stands "
        "before a mark"
    )
    _gives(function, [[sos, 4, 5, 9, eos, pad], specials + WORDS], "the dog.", hint)
    done("decode")


def padding(function: Any, specials: Names) -> None:
    pad, _, sos, eos = _ids(specials)
    short, long = [sos, 4, eos], [sos, 4, 5, 6, eos]
    src = tensor(
        _batch(function, [(short, [sos, 5, eos]), (long, [sos, 5, 6, eos])])[0],
        "src",
        (2, 5),
    )
    expect(src.dtype == torch.int64, f"ids are int64 (torch.long), src is {src.dtype}")
    right = [[*short, pad, pad], long]
    expect(
        src.tolist() == right,
        (
            f"src is {src.tolist()}, not {right}: <pad> ({pad}) stands on the "
            "right, behind <eos>"
        ),
    )
    done("padding")


def shift(function: Any, specials: Names) -> None:
    _, _, sos, eos = _ids(specials)
    _, tgt_in, tgt_out = _batch(function, [([sos, 4, eos], [sos, 5, 6, eos])])
    right = [[sos, 5, 6]]
    expect(
        tgt_in.tolist() == right,
        f"tgt_in is {tgt_in.tolist()}, not {right}: <eos> is never read",
    )
    hint = f"not {[[5, 6, eos]]}: nobody has to say <sos>, and <eos> has to be said"
    expect(tgt_out.tolist() == [[5, 6, eos]], f"tgt_out is {tgt_out.tolist()}, {hint}")
    done("the shifted target")


def plan(function: Any) -> None:
    lengths = [3, 9, 4, 8, 3, 7]
    got = _plan(function, lengths, 16)
    expect(
        sorted(i for rows in got for i in rows) == list(range(6)),
        f"each index, 0 to 5, stands in one batch: {got}",
    )
    worst = max(len(rows) * max(lengths[i] for i in rows) for rows in got)
    expect(
        worst <= 16,
        (
            f"a batch has {worst} ids; 16 is the budget, and padding counts: "
            "sentences × longest"
        ),
    )
    done("the budget")


def crowd(function: Any, most: int) -> None:
    got = _plan(function, [2] * 60, 1000)
    expect(
        max(map(len, got)) <= most,
        f"{max(map(len, got))} sentences in a batch; {most} are the most",
    )
    expect(
        len(got) == -(-60 // most),
        f"60 short sentences fill {len(got)} batches: fill one before the next",
    )
    done("full batches")


def _ids(specials: Names) -> list[int]:
    """Of <pad>, <unk>, <sos> and <eos>."""
    return [specials.index(f"<{name}>") for name in ("pad", "unk", "sos", "eos")]


def _gives(function: Any, args: list[Any], right: Any, hint: str) -> None:
    got = ask(function, *args)
    same = isinstance(got, type(right)) and got == right
    expect(same, f"{args[0]!r} gives {got!r}, not {right!r}: {hint}")


def _batch(
    function: Any, pairs: list[tuple[list[int], list[int]]]
) -> tuple[torch.Tensor, ...]:
    got = ask(function, pairs)
    three = isinstance(got, (tuple, list)) and [
        getattr(one, "ndim", 0) for one in got
    ] == [2, 2, 2]
    expect(
        three,
        (
            "make_batch gives three tensors, src, tgt_in, tgt_out, each (B, "
            f"length), not {kind(got)}"
        ),
    )
    return tuple(got)


def _plan(function: Any, lengths: list[int], budget: int) -> list[list[int]]:
    got = [list(rows) for rows in ask(function, lengths, budget)]
    expect(all(got), f"a batch is empty: {got}")
    return got
