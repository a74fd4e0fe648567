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
    hint = f"a token of nothing but digits becomes {number}"
    _gives(function, ["12 dogs"], [number, "dogs"], hint)
    _gives(function, ["b52"], ["b52"], hint)
    done("numbers")


def vocabulary(function: Any) -> None:
    sentences = [["the", "dog"], ["the", "cat"]]
    got = ask(function, sentences, min_freq=1)
    expect(isinstance(got, list), f"build_vocab gives a list of tokens, not {kind(got)}")
    expect(got[:4] == SPECIALS, f"the first four are {got[:4]}, not {SPECIALS}: their ids are 0, 1, 2, 3")
    expect(sorted(got[4:]) == ["cat", "dog", "the"], f"after the special tokens come {got[4:]}: each word once")
    got = ask(function, sentences, min_freq=2)
    expect("the" in got, f"'the' occurs twice, and min_freq=2 leaves it out: {got}")
    expect("dog" not in got, f"'dog' occurs once, and min_freq=2 leaves it in: {got}")
    done("special tokens and rare words")


def order(function: Any) -> None:
    words = [token for token in ask(function, [["b", "a", "c", "c"], ["b", "a", "c"]], 1) if token not in SPECIALS]
    expect(words[:1] == ["c"], f"'c' is the most frequent word, so it comes first: {words}")
    expect(words == ["c", "a", "b"], f"'a' and 'b' are equally frequent: by code point 'a' comes first: {words}")
    done("the order")


def encode(function: Any) -> None:
    hint = "<sos> (2), the places of the words in itos, <eos> (3)"
    _gives(function, [["the", "dog"], ITOS], [2, 4, 5, 3], hint)
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
    _gives(function, [[2, 4, 5, 6, 3, 0], ITOS], "the dog sees", hint)
    _gives(function, [[2, 4, 5, 9, 3], ITOS], "the dog.", hint)
    done("decode")


def padding(function: Any) -> None:
    src = tensor(_batch(function, [([2, 4, 3], [2, 5, 3]), ([2, 4, 5, 6, 3], [2, 5, 6, 3])])[0], "src", (2, 5))
    expect(src.dtype == torch.int64, f"ids are int64 (torch.long), src is {src.dtype}")
    expect(src[0, 0] != 0, f"the short row is {src[0].tolist()}: <pad> stands on the right, behind <eos>")
    expect(src.tolist() == [[2, 4, 3, 0, 0], [2, 4, 5, 6, 3]], f"src is {src.tolist()}")
    done("padding")


def shift(function: Any) -> None:
    _, tgt_in, tgt_out = _batch(function, [([2, 4, 3], [2, 5, 6, 3])])
    said = tgt_out[0].tolist()
    expect(tgt_in.tolist() == [[2, 5, 6]], f"tgt_in is {tgt_in.tolist()}, not [[2, 5, 6]]: <eos> is never read")
    expect(said[0] != 2, f"nobody has to say <sos>: tgt_out is one place further on: {said}")
    expect(said[-1] == 3, f"tgt_out of the longest sentence ends with <eos>: {said}")
    expect(len(said) == 3, f"tgt_in has 3 places and tgt_out {len(said)}: they must fit")
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
    got = _plan(function, [2, 20] * 4, 40)
    expect(len(got) < 8, f"{got}: one sentence a batch is no batching")
    done("full batches")


def _gives(function: Any, args: list[Any], right: Any, hint: str) -> None:
    got = ask(function, *args)
    same = isinstance(got, type(right)) and got == right
    expect(same, f"{args[0]!r} gives {got!r}, not {right!r}: {hint}")


def _batch(function: Any, pairs: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, ...]:
    got = ask(function, pairs)
    expect(isinstance(got, (tuple, list)) and len(got) == 3, "make_batch gives three tensors: src, tgt_in, tgt_out")
    for name, one in zip(("src", "tgt_in", "tgt_out"), got, strict=True):
        right = isinstance(one, torch.Tensor) and one.ndim == 2
        expect(right, f"{name} is {kind(one)}; one row a sentence is wanted, a tensor (B, length)")
    return tuple(got)


def _plan(function: Any, lengths: list[int], budget: int) -> list[list[int]]:
    got = [list(rows) for rows in ask(function, lengths, budget)]
    expect(all(got), f"a batch is empty: {got}")
    return got
