"""Corpora: what is read, what is dropped, and what a damaged file says."""

import gzip
import json
import re
import warnings
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import datasets
import pytest

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.data import corpora


def data(corpus: Any, src: Any = "de", tgt: Any = "en", **options: Any) -> DataConfig:
    return DataConfig(corpus=str(corpus), src_lang=src, tgt_lang=tgt, **options)


def write(folder: Path, de: str = "a\nb\n", en: str = "x\ny\n") -> Path:
    """A corpus with these training files."""
    for name, *texts in (("train", de, en), ("valid", "a", "x"), ("test", "a", "x")):
        for lang, text in zip(("de", "en"), texts, strict=True):
            content = text.encode("utf-8", "surrogateescape")
            (folder / f"{name}.{lang}").write_bytes(content)
    return folder


def load(folder: Path) -> nmt.Corpus:
    return nmt.load_corpus(data(folder))


def test_files_are_read_plain_or_packed(tmp_path: Path) -> None:
    pairs = load(write(tmp_path, "\ufeffä\r\nb\u2028c\x0c\n", "x\n y \n")).train
    assert pairs == [nmt.Pair("ä", "x"), nmt.Pair("b\u2028c", "y")]
    for lang in ("de", "en"):
        file = tmp_path / f"train.{lang}"
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert load(tmp_path).train == pairs
    packed = tmp_path / "train.en.gz"
    whole = packed.read_bytes()
    for damaged in (whole[:-9], whole[:12] + b"\xff" * 9 + whole[21:]):
        packed.write_bytes(damaged)
        with pytest.raises(nmt.CorpusError, match="train: cannot be read"):
            load(tmp_path)


def test_lines_that_name_columns_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="train: left out 1: lines that name columns"):
        assert load(write(tmp_path, "de\na\n", "en\nx\n")).train == [nmt.Pair("a", "x")]


def test_a_missing_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (write(tmp_path) / "valid.en").unlink()
    with pytest.raises(nmt.CorpusError, match=r"valid\.de and .*valid\.en \(nor"):
        load(tmp_path)
    (tmp_path / "multi30k").mkdir()  # does not stand in for the published corpus
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_DATA", "corpora")
    with pytest.raises(nmt.CorpusError, match=r"no files corpora/multi30k/train\.de"):
        nmt.load_corpus(data("multi30k"))


def test_published_corpora_have_their_published_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NMT_DATA", "~")
    end = ".lc.norm.tok"
    for corpus, *names in (
        ("multi30k", "train", "val", "test_2016_flickr"),
        ("multi30k-tok", f"train{end}", f"val{end}", f"test_2016_flickr{end}"),
        ("europarl", *["europarl-v7.fr-en"] * 3),  # split by load_corpus
    ):
        (tmp_path / corpus).mkdir()
        for name, lang in product(names, ("en", "fr")):
            lines = "".join(f"{name} {lang} {i}\n" for i in range(20))
            (tmp_path / corpus / f"{name}.{lang}").write_text(lines)
        for src, tgt in (("en", "fr"), ("fr", "en")):
            found = nmt.load_corpus(data(corpus, src, tgt))
            parts = (found.train, found.valid, found.test)
            for name, part in zip(names, parts, strict=True):
                i = part[0].src.rpartition(" ")[2]  # of europarl, any line
                assert part[0] == nmt.Pair(f"{name} {src} {i}", f"{name} {tgt} {i}")
    with pytest.raises(nmt.CorpusError, match="de→fr is not published"):
        nmt.load_corpus(data("europarl", "de", "fr"))


def test_unequal_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.CorpusError, match=r"n\.de and .*n\.en: .* more lines, by 1; "
    ):
        load(write(tmp_path, "a\n", "x\ny"))


def test_a_file_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(nmt.CorpusError, match=r"not UTF-8 .*line 2 of train\.de"):
        load(write(tmp_path, "a\nm\udcf6chte\n"))


def test_pairs_with_an_empty_side_are_dropped_and_counted(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="train: left out 2 of 4 pairs") as warned:
        pairs = load(write(tmp_path, "a\n\nb\nc\n", "x\ny\nz\n \n")).train
    assert pairs == [nmt.Pair("a", "x"), nmt.Pair("b", "z")]
    assert [w.filename for w in warned] == [__file__]
    warnings.simplefilter("ignore")
    for de, en in (("", ""), ("\n", "x\n")):
        with pytest.raises(nmt.CorpusError, match="nothing is left to train"):
            load(write(tmp_path, de, en))


def test_an_unknown_name_lists_all_names() -> None:
    with pytest.raises(nmt.CorpusError, match=", ".join(corpora.NAMES)):
        nmt.load_corpus(data("nowhere"))


def test_the_corpora_that_come_along() -> None:
    toy = nmt.load_corpus(data("toy", "en", "de"))
    assert toy.train == toy.test and toy.train[0].src == "i want a beer ."
    with pytest.raises(nmt.CorpusError, match="German and English only"):
        nmt.load_corpus(data("toy", "en", "fr"))
    with pytest.raises(nmt.CorpusError, match="en, de, fr only, not en→es"):
        nmt.load_corpus(data("tiny", "en", "es", tokenizer="bpe"))
    tiny = nmt.load_corpus(data("tiny", "en", "fr"))
    assert all(pair.alignment for pair in tiny.train[:100])
    assert isinstance(tiny.train, list)
    tiny.train.clear()  # a reader's own list
    assert nmt.load_corpus(data("tiny", "en", "fr")).train


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that ``datasets`` reads as repositories of the hub, and no network."""
    for split in ("train", "validation", "test"):
        write_rows(
            tmp_path / f"bentrevett/multi30k/{split}.jsonl",
            [{"en": f" {split}  {i}", "de": f"d\t{i}"} for i in range(30)],
        )
    rows = [{"translation": {"en": f"e {i}", "fr": f"f {i}"}} for i in range(60)]
    write_rows(tmp_path / "Helsinki-NLP/europarl/train.jsonl", rows)
    readme = "---\nconfigs:\n- config_name: en-fr\n  data_files: train.jsonl\n---\n"
    (tmp_path / "Helsinki-NLP/europarl/README.md").write_text(readme)
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.utils.get_session", None)  # nothing is asked
    return tmp_path


def write_rows(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_multi30k_is_read_by_datasets(hub: Path) -> None:
    corpus = nmt.load_corpus(data("multi30k"))
    assert corpus.train[3] == nmt.Pair("d\t3", "train  3")
    assert corpus.valid[3].tgt == "validation  3" and corpus.test[3].tgt == "test  3"
    assert corpus.provenance == "bentrevett/multi30k on huggingface.co"
    few = nmt.load_corpus(data("multi30k", limit=7))
    assert (len(few.train), len(few.valid)) == (7, 30)


@pytest.mark.parametrize(("most", "held_out"), [(2, 2), (10, 3)])
def test_each_pair_of_europarl_is_in_one_split(
    hub: Path, monkeypatch: pytest.MonkeyPatch, most: int, held_out: int
) -> None:
    monkeypatch.setattr(corpora, "HELD_OUT", most)
    corpus = nmt.load_corpus(data("europarl", "fr", "en", limit=40))
    parts = [corpus.train, corpus.valid, corpus.test]
    assert [len(part) for part in parts] == [40, held_out, held_out]
    assert len({pair for part in parts for pair in part}) == 40 + 2 * held_out
    with pytest.raises(nmt.CorpusError, match=r"'de-fr' not found.*NMT_DATA") as caught:
        nmt.load_corpus(data("europarl", "fr", "de"))
    assert "\n" not in str(caught.value)


def test_without_network_the_cache_of_datasets_is_read(hub: Path) -> None:
    nmt.load_corpus(data("multi30k"))
    # In the cache as a repository of the hub, which cannot be reached, is.
    (hub / "bentrevett").rename(hub / "gone")
    (hub / "cache/multi30k").rename(hub / "cache/bentrevett___multi30k")
    assert nmt.load_corpus(data("multi30k")).train[3] == nmt.Pair("d\t3", "train  3")


@pytest.mark.parametrize(
    "error", [AttributeError("'list' object has no attribute 'get'"), RuntimeError("")]
)
def test_whatever_goes_wrong_on_the_hub_is_a_sentence(
    error: Exception, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.load_dataset", mock.Mock(side_effect=error))
    reason = re.escape(str(error) or "RuntimeError")
    with pytest.raises(nmt.CorpusError, match=rf"cannot read .*multi30k.*{reason}"):
        nmt.load_corpus(nmt.load_config("multi30k").data)


def test_a_renamed_column_is_not_called_a_missing_network(hub: Path) -> None:
    said, rows = [], [{"en": "a", "german": "b"}]
    for file in (hub / "bentrevett/multi30k").iterdir():  # one after the other
        write_rows(file, rows)
        with pytest.raises(nmt.CorpusError, match=r"NMT_DATA") as caught:
            nmt.load_corpus(data("multi30k"))
        assert "network" not in str(caught.value) and "\n" not in str(caught.value)
        said.append(str(caught.value))
    assert re.search(r"multi30k holds cannot be used \(.*german.*\): set", said[0])
    assert "has the columns en, german, but not de: set" in said[2]


def test_without_network_one_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NMT_DATA", raising=False)
    for scheme in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(scheme, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://localhost:1")
    monkeypatch.setattr(datasets, "load_dataset", None)  # it would retry for long
    message = (
        r"cannot read bentrevett/multi30k from http://localhost:1 \(.*refused.*\). "
        "Connect to the network, set HF_HUB_OFFLINE=1 .*, set NMT_DATA .*'tiny'"
    )
    with pytest.raises(nmt.CorpusError, match=message):
        nmt.load_corpus(data("multi30k"))
    with pytest.raises(nmt.CorpusError, match="multi30k-tok is not on the hub"):
        nmt.load_corpus(data("multi30k-tok"))
