"""A1: tokenizer, vocabulary and batches. One public check for each graded part."""

from __future__ import annotations

from typing import Any

import torch

from .kit import ask, done, expect, kind, tensor
from .kit import between as between

SPECIALS = ["<pad>", "<unk>", "<sos>", "<eos>"]
ITOS = [*SPECIALS, "the", "dog", "sees", "a", "cat", "."]


def tokenize(function: Any) -> None:
    got = _list(function, "The dog sees Ann.")
    expect("The" not in got and "Ann" not in got, f"capitals are left in {got}: lower-case the text first")
    expect("" not in got, f"there is an empty token in {got}: split() without an argument leaves none")
    expect("ann." not in got, f"the full stop sticks to its word in {got}: a mark is a token of its own")
    expect(got == ["the", "dog", "sees", "ann", "."], f"'The dog sees Ann.' gives {got}")
    got = ask(function, "well,well")
    expect(got == ["well", ",", "well"], f"'well,well' gives {got}: a mark inside a word is cut off too")
    done("marks and capitals")


def numbers(function: Any, number: str) -> None:
    got = ask(function, "12 dogs")
    expect(got == [number, "dogs"], f"'12 dogs' gives {got}: a token of digits becomes {number}")
    got = ask(function, "b52")
    expect(got == ["b52"], f"'b52' gives {got}: only tokens that have nothing but digits are numbers")
    done("numbers")


def vocabulary(function: Any) -> None:
    got = _list(function, [["the", "dog"], ["the", "cat"]], min_freq=1)
    expect(got[:4] == SPECIALS, f"the first four are {got[:4]}, not {SPECIALS}: their ids are 0, 1, 2, 3")
    expect(sorted(got[4:]) == ["cat", "dog", "the"], f"after the special tokens come {got[4:]}: each word once")
    got = ask(function, [["the", "dog"], ["the", "cat"]], min_freq=2)
    expect("the" in got, f"'the' occurs twice, and min_freq=2 leaves it out: {got}")
    expect("dog" not in got, f"'dog' occurs once, and min_freq=2 leaves it in: {got}")
    done("special tokens and rare words")


def order(function: Any) -> None:
    got = ask(function, [["b", "a", "c", "c"], ["b", "a", "c"]], min_freq=1)
    words = [token for token in got if token not in SPECIALS]
    expect(words[:1] == ["c"], f"'c' is the most frequent word, so it comes first: {words}")
    expect(words == ["c", "a", "b"], f"'a' and 'b' are equally frequent: by code point 'a' comes first: {words}")
    done("the order")


def encode(function: Any) -> None:
    got = _list(function, ["the", "dog"], ITOS)
    expect(got[:1] == [2] and got[-1:] == [3], f"{got} does not stand between <sos>, id 2, and <eos>, id 3")
    expect(got == [2, 4, 5, 3], f"['the', 'dog'] gives {got}, not [2, 4, 5, 3]: an id is the place in itos")
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
    got = ask(function, [2, 4, 5, 6, 3, 0], ITOS)
    expect(isinstance(got, str), f"decode gives a text, not {kind(got)}")
    expect("<" not in got, f"{got!r}: <sos>, <eos> and <pad> are no part of the text")
    expect(got == "the dog sees", f"expected 'the dog sees', got {got!r}")
    got = ask(function, [2, 4, 5, 9, 3], ITOS)
    expect(got == "the dog.", f"expected 'the dog.', got {got!r}: no space stands before a mark")
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


def _list(function: Any, *args: Any, **kwargs: Any) -> list[Any]:
    got = ask(function, *args, **kwargs)
    expect(isinstance(got, list), f"{getattr(function, '__name__', 'it')} gives a list, not {kind(got)}")
    return got  # type: ignore[no-any-return]


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
