"""Corpora: what is read, what is dropped, and what is said when a file is not as it should be."""

import gzip
import os
import random
import socket
import time
import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.lib.small import read_lines

import nmt_lib as nmt
from nmt_lib import corpora
from nmt_lib.config import DataConfig
from nmt_lib.rows import as_rows


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))


def data(
    corpus: str | Path, src: str = "de", tgt: str = "en", **options: Any
) -> DataConfig:
    return DataConfig(corpus=str(corpus), src_lang=src, tgt_lang=tgt, **options)


def write(
    folder: Path,
    de: str | bytes = "a\nb\n",
    en: str | bytes = "x\ny\n",
    split: str = "train",
) -> Path:
    """A corpus of one's own; ``de`` and ``en`` are the contents of one split."""
    for name in ("train", "valid", "test"):
        for lang, content in (
            (("de", de), ("en", en))
            if name == split
            else (("de", "a\n"), ("en", "x\n"))
        ):
            (folder / f"{name}.{lang}").write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
    return folder


@pytest.mark.parametrize(("src", "tgt"), permutations(("en", "de", "fr"), 2))
def test_multi30k_in_all_directions(real_data: Path, src: str, tgt: str) -> None:
    corpus = nmt.load_corpus(data("multi30k", src, tgt))
    assert (len(corpus.train), len(corpus.valid), len(corpus.test)) == (
        29000,
        1014,
        1000,
    )
    first = {
        lang: read_lines(real_data / "multi30k" / f"train.{lang}")[0]
        for lang in (src, tgt)
    }
    assert (corpus.train[0].src, corpus.train[0].tgt) == (first[src], first[tgt])
    assert "multi30k" in corpus.provenance


def test_multi30k_already_split_into_words(real_data: Path) -> None:
    corpus = nmt.load_corpus(data("multi30k-tok", "en", "fr", limit=100))
    assert (len(corpus.train), len(corpus.valid), len(corpus.test)) == (100, 1014, 1000)
    assert corpus.train[0].src == corpus.train[0].src.lower()
    assert corpus.train[0].src.endswith(" .")


@pytest.mark.parametrize(("src", "tgt"), [("en", "fr"), ("fr", "en")])
def test_europarl_without_its_empty_pairs(real_data: Path, src: str, tgt: str) -> None:
    with pytest.warns(UserWarning, match="europarl train: left out 6 of 3000 pairs"):
        corpus = nmt.load_corpus(data("europarl", src, tgt))
    parts = corpus.train, corpus.valid, corpus.test
    assert list(map(len, parts)) == [2994 - 2 * 149, 149, 149]
    assert all(pair.src and pair.tgt for part in parts for pair in part)


def test_the_split_of_europarl_is_fixed_by_the_seed_and_loses_no_pair(
    real_data: Path,
) -> None:
    def load(seed: int) -> nmt.Corpus:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return nmt.load_corpus(data("europarl", "fr", "en", seed=seed))

    one, again, other = load(0), load(0), load(1)
    assert [list(part) for part in (one.train, one.valid, one.test)] == [
        list(part) for part in (again.train, again.valid, again.test)
    ]
    assert list(one.valid) != list(other.valid)
    everything = [
        sorted((p.src, p.tgt) for p in [*c.train, *c.valid, *c.test])
        for c in (one, other)
    ]
    assert everything[0] == everything[1]


def test_parts_held_out_share_no_line_with_each_other() -> None:
    pairs = as_rows([nmt.Pair(str(i), str(i)) for i in range(1000)])
    parts = corpora._hold_out(pairs, seed=3)
    assert {name: len(part) for name, part in parts.items()} == {
        "valid": 50,
        "test": 50,
        "train": 900,
    }
    assert len({pair for part in parts.values() for pair in part}) == 1000


def test_europarl_has_no_german_french(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NMT_DATA", str(tmp_path))
    with pytest.raises(nmt.CorpusError, match="de→fr is not published"):
        nmt.load_corpus(data("europarl", "de", "fr"))


def test_a_folder_of_ones_own_is_read(tmp_path: Path) -> None:
    corpus = nmt.load_corpus(data(write(tmp_path)))
    assert list(corpus.train) == [nmt.Pair("a", "x"), nmt.Pair("b", "y")]
    assert str(tmp_path) in corpus.provenance


def test_a_folder_named_like_a_published_corpus_does_not_stand_in_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "data" / "multi30k"
    published.mkdir(parents=True)
    for name in ("train", "val", "test_2016_flickr"):
        for lang in ("de", "en"):
            (published / f"{name}.{lang}").write_text(
                f"{name} {lang}\n", encoding="utf-8"
            )
    monkeypatch.setenv("NMT_DATA", str(published.parent))
    monkeypatch.chdir(published.parent)
    assert list(nmt.load_corpus(data("multi30k")).valid) == [
        nmt.Pair("val de", "val en")
    ]


def test_packed_files_are_read(tmp_path: Path) -> None:
    write(tmp_path)
    for path in list(tmp_path.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert list(nmt.load_corpus(data(tmp_path)).train) == [
        nmt.Pair("a", "x"),
        nmt.Pair("b", "y"),
    ]


@pytest.mark.parametrize("damage", ["cut", "flipped", "not packed"])
def test_a_damaged_packed_file_is_named(tmp_path: Path, damage: str) -> None:
    packed = gzip.compress(random.Random(0).randbytes(1000).hex().encode())
    content = {
        "cut": packed[:500],
        "flipped": packed[:10] + b"\xff" * 50 + packed[60:],
        "not packed": b"a\nb\n",
    }
    (write(tmp_path) / "train.de").unlink()
    (tmp_path / "train.de.gz").write_bytes(content[damage])
    with pytest.raises(nmt.CorpusError, match=r"cannot read .*train.de.gz"):
        nmt.load_corpus(data(tmp_path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (write(tmp_path) / "valid.en").unlink()
    with pytest.raises(nmt.CorpusError, match=r"no file .*valid.en .nor valid.en.gz"):
        nmt.load_corpus(data(tmp_path))


def test_a_missing_file_of_a_published_corpus_points_to_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_DATA", str(tmp_path))
    with pytest.raises(
        nmt.CorpusError, match=r"no file .*multi30k/train.de .*NMT_DATA"
    ):
        nmt.load_corpus(data("multi30k"))


def test_unequal_files_are_named_with_both_counts(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.CorpusError, match=r"train.de has 3 lines but .*train.en has 2"
    ):
        nmt.load_corpus(data(write(tmp_path, de="a\nb\nc\n")))


def test_a_file_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(nmt.CorpusError, match=r"test.en, line 2: not UTF-8"):
        nmt.load_corpus(
            data(write(tmp_path, de="a\nb\n", en=b"ok\ncaf\xe9\n", split="test"))
        )


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"\xef\xbb\xbf", []),
        (b"  a b\t\n", ["a b"]),
        ("a\u2028b\nc\u0085d\n".encode(), ["a\u2028b", "c\u0085d"]),
        (b"a\x0cb\x0bc\x1cd\n", ["a\x0cb\x0bc\x1cd"]),
        (b"a\x00b\n", ["a\x00b"]),
    ],
)
def test_only_line_feeds_end_a_line(
    tmp_path: Path, content: bytes, lines: list[str]
) -> None:
    (tmp_path / "file").write_bytes(content)
    assert list(corpora._lines(tmp_path / "file")) == lines


def test_pairs_with_an_empty_side_are_dropped_counted_and_said(tmp_path: Path) -> None:
    with pytest.warns(
        UserWarning, match="train: left out 2 of 4 pairs, one side is empty"
    ):
        corpus = nmt.load_corpus(
            data(write(tmp_path, de="a\n \t\nc\nd\n", en="w\nx\n\nz\n"))
        )
    assert list(corpus.train) == [nmt.Pair("a", "w"), nmt.Pair("d", "z")]


@pytest.mark.parametrize("split", ["train", "valid"])
@pytest.mark.parametrize("content", ["", "\n\n"])
@pytest.mark.filterwarnings("ignore:.*left out")
def test_nothing_left_is_an_error(tmp_path: Path, split: str, content: str) -> None:
    with pytest.raises(nmt.CorpusError, match="nothing is left"):
        nmt.load_corpus(data(write(tmp_path, de=content, en=content, split=split)))


def test_an_unknown_name_lists_all_names() -> None:
    with pytest.raises(
        nmt.CorpusError,
        match=r"unknown corpus 'multi40k'.*tiny, toy, multi30k, multi30k-tok, europarl",
    ):
        nmt.load_corpus(data("multi40k"))


def test_limit_cuts_the_training_part_only(tmp_path: Path) -> None:
    corpus = nmt.load_corpus(data(write(tmp_path), limit=1))
    assert (len(corpus.train), len(corpus.valid)) == (1, 1)


def test_the_toy_corpus_is_the_two_sentences_in_both_directions() -> None:
    there, back = nmt.load_corpus(data("toy")), nmt.load_corpus(data("toy", "en", "de"))
    assert there.train[0] == nmt.Pair("ich mochte ein bier", "i want a beer .")
    assert [(p.tgt, p.src) for p in there.train] == [(p.src, p.tgt) for p in back.train]
    with pytest.raises(nmt.CorpusError, match="German and English only"):
        nmt.load_corpus(data("toy", "en", "fr"))


def test_the_tiny_corpus_carries_alignments_within_its_words() -> None:
    corpus = nmt.load_corpus(data("tiny", "en", "fr"))
    assert len(corpus.train) >= 4000
    assert len(corpus.valid) >= 500
    assert len(corpus.test) >= 500
    assert all(pair.alignment for pair in corpus.valid)
    assert not {pair.src for pair in corpus.train} & {
        pair.src for pair in corpus.valid + corpus.test
    }


@pytest.mark.parametrize(
    ("config", "overrides", "place"),
    [
        ("multi30k", {}, "no such name"),
        ("multi30k", {"data.tgt_lang": "fr"}, "nobody listens"),
        ("writeup_c", {"data.corpus": "europarl"}, "no answer"),
    ],
)
def test_without_network_the_three_ways_on_are_said_without_retries(
    config: str, overrides: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in list(os.environ):
        if key == "NMT_DATA" or key.lower().endswith("_proxy"):
            monkeypatch.delenv(key)
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as silent:  # takes connections and never says a word
        port = silent.getsockname()[1]
        hosts = {
            "no such name": "name-that-does-not-exist.invalid",
            "nobody listens": "127.0.0.1:9",
        }
        monkeypatch.setattr(
            "huggingface_hub.constants.ENDPOINT",
            f"https://{hosts.get(place, f'127.0.0.1:{port}')}",
        )
        start = time.perf_counter()
        with pytest.raises(nmt.CorpusError) as error:
            nmt.load_corpus(nmt.load_config(config, **overrides).data)
    assert all(
        way in str(error.value)
        for way in ("cannot be reached", "connect", "NMT_DATA", "tiny")
    ), error.value
    assert (
        time.perf_counter() - start < 15.0
    )  # a second or two; the hub's own retries take 25 and more


def test_a_corpus_that_only_files_have_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NMT_DATA", raising=False)
    with pytest.raises(
        nmt.CorpusError, match="multi30k-tok is not on the hub: set NMT_DATA"
    ):
        nmt.load_corpus(data("multi30k-tok"))
