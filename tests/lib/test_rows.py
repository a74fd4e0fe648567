"""Rows: a sequence like a list, in memory and on disk; what is prepared once is found again, and never half of it."""

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib import corpora
from nmt_lib import rows as rows_module
from nmt_lib.rows import as_rows, stored_rows
from nmt_lib.training import plan_epoch

PIECES = {"data.tokenizer": "bpe", "data.vocab_size": 30, "data.joint": True}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, and pieces of few rows."""
    monkeypatch.setattr(rows_module, "PART_ROWS", 70)
    monkeypatch.setattr("nmt_lib.encoding.BATCH_ROWS", 30)
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs" / "cache"


def write(folder: Path, n: int = 300) -> Path:
    folder.mkdir()
    draw = random.Random(0)
    for split, size in {"train": n, "valid": 30, "test": 20}.items():
        for lang in ("en", "fr"):
            lines = [
                " ".join(draw.choices("abcdefghijklmnop", k=draw.randint(1, 12)))
                for _ in range(size)
            ]
            (folder / f"{split}.{lang}").write_text(
                "\n".join(lines) + "\n", encoding="utf-8"
            )
    return folder


def config(corpus: str | Path, **options: Any) -> nmt.Config:
    options = {
        "data.corpus": str(corpus),
        "data.src_lang": "en",
        "data.tgt_lang": "fr",
    } | options
    return nmt.load_config(
        "toy", **{"data.tokenizer": "whitespace", "train.batch_by": "tokens"} | options
    )


def prepared(made: nmt.Config) -> tuple[list[Any], list[Any], list[Any]]:
    """What a run makes of its corpus: pairs, ids, plans."""
    train = nmt.load_corpus(made.data).train
    examples = nmt.encode_pairs(train, nmt.build_tokenizers(made.data, train), made)
    return (
        list(train),
        list(examples),
        [plan_epoch(examples.lengths, made.train, epoch) for epoch in (0, 1)],
    )


def files(cache: Path) -> set[Path]:
    return set(cache.rglob("*.arrow"))


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_rows_are_a_sequence_like_a_list(on_disk: bool, mixed: bool) -> None:
    plain = [nmt.Pair(f"s{i}", f"t{i}", ((0, i), (i, 1))[: i % 3]) for i in range(200)]
    order = random.Random(1).sample(range(200), 200) if mixed else list(range(200))
    rows = stored_rows(_given, tuple(plain)) if on_disk else as_rows(plain)
    rows, plain = rows.select(order), [plain[i] for i in order]
    assert list(rows) == plain and len(rows) == 200
    assert [rows[i] for i in (0, 69, 70, 199, -1)] == [
        plain[i] for i in (0, 69, 70, 199, -1)
    ]
    assert list(rows[150:10:-7][2:5]) == plain[150:10:-7][2:5]
    assert rows.take([5, 199, 5]) == [plain[5], plain[199], plain[5]]
    assert random.Random(1).sample(rows, 30) == random.Random(1).sample(plain, 30)
    assert rows[:2] + rows[5:6] == plain[:2] + plain[5:6]
    assert not rows[:0] and list(rows[:0]) == [] and as_rows(rows) is rows
    with pytest.raises(IndexError):
        rows[200]


def _given(pairs: tuple[nmt.Pair, ...]) -> Iterator[nmt.Pair]:
    yield from pairs


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize(
    "options", [{}, {"data.max_length": 9, "data.src_specials": False}, PIECES]
)
def test_ids_and_plans_are_the_same_in_memory_and_on_disk(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    made = config(write(tmp_path / "corpus"), **options)
    pairs, ids, plans = prepared(made)
    tokenizers = nmt.build_tokenizers(made.data, pairs)
    examples = nmt.encode_pairs(pairs, tokenizers, made)
    by_hand = [
        (tokenizers[0].encode(p.src), tokenizers[1].encode(p.tgt)) for p in pairs
    ]
    assert (
        ids
        == list(examples)
        == [e for e in by_hand if max(map(len, e)) <= made.data.max_length]
    )
    assert [tuple(map(len, example)) for example in ids] == list(
        map(tuple, examples.lengths.tolist())
    )
    assert plans == [
        plan_epoch(examples.lengths, made.train, epoch) for epoch in (0, 1)
    ]
    assert list(map(tuple, examples[7:3:-2].lengths)) == [
        tuple(map(len, ids[i])) for i in (7, 5)
    ]


def test_small_corpora_write_nothing_and_show_no_progress(
    cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    prepared(config("toy", **{"data.src_lang": "de", "data.tgt_lang": "en"}))
    assert not cache.exists() and capfd.readouterr() == ("", "")


@pytest.mark.parametrize("hidden", [False, True])
def test_whether_datasets_shows_its_progress_stays_as_it_was(
    tmp_path: Path, hidden: bool
) -> None:
    from datasets.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    (disable_progress_bars if hidden else enable_progress_bars)()
    try:
        prepared(config(write(tmp_path / "corpus")))
        assert are_progress_bars_disabled() == hidden
    finally:
        enable_progress_bars()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_what_was_read_from_disk_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def mapped() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return (
            sum(
                int(line.split()[1])
                for line in lines
                if line.startswith(("RssFile", "RssShmem"))
            )
            // 1024
        )

    monkeypatch.setattr(rows_module, "PART_ROWS", 300)
    monkeypatch.setattr(rows_module, "BATCH_ROWS", 100)
    rows, before = stored_rows(_large, 3000), mapped()
    peak = max(
        mapped() for number, pair in enumerate(rows) if number % 50 == 0 and pair.src
    )
    assert peak - before < 20  # MB; there are 60


def _large(n: int) -> Iterator[nmt.Pair]:
    return (nmt.Pair(chr(97 + i % 26) * 10_000, "b" * 10_000) for i in range(n))


def test_no_pairs_and_none_short_enough_are_errors() -> None:
    made = config("tiny", **{"data.max_length": 4})
    long = [nmt.Pair("a b c d", "a")]
    tokenizers = nmt.build_tokenizers(made.data, long)
    with pytest.raises(nmt.TrainingError, match=r"data\.max_length=4"):
        nmt.encode_pairs(long, tokenizers, made)
    with pytest.raises(nmt.TrainingError, match="no pairs"):
        nmt.encode_pairs(as_rows(long)[:0], tokenizers, made)


# -------------------------------------------------------------------------------------------------------- found again
AGAIN = """
import sys
import nmt_lib as nmt
from nmt_lib import corpora, rows

def never(*_):
    raise SystemExit("made again")

rows.PART_ROWS, corpora._lines = 70, never
config = nmt.load_config(sys.argv[1])
corpus = nmt.load_corpus(config.data)
tokenizers = nmt.build_tokenizers(config.data, corpus.train)
tokenizers[0].__class__.encode = never
print(list(nmt.encode_pairs(corpus.train, tokenizers, config)))
"""


def test_another_process_finds_what_was_prepared(tmp_path: Path) -> None:
    made = config(write(tmp_path / "corpus"), **PIECES)
    examples = prepared(made)[1]
    (tmp_path / "mine.yaml").write_text(made.to_yaml(), encoding="utf-8")
    command = [sys.executable, "-c", AGAIN, str(tmp_path / "mine.yaml")]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(examples)


def test_whatever_gives_other_ids_is_encoded_anew_and_nothing_else_is(
    tmp_path: Path, cache: Path
) -> None:
    corpus = write(tmp_path / "corpus", n=60)

    def new(**options: Any) -> int:
        before = files(cache)
        prepared(config(corpus, **options))
        return len(files(cache) - before)

    assert new() == 3 + 1  # three splits of pairs, ids of one
    assert new(**{"data.max_length": 200, "train.seed": 4, "model.d_ff": 8}) == 0
    assert (
        new(**{"data.src_specials": False})
        == new(**PIECES)
        == new(**{"data.lowercase": True})
        == 1
    )
    for lang in ("en", "fr"):
        with open(corpus / f"train.{lang}", "a", encoding="utf-8") as file:
            file.write("a new line\n")
    assert new() == 1 + 1  # train alone
    assert nmt.load_corpus(config(corpus).data).train[-1] == nmt.Pair(
        "a new line", "a new line"
    )


class Hub:
    """Stands for ``datasets.load_dataset``: streams without end, and counts what was asked for."""

    rows = 0

    def __call__(
        self, *_: Any, streaming: bool, **__: Any
    ) -> Iterator[dict[str, dict[str, str]]]:
        assert streaming
        for number in count():
            self.rows += 1
            yield {"translation": {"en": f" word {number} ", "fr": f"mot {number}"}}


def test_the_hub_is_read_as_a_stream_once_and_then_not_even_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import datasets
    import huggingface_hub.utils

    hub, session = Hub(), type("Session", (), {"head": lambda *_, **__: None})
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.setattr(datasets, "load_dataset", hub)
    monkeypatch.setattr(huggingface_hub.utils, "get_session", session)
    once = prepared(config("europarl", **{"data.limit": 200}))
    assert hub.rows == 200 and once[0][0].tgt.startswith("mot")
    monkeypatch.setattr(huggingface_hub.utils, "get_session", None)
    assert (
        prepared(config("europarl", **{"data.limit": 200})) == once and hub.rows == 200
    )


def test_several_that_ask_at_once_encode_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = config(write(tmp_path / "corpus"))
    train = nmt.load_corpus(made.data).train
    tokenizers, asked = nmt.build_tokenizers(made.data, train), []
    encode = type(tokenizers[1]).encode
    monkeypatch.setattr(
        type(tokenizers[1]),
        "encode",
        lambda self, text, **kw: asked.append(text) or encode(self, text, **kw),
    )
    found: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(list(nmt.encode_pairs(train, tokenizers, made)))
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 2 * 300 and found[0] == found[1] == found[2]


# ------------------------------------------------------------------------------------------------- what can go wrong
def test_reading_cut_off_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, lines = config(write(tmp_path / "corpus")), corpora._lines

    def cut_off(path: Path) -> Iterator[str]:
        for number, line in enumerate(lines(path)):
            if number == 150:
                raise KeyboardInterrupt
            yield line

    monkeypatch.setattr(corpora, "_lines", cut_off)
    with pytest.raises(KeyboardInterrupt):
        nmt.load_corpus(made.data)
    monkeypatch.setattr(corpora, "_lines", lines)
    assert len(nmt.load_corpus(made.data).train) == 300


def test_encoding_cut_off_goes_on_with_the_piece_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = config(write(tmp_path / "corpus"))
    train = nmt.load_corpus(made.data).train
    both = nmt.build_tokenizers(made.data, train)
    encode, calls = type(both[0]).encode, []

    def counted(self: Any, text: str, **options: Any) -> list[int]:
        calls.append(text)
        if len(calls) == 2 * 100:  # in the second piece
            raise KeyboardInterrupt
        return encode(self, text, **options)

    monkeypatch.setattr(type(both[0]), "encode", counted)
    with pytest.raises(KeyboardInterrupt):
        nmt.encode_pairs(train, both, made)
    examples = nmt.encode_pairs(train, both, made)
    assert len(calls) == 200 + 2 * (300 - 70)
    monkeypatch.undo()
    assert list(examples) == list(nmt.encode_pairs(list(train), both, made))


def test_a_damaged_cache_and_a_place_that_cannot_be_written_are_named(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = config(write(tmp_path / "corpus"))
    nmt.load_corpus(made.data)
    for file in files(cache):
        os.truncate(file, 200)
    with pytest.raises(
        nmt.CorpusError, match=r"cannot keep the corpus in .*cache .*delete the folder"
    ):
        nmt.load_corpus(made.data)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "file"))
    with pytest.raises(
        nmt.CorpusError, match=r"cannot keep the corpus in .*file.cache .*NMT_RUNS"
    ):
        nmt.load_corpus(made.data)
