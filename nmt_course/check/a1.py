"""A1: tokenizer, vocabulary and batches. One public check for each graded part."""

from __future__ import annotations

from typing import Any

import torch

from .kit import ask, done, expect, kind, tensor
from .kit import between as between

SPECIALS = ["<pad>", "<unk>", "<sos>", "<eos>"]
ITOS = [*SPECIALS, "the", "dog", "sees", "a", "cat", "."]


def tokenize(function: Any) -> None:
    hint = "small letters, and each mark a token of its own, wherever it stands"
    _gives(function, ["The dog sees Ann."], ["the", "dog", "sees", "ann", "."], hint)
    _gives(function, ["well,well"], ["well", ",", "well"], hint)
    done("marks and capitals")


def numbers(function: Any, number: str) -> None:
    _gives(function, ["12 b52"], [number, "b52"], f"a token of nothing but digits becomes {number}")
    done("numbers")


def vocabulary(function: Any) -> None:
    got = ask(function, [["the", "dog"], ["the", "cat"]], min_freq=2)
    expect(isinstance(got, list), f"build_vocab gives a list of tokens, not {kind(got)}")
    expect(got[:4] == SPECIALS, f"the first four are {got[:4]}, not {SPECIALS}: their ids are 0, 1, 2, 3")
    wanted = "'the' occurs twice, 'dog' and 'cat' once, and with min_freq=2 'the' alone stays"
    expect(got[4:] == ["the"], f"after the special tokens come {got[4:]}: {wanted}")
    done("special tokens and rare words")


def order(function: Any) -> None:
    words = [token for token in ask(function, [["b", "a", "c", "c"], ["b", "a", "c"]], 1) if token not in SPECIALS]
    expect(words[:1] == ["c"], f"'c' is the most frequent word, so it comes first: {words}")
    expect(words == ["c", "a", "b"], f"'a' and 'b' are equally frequent: by code point 'a' comes first: {words}")
    done("the order")


def encode(function: Any) -> None:
    _gives(function, [["the", "dog"], ITOS], [2, 4, 5, 3], "<sos> (2), the places of the words in itos, <eos> (3)")
    done("<sos>, ids, <eos>")


def unknown(function: Any) -> None:
    got = ask(function, ["the", "owl"], ITOS)
    expect(got[2:3] == [1], f"'owl' is not in the vocabulary, so its id is 1 (<unk>): {got}")
    done("unknown words")


def longest(function: Any, most: int) -> None:
    got = ask(function, ["dog"] * 50, ITOS)
    expect(len(got) == most, f"50 words give {len(got)} ids; {most} is the most, <sos> and <eos> included")
    expect(got[-1] == 3, "a long sentence that is cut has to end with <eos> too")
    done("long sentences")


def decode(function: Any) -> None:
    hint = "<sos>, <eos> and <pad> are no part of the text, and no space stands before a mark"
    _gives(function, [[2, 4, 5, 9, 3, 0], ITOS], "the dog.", hint)
    done("decode")


def padding(function: Any) -> None:
    src = tensor(_batch(function, [([2, 4, 3], [2, 5, 3]), ([2, 4, 5, 6, 3], [2, 5, 6, 3])])[0], "src", (2, 5))
    expect(src.dtype == torch.int64, f"ids are int64 (torch.long), src is {src.dtype}")
    right = [[2, 4, 3, 0, 0], [2, 4, 5, 6, 3]]
    expect(src.tolist() == right, f"src is {src.tolist()}, not {right}: <pad> stands on the right, behind <eos>")
    done("padding")


def shift(function: Any) -> None:
    _, tgt_in, tgt_out = _batch(function, [([2, 4, 3], [2, 5, 6, 3])])
    expect(tgt_in.tolist() == [[2, 5, 6]], f"tgt_in is {tgt_in.tolist()}, not [[2, 5, 6]]: <eos> is never read")
    hint = "not [[5, 6, 3]]: nobody has to say <sos>, and <eos> has to be said"
    expect(tgt_out.tolist() == [[5, 6, 3]], f"tgt_out is {tgt_out.tolist()}, {hint}")
    done("the shifted target")


def plan(function: Any) -> None:
    lengths = [3, 9, 4, 8, 3, 7]
    got = _plan(function, lengths, 16)
    expect(sorted(i for rows in got for i in rows) == list(range(6)), f"each place, 0 to 5, stands in one batch: {got}")
    worst = max(len(rows) * max(lengths[i] for i in rows) for rows in got)
    expect(worst <= 16, f"a batch has {worst} ids; 16 is the budget, and padding counts: sentences × longest")
    done("the budget")


def crowd(function: Any, most: int) -> None:
    got = _plan(function, [2] * 60, 1000)
    expect(max(map(len, got)) <= most, f"{max(map(len, got))} sentences in a batch; {most} are the most")
    expect(len(got) == -(-60 // most), f"60 short sentences fill {len(got)} batches: fill one before the next")
    done("full batches")


def _gives(function: Any, args: list[Any], right: Any, hint: str) -> None:
    got = ask(function, *args)
    same = isinstance(got, type(right)) and got == right
    expect(same, f"{args[0]!r} gives {got!r}, not {right!r}: {hint}")


def _batch(function: Any, pairs: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, ...]:
    got = ask(function, pairs)
    three = isinstance(got, (tuple, list)) and [getattr(one, "ndim", 0) for one in got] == [2, 2, 2]
    expect(three, f"make_batch gives three tensors, src, tgt_in, tgt_out, each (B, length), not {kind(got)}")
    return tuple(got)


def _plan(function: Any, lengths: list[int], budget: int) -> list[list[int]]:
    got = [list(rows) for rows in ask(function, lengths, budget)]
    expect(all(got), f"a batch is empty: {got}")
    return got
