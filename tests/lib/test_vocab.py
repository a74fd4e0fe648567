"""The vocabulary gives torchtext's ids, and torchtext's errors; ``vocab_equals_torchtext.py`` asks the real one."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lib.small import read_lines

from nmt_lib.special import SPECIALS
from nmt_lib.vocab import Vocab, build_vocab_from_iterator, vocab
from nmt_lib.words import spacy_words

SENTENCES = [["b", "a", "c", "a"], ["b", "é", "Z", "<unk>"]]


def itos(*args: Any, **options: Any) -> list[str]:
    return build_vocab_from_iterator(SENTENCES, *args, **options).get_itos()


def test_tokens_stand_by_falling_count_and_equals_by_code_point() -> None:
    assert itos() == ["a", "b", "<unk>", "Z", "c", "é"]


def test_specials_come_first_whatever_their_count() -> None:
    assert itos(specials=list(SPECIALS)) == [*SPECIALS, "a", "b", "Z", "c", "é"]


def test_rare_tokens_are_left_out_but_specials_stay() -> None:
    assert itos(min_freq=2, specials=["<pad>"]) == ["<pad>", "a", "b"]


def test_counts_in_a_given_order_keep_that_order() -> None:
    assert vocab(
        {"x": 1, "y": 3, "z": 2}, min_freq=2, specials=["<unk>"]
    ).get_itos() == ["<unk>", "y", "z"]


def test_an_unknown_token_is_an_error_until_a_default_index_is_set() -> None:
    words = Vocab(["<unk>", "a"])
    with pytest.raises(
        RuntimeError, match=r"^Token b not found and default index is not set"
    ):
        words["b"]
    with pytest.raises(RuntimeError):
        words.lookup_indices(["a", "b"])
    words.set_default_index(0)
    assert words(["a", "b"]) == words.lookup_indices(["a", "b"]) == [1, 0]
    words.set_default_index(None)
    with pytest.raises(RuntimeError):
        words["b"]


@pytest.mark.parametrize("index", [-1, 2])
def test_an_id_out_of_bounds_is_an_error(index: int) -> None:
    with pytest.raises(RuntimeError, match="out of bounds"):
        Vocab(["a", "b"]).lookup_tokens([0, index])


def test_doubles_are_refused() -> None:
    with pytest.raises(
        RuntimeError, match=r"^Duplicate token found in tokens list: a$"
    ):
        Vocab(["a", "b", "a"])
    with pytest.raises(RuntimeError, match="Duplicate"):
        itos(specials=["<pad>", "<pad>"])


@pytest.mark.parametrize(
    "call",
    [
        lambda words: words("ab"),  # its letters would be looked up
        lambda words: words.lookup_indices("ab"),
        lambda words: words([1]),
        lambda words: words[1],
        lambda words: words[None],
        lambda words: 1 in words,
        lambda words: list(words),  # without end
        lambda words: words.set_default_index("<unk>"),
        lambda words: words.set_default_index(1.0),
    ],
)
def test_what_is_no_token_is_never_taken_for_an_unknown_word(
    call: Callable[[Vocab], object],
) -> None:
    words = Vocab(["<unk>", "a"])
    words.set_default_index(0)
    with pytest.raises(TypeError):
        call(words)
    assert (words.get_itos(), words["b"]) == (["<unk>", "a"], 0)


def test_only_strings_are_tokens() -> None:
    with pytest.raises(TypeError, match="A token is a string, not 2"):
        Vocab(["a", 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="A token is a string, not 1"):
        build_vocab_from_iterator([[1, 2]])  # type: ignore[list-item]


def test_the_lists_handed_out_are_copies() -> None:
    words = Vocab(["a", "b"])
    words.get_itos().append("c")
    words.get_stoi()["c"] = 2
    assert len(words) == 2
    assert "c" not in words


@given(
    st.lists(st.lists(st.text(max_size=3), max_size=8), max_size=8), st.integers(1, 3)
)
def test_order_and_ids_hold_for_any_text(
    sentences: list[list[str]], min_freq: int
) -> None:
    words = build_vocab_from_iterator(sentences, min_freq, list(SPECIALS))
    counts = Counter(token for tokens in sentences for token in tokens)
    rest = words.get_itos()[len(SPECIALS) :]
    assert rest == sorted(rest, key=lambda token: (-counts[token], token))
    assert set(rest) == {
        token for token, count in counts.items() if count >= min_freq
    } - set(SPECIALS)
    assert words.lookup_tokens(words(words.get_itos())) == words.get_itos()
    assert words.get_stoi() == {token: i for i, token in enumerate(words.get_itos())}


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_ids_are_those_of_the_real_torchtext(real_data: Path, lang: str) -> None:
    """The golden file holds what torchtext 0.18 made of Multi30k: as it is, lower-cased before and after splitting."""
    file = real_data.parent / "golden" / "torchtext_vocab.json.gz"
    if not file.is_file():
        pytest.skip(f"no {file.name} beside NMT_DATA")
    golden = json.loads(gzip.decompress(file.read_bytes()))
    split, lines = (
        spacy_words(lang),
        read_lines(real_data / "multi30k" / f"train.{lang}"),
    )
    raw = [split(line) for line in lines]
    variants = {
        "raw": raw,
        "lower": [split(line.lower()) for line in lines],
        "lower_after": [[word.lower() for word in words] for words in raw],
    }
    for name, sentences in variants.items():
        expected = golden[name][lang]
        words = build_vocab_from_iterator(
            sentences, golden["min_freq"], golden["specials"]
        )
        words.set_default_index(1)
        assert len(words) == expected["size"]
        assert words.get_itos() == expected["itos"]
        assert sentences[:20] == expected["first20_tokens"]
        assert [[2, *words(tokens), 3] for tokens in sentences[:20]] == expected[
            "first20_ids"
        ]
