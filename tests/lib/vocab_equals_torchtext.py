"""The real torchtext 0.18 gives what ``nmt_lib.vocab`` gives: ids, order, errors.

``make test-torchtext`` runs this, in an environment that holds torchtext; without it, the first import fails.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupyter_client
import nbformat
import pytest
import spacy
import torch
import torchtext
from hypothesis import given, settings
from hypothesis import strategies as st

torchtext.disable_torchtext_deprecation_warning()
import torchtext.transforms as T  # noqa: E402
import torchtext.vocab as theirs  # noqa: E402
from tests.lib.small import read_lines  # noqa: E402

import nmt_lib as nmt  # noqa: E402
import nmt_lib.vocab as ours  # noqa: E402
from nmt_lib.batching import pad_batch  # noqa: E402
from nmt_lib.special import SPECIALS  # noqa: E402
from nmt_lib.tokenizers import WordTokenizer  # noqa: E402
from nmt_lib.words import spacy_words  # noqa: E402

CHAPTER = Path(__file__).resolve().parents[2] / "notebooks" / "01_tokenization.ipynb"

# Lone surrogates (category Cs) are left out: looking one up crashes torchtext.
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
# Few, so that they meet again. é is one character or two, and U+FFFF comes before 😀 (not so where two surrogates stand
# for 😀).
FEW = st.sampled_from(
    [
        "a",
        "b",
        "B",
        "",
        " ",
        "\0",
        "é",
        "e\u0301",
        "ß",
        "ẞ",
        "中",
        "\uffff",
        "😀",
        *SPECIALS,
    ]
)
TOKEN = FEW | ANY
SPECIAL_TOKENS = st.lists(TOKEN, max_size=4) | st.just(list(SPECIALS)) | st.none()
SENTENCES = st.lists(st.lists(TOKEN, max_size=8), max_size=8)
slow = settings(
    deadline=None
)  # each vocabulary of torchtext sets 30 million places up: a twentieth of a second
many = settings(slow, max_examples=300)


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """What a call gives, or the type of its error."""
    try:
        return call(*args)
    except Exception as error:
        return type(error)


def same(mine: Any, real: Any) -> None:
    """Both are the same error, or vocabularies that hold the same."""
    if isinstance(mine, type) or isinstance(real, type):
        assert mine is real
        return
    assert mine.get_itos() == real.get_itos()
    assert mine.get_stoi() == real.get_stoi()
    assert len(mine) == len(real)
    assert outcome(mine, ["no such token"]) == outcome(real, ["no such token"])


@many
@given(SENTENCES, st.integers(0, 3), SPECIAL_TOKENS, st.lists(TOKEN))
def test_building(
    sentences: list[list[str]],
    min_freq: int,
    specials: list[str] | None,
    text: list[str],
) -> None:
    mine, real = (
        outcome(m.build_vocab_from_iterator, sentences, min_freq, specials)
        for m in (ours, theirs)
    )
    same(mine, real)
    if isinstance(mine, type):
        return
    assert [token in mine for token in text] == [token in real for token in text]
    assert outcome(mine, text) == outcome(
        real, text
    )  # an error where a word is unknown
    for default in (0, 1, 99):
        mine.set_default_index(default)
        real.set_default_index(default)
        assert mine(text) == real(text) == mine.lookup_indices(text)


@slow
@given(st.dictionaries(TOKEN, st.integers(-1, 4)), st.integers(0, 3), SPECIAL_TOKENS)
def test_counts_in_a_given_order(
    counts: dict[str, int], min_freq: int, specials: list[str] | None
) -> None:
    # torchtext takes the special tokens out of the counts that it is given: it gets a copy of its own.
    mine, real = (
        outcome(m.vocab, OrderedDict(counts), min_freq, specials)
        for m in (ours, theirs)
    )
    same(mine, real)


INDEX = st.integers(-2, 9)
CALLS = st.one_of(
    st.tuples(st.sampled_from(["__getitem__", "__contains__"]), TOKEN),
    st.tuples(
        st.sampled_from(["__call__", "lookup_indices"]), st.lists(TOKEN, max_size=4)
    ),
    st.tuples(st.just("lookup_token"), INDEX),
    st.tuples(st.just("lookup_tokens"), st.lists(INDEX, max_size=4)),
    st.tuples(st.just("set_default_index"), INDEX | st.none()),
)


@many
@given(st.lists(TOKEN, unique=True, max_size=6), st.lists(CALLS, max_size=12))
def test_any_calls_one_after_the_other(
    tokens: list[str], calls: list[tuple[Any, ...]]
) -> None:
    pair = ours.Vocab(tokens), theirs.vocab(OrderedDict.fromkeys(tokens, 1))
    for name, *args in calls:
        mine, real = (outcome(getattr(v, name), *args) for v in pair)
        assert mine == real
        same(*pair)


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (lambda v: v["zebra"], "Token zebra not found and default index is not set"),
        (
            lambda v: v(["a", "zebra"]),
            "Token zebra not found and default index is not set",
        ),
        (
            lambda v: v.lookup_token(2),
            "Specified index 2 is out of bounds for vocab of size 2",
        ),
        (
            lambda v: v.lookup_token(-1),
            "Specified index -1 is out of bounds for vocab of size 2",
        ),
        (lambda v: v.lookup_tokens([0, 2]), "Specified index 2"),
    ],
)
def test_errors_say_the_same(call: Callable[[Any], object], head: str) -> None:
    for vocabulary in (ours.Vocab(["a", "b"]), theirs.vocab({"a": 1, "b": 1})):
        with pytest.raises(RuntimeError) as error:
            call(vocabulary)
        assert str(error.value).startswith(head)


def test_doubles_are_refused_in_the_same_words() -> None:
    for module in (ours, theirs):
        with pytest.raises(
            RuntimeError, match=r"^Duplicate token found in tokens list: x(\n|$)"
        ):
            module.vocab({"a": 1}, specials=["x", "x"])


@pytest.mark.parametrize(
    "call",
    [
        lambda v: v("ab"),
        lambda v: v.lookup_indices("ab"),
        lambda v: v[0],
        lambda v: v[None],
        lambda v: v[b"a"],
        lambda v: 0 in v,
        lambda v: list(v),
        lambda v: v.lookup_token("a"),
        lambda v: v.lookup_token(1.0),
        lambda v: v.set_default_index("a"),
        lambda v: v.set_default_index(1.0),
    ],
)
def test_what_is_no_token_or_no_index_is_a_type_error(
    call: Callable[[Any], object],
) -> None:
    for vocabulary in (ours.Vocab(["a", "b"]), theirs.vocab({"a": 1, "b": 1})):
        vocabulary.set_default_index(0)
        with pytest.raises(TypeError):
            call(vocabulary)


@pytest.mark.parametrize(
    ("sentences", "specials"), [([[1, 2]], None), ([[None]], None), ([["a"]], [1])]
)
def test_only_strings_are_tokens(
    sentences: list[list[Any]], specials: list[Any] | None
) -> None:
    for module in (ours, theirs):
        with pytest.raises(TypeError):
            module.build_vocab_from_iterator(sentences, specials=specials)


def test_the_calls_have_the_same_names_and_parameters() -> None:
    def parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
        return [
            (p.name, p.default) for p in inspect.signature(function).parameters.values()
        ]

    for name in (
        "vocab",
        "build_vocab_from_iterator",
    ):  # theirs go on: special_first, max_tokens
        mine = parameters(getattr(ours, name))
        assert mine == parameters(getattr(theirs, name))[: len(mine)]
    for name, member in vars(ours.Vocab).items():
        if (
            inspect.isfunction(member)
            and name in vars(theirs.Vocab)
            and name != "__init__"
        ):  # theirs wraps a table of C++
            assert parameters(member) == parameters(getattr(theirs.Vocab, name)), name


@slow
@given(st.lists(TOKEN, unique=True))
def test_there_and_back_without_loss(tokens: list[str]) -> None:
    real = theirs.vocab(OrderedDict.fromkeys(ours.Vocab(tokens).get_itos(), 1))
    assert ours.Vocab(real.get_itos()).get_itos() == tokens


def transform(vocabulary: theirs.Vocab) -> T.Sequential:
    """torchtext's way from tokens to ids, between <sos> and <eos>."""
    return T.Sequential(
        T.VocabTransform(vocabulary),
        T.AddToken(2, begin=True),
        T.AddToken(3, begin=False),
    )


@pytest.mark.parametrize("kind", ["spacy", "whitespace"])
@pytest.mark.parametrize("lang", ["fr", "de"])
def test_transforms_encode_the_tiny_corpus_as_the_tokenizers_do(
    lang: str, kind: str
) -> None:
    data = nmt.load_config(
        "tiny", **{"data.tgt_lang": lang, "data.tokenizer": kind, "data.min_freq": 100}
    ).data
    corpus = nmt.load_corpus(data)
    for side, tokenizer in zip(
        ("src", "tgt"), nmt.build_tokenizers(data, corpus.train), strict=True
    ):
        words = [tokenizer.tokenize(getattr(pair, side)) for pair in corpus.train]
        real = theirs.build_vocab_from_iterator(
            words, min_freq=100, specials=list(SPECIALS)
        )
        real.set_default_index(real["<unk>"])
        same(tokenizer.vocab, real)
        texts = [
            getattr(pair, side)
            for pairs in (corpus.train, corpus.valid, corpus.test)
            for pair in pairs
        ]
        rows = [tokenizer.encode(text) for text in texts]
        tokens = [tokenizer.tokenize(text) for text in texts]
        assert transform(real)(tokens) == rows
        assert any(1 in row for row in rows), "no word is unknown: raise min_freq"
        named = T.Sequential(
            T.AddToken("<sos>"),
            T.AddToken("<eos>", begin=False),
            T.VocabTransform(real),
        )
        assert named(tokens) == rows
        assert torch.equal(T.ToTensor(padding_value=0)(rows[:64]), pad_batch(rows[:64]))


def test_only_torchtext_takes_a_word_of_the_text_for_a_special_token() -> None:
    tokenizer = WordTokenizer.train(
        "whitespace", "en", ["a <eos> dog"], min_freq=1, lowercase=False
    )
    real = theirs.build_vocab_from_iterator(
        [["a", "<eos>", "dog"]], specials=list(SPECIALS)
    )
    assert tokenizer.vocab.get_itos() == real.get_itos()
    assert transform(real)(["a", "<eos>", "dog"]) == [2, 4, 3, 5, 3]
    assert tokenizer.encode("a <eos> dog") == [2, 4, 1, 5, 3]


def test_the_code_that_chapter_01_shows_gives_the_chapters_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [
        cell.source
        for cell in nbformat.read(CHAPTER, as_version=4).cells
        if cell.cell_type == "markdown"
    ]
    (code,) = [
        match[1]
        for text in texts
        if (match := re.search(r"```python\n(from torchtext.*?)```", text, re.S))
    ]
    lines = [pair.src for pair in nmt.load_corpus(nmt.load_config("tiny").data).train]
    monkeypatch.setattr(
        spacy, "load", lambda name: spacy.blank(name[:2])
    )  # the rules of a model that is not there
    names: dict[str, Any] = {"lines": lines}
    exec(code, names)
    mine = ours.build_vocab_from_iterator(
        map(spacy_words("en"), lines), min_freq=2, specials=list(SPECIALS)
    )
    mine.set_default_index(1)
    same(mine, names["words"])
    assert names["ids"] == [2, *mine(spacy_words("en")("The dog is old.")), 3]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_all_of_multi30k(real_data: Path, lang: str, lowercase: bool) -> None:
    folder, min_freq = (
        real_data / "multi30k",
        nmt.load_config("writeup_c").data.min_freq,
    )
    train, *held_out = (
        read_lines(folder / f"{part}.{lang}")
        for part in ("train", "val", "test_2016_flickr")
    )
    lines = [*train, *held_out[0], *held_out[1]]
    assert len(lines) == 29000 + 1014 + 1000
    tokenizer = WordTokenizer.train("spacy", lang, train, min_freq, lowercase)
    tokens = [tokenizer.tokenize(line) for line in lines]
    real = theirs.build_vocab_from_iterator(
        tokens[: len(train)], min_freq, list(SPECIALS)
    )
    real.set_default_index(1)
    same(tokenizer.vocab, real)
    assert transform(real)(tokens) == [tokenizer.encode(line) for line in lines]


def test_writeup_c_has_its_printed_sizes(real_data: Path) -> None:
    config = nmt.load_config("writeup_c")
    train = nmt.load_corpus(config.data).train
    tokenizers = nmt.build_tokenizers(config.data, train)
    for side, tokenizer, size in zip(
        ("src", "tgt"), tokenizers, (6191, 8014), strict=True
    ):
        words = (tokenizer.tokenize(getattr(pair, side)) for pair in train)
        real = theirs.build_vocab_from_iterator(
            words, config.data.min_freq, list(SPECIALS)
        )
        real.set_default_index(1)
        same(tokenizer.vocab, real)
        assert len(real) == size


def test_the_chapters_run_here_too() -> None:
    """nbval starts the kernel python3: it must be this Python, beside which torchtext stands."""
    assert (
        jupyter_client.KernelManager(kernel_name="python3").format_kernel_cmd()[0]
        == sys.executable
    )
