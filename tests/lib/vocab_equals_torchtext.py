"""The real torchtext 0.18 gives what ``nmt_lib.vocab`` gives: ids, order, errors.

``make test-torchtext`` runs this in an environment that holds torchtext.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torchtext
from hypothesis import given, settings
from hypothesis import strategies as st

import nmt_lib.vocab as ours
from nmt_lib.special import SPECIALS

torchtext.disable_torchtext_deprecation_warning()
import torchtext.vocab as theirs  # noqa: E402

# Lone surrogates (category Cs) are left out, and lists of what is no string where they
# are looked up: torchtext crashes.
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
# A few tokens, so that they occur repeatedly. é is one character or two, and the order
# of U+FFFF and 😀 depends on the encoding.
FEW = ["a", "b", "B", "", " ", "\0", "é", "e\u0301", "ß", "ẞ", "中", "\uffff", "😀"]
TOKEN = st.sampled_from([*FEW, *SPECIALS]) | ANY
TOKENS = st.lists(TOKEN, max_size=6)
SPECIAL_TOKENS = TOKENS | st.just(list(SPECIALS)) | st.none()
NO_TOKEN = st.sampled_from([0, 1.0, None, b"a"])
INDEX = st.integers(-2, 9)
# No deadline: setting up one of torchtext's vocabularies takes a twentieth of a second.
many = settings(deadline=None, max_examples=300)


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """What a call gives, or the type of its error."""
    try:
        return call(*args)
    except Exception as error:
        return type(error)


def assert_same(mine: Any, real: Any) -> None:
    """Both are the same error, or vocabularies with the same content."""
    if isinstance(mine, type) or isinstance(real, type):
        assert mine is real
    else:
        assert mine.get_itos() == real.get_itos()
        assert mine.get_stoi() == real.get_stoi()
        assert len(mine) == len(real)


@many
@given(st.lists(TOKENS | st.just([0])), st.integers(0, 3), SPECIAL_TOKENS)
def test_building_from_sentences(
    sentences: list[list[Any]], min_freq: int, specials: list[str] | None
) -> None:
    args = sentences, min_freq, specials
    modules = ours, theirs
    assert_same(*(outcome(m.build_vocab_from_iterator, *args) for m in modules))


@many
@given(st.dictionaries(TOKEN, st.integers(-1, 4)), st.integers(0, 3), SPECIAL_TOKENS)
def test_building_from_counts(
    counts: dict[str, int], min_freq: int, specials: list[str] | None
) -> None:
    # torchtext removes the special tokens from the counts, so each gets a copy.
    copies = [(OrderedDict(counts), min_freq, specials) for _ in range(2)]
    assert_same(outcome(ours.vocab, *copies[0]), outcome(theirs.vocab, *copies[1]))


@many
@given(
    st.lists(TOKEN, unique=True, max_size=6),
    st.lists(
        st.one_of(
            st.tuples(
                st.sampled_from(["__getitem__", "__contains__"]), TOKEN | NO_TOKEN
            ),
            st.tuples(
                st.sampled_from(["__call__", "lookup_indices"]),
                TOKENS | st.just("ab"),
            ),
            st.tuples(st.just("lookup_token"), INDEX | st.just("a")),
            st.tuples(st.just("lookup_tokens"), st.lists(INDEX, max_size=4)),
            st.tuples(
                st.just("set_default_index"),
                INDEX | st.sampled_from([None, "a", 1.0]),
            ),
        ),
        max_size=12,
    ),
)
def test_any_sequence_of_calls(tokens: list[str], calls: list[tuple[str, Any]]) -> None:
    pair = ours.Vocab(tokens), theirs.vocab(OrderedDict.fromkeys(tokens, 1))
    for name, argument in calls:
        mine, real = (outcome(getattr(v, name), argument) for v in pair)
        assert mine == real
    assert_same(*pair)


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (lambda m: m.vocab({"a": 1})["b"], "Token b not found and default index is "),
        (lambda m: m.vocab({"a": 1}).lookup_token(1), "Specified index 1 is out of "),
        (lambda m: m.vocab({}, specials=["x", "x"]), "Duplicate token found in tokens"),
    ],
)
def test_errors_say_the_same(call: Callable[[Any], object], head: str) -> None:
    for module in (ours, theirs):
        with pytest.raises(RuntimeError, match=f"^{head}"):
            call(module)


def test_the_calls_have_the_same_parameters() -> None:
    def parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
        found = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.default) for parameter in found]

    mine, real = vars(ours.Vocab), vars(theirs.Vocab)
    pairs = [(mine[name], real[name]) for name in mine.keys() & real.keys()]
    pairs = [both for both in pairs if inspect.isfunction(both[0])]
    for name in ("vocab", "build_vocab_from_iterator"):
        pairs.append((getattr(ours, name), getattr(theirs, name)))
    for mine, real in pairs:
        if mine.__name__ != "__init__":  # theirs gets a table of C++
            # Theirs have more parameters at the end: special_first, max_tokens.
            assert parameters(mine) == parameters(real)[: len(parameters(mine))]
