"""The vocabulary; what the real torchtext gives is in ``torchtext_ids.json``."""

import json
from collections.abc import Callable

import pytest

from nmt_lib.data import tokens
from nmt_lib.data.tokens import Vocab
from tests.lib import torchtext_ids
from tests.lib.small import tiny_corpus


def test_an_unknown_token_is_an_error_until_a_default_index_is_set() -> None:
    words = Vocab(["<unk>", "a"])
    with pytest.raises(RuntimeError, match="Token b not found and default index is"):
        words(["a", "b"])
    words.set_default_index(0)
    assert words(["a", "b"]) == [1, 0]
    words.set_default_index(None)
    with pytest.raises(RuntimeError):
        words["b"]


@pytest.mark.parametrize("index", [-1, 2])
def test_an_id_out_of_bounds_is_an_error(index: int) -> None:
    with pytest.raises(RuntimeError, match="out of bounds"):
        Vocab(["a", "b"]).lookup_tokens([0, index])


def test_a_token_that_occurs_twice_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"Duplicate token .* list: a$"):
        Vocab(["a", "b", "a"])


@pytest.mark.parametrize(
    "call",
    [
        lambda words: words("ab"),  # its letters would be looked up
        lambda words: words([1]),
        lambda words: None in words,
        lambda words: list(words),  # would never end
        lambda words: words.set_default_index("<unk>"),
        lambda words: Vocab(["a", 2]),  # type: ignore[list-item]
    ],
)
def test_only_strings_are_tokens(call: Callable[[Vocab], object]) -> None:
    words = Vocab(["<unk>", "a"])
    words.set_default_index(0)
    with pytest.raises(TypeError):
        call(words)


def test_what_a_caller_changes_is_a_copy() -> None:
    words = Vocab(["a", "b"])
    words.get_itos().append("c")
    assert len(words) == 2 and "c" not in words


def test_the_ids_are_those_of_the_real_torchtext(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torchtext_ids, "generate", tiny_corpus)
    golden = json.loads(torchtext_ids.FILE.read_text(encoding="utf-8"))
    assert torchtext_ids.ids(tokens) == golden
