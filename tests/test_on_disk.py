"""Corpora on disk: the same as in memory in every respect, prepared once, and never half taken for whole."""

import gzip
import os
import random
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib import checkpoints, corpora, on_disk, tiny_corpus, tokenizers
from nmt_lib.on_disk import Lengths, OnDisk, take
from nmt_lib.prepared import write_once
from nmt_lib.training import plan_epoch

MINI = {
    "data.tokenizer": "whitespace", "data.src_lang": "en", "data.tgt_lang": "fr", "model.d_model": 16,
    "model.n_heads": 2, "model.n_layers": 1, "model.d_ff": 24, "model.dropout": 0.1, "train.batch_by": "tokens",
    "train.batch_tokens": 200, "train.max_steps": 3, "train.validate_every": 1, "train.checkpoint_every": 3,
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Many files of few rows, in a cache of one's own."""
    monkeypatch.setattr(on_disk, "FILE_ROWS", 70)
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs" / "cache"


def sentences(n: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices("abcdefghijklmnop", k=draw.randint(1, 12))) for _ in range(n)]


def write(folder: Path, n: int = 300, packed: bool = False, empty: tuple[int, ...] = (3, 140, 141)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (split, size) in enumerate({"train": n, "valid": 30, "test": 20}.items()):
        for lang, shift in (("en", 0), ("fr", 10)):
            lines = sentences(size, seed + shift)
            lines = [" " if i in empty and split == "train" else line for i, line in enumerate(lines)]
            text = ("\ufeff" + "\r\n".join(lines) + "\n").encode()
            name = f"{split}.{lang}"
            (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(text) if packed else text)
    return folder


def one_piece(folder: Path) -> Path:
    """Europarl under its published names, all in one piece."""
    source = write(folder / "source")
    (folder / "europarl").mkdir()
    for lang in ("en", "fr"):
        shutil.move(source / f"train.{lang}", folder / "europarl" / f"europarl-v7.fr-en.{lang}")
    return folder


def config(corpus: str | Path, on_disk: bool, **options: Any) -> nmt.Config:
    return nmt.load_config("toy", **(MINI | {"data.corpus": str(corpus), "data.on_disk": on_disk} | options))


def both(corpus: str | Path, prepare: Callable[[nmt.Config], Any], **options: Any) -> list[tuple[Any, list[str]]]:
    """What comes out in memory and on disk, each with its warnings."""
    results = []
    for way in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = prepare(config(corpus, way, **options))
        results.append((result, [str(w.message) for w in caught if w.category is UserWarning]))
    return results


def everything(config: nmt.Config) -> list[Any]:
    """All that a run makes of its corpus."""
    corpus = nmt.load_corpus(config.data)
    assert isinstance(corpus.train, OnDisk) == config.data.on_disk
    both = nmt.build_tokenizers(config.data, corpus.train)
    examples, valid = (nmt.encode_pairs(part, both, config) for part in (corpus.train, corpus.valid))
    plans = [plan_epoch(examples, config.train, epoch) for epoch in (0, 1)]
    lists = [list(part) for part in (corpus.train, corpus.valid, corpus.test, examples, valid)]
    return [corpus.provenance, checkpoints.content(both), plans, *lists]


# ------------------------------------------------------------------------------------------------- the same results
PIECES = {"data.tokenizer": "bpe", "data.vocab_size": 30, "data.joint": True, "train.batch_by": "sentences"}


@pytest.mark.parametrize("options", [{}, {"data.limit": 50, "data.max_length": 9, "data.src_specials": False}, PIECES])
@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_files_gives_the_same_as_in_memory(tmp_path: Path, packed: bool, options: dict[str, Any]) -> None:
    memory, disk = both(write(tmp_path / "corpus", packed=packed), everything, **options)
    assert disk == memory
    assert "left out 3 of 300 pairs, one side is empty" in memory[1][0]
    assert ("data.max_length" in options) == any("longer than data.max_length" in text for text in memory[1])


@pytest.mark.parametrize("options", [{"data.seed": 0}, {"data.seed": 1}, {"data.limit": 40}, PIECES])
def test_a_corpus_in_one_piece_is_split_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setenv("NMT_DATA", str(one_piece(tmp_path)))
    monkeypatch.setattr(tokenizers, "PIECE_SENTENCES", 200)  # fewer than there are
    memory, disk = both("europarl", everything, **options)
    assert disk == memory
    assert len(memory[0][4]) == 14


@pytest.mark.parametrize("name", ["toy", "tiny"])
def test_corpora_that_are_made_here_keep_their_alignments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {split: triples[:100] for split, triples in tiny_corpus.generate().items()}
    monkeypatch.setattr(tiny_corpus, "generate", lambda: few)
    memory, disk = both(name, lambda c: nmt.load_corpus(c.data), **{"data.src_lang": "de", "data.tgt_lang": "en"})
    for split in ("train", "valid", "test"):
        assert list(getattr(disk[0], split)) == getattr(memory[0], split)


@pytest.mark.parametrize("name", ["europarl", "multi30k"])
def test_real_corpora_give_the_same_as_in_memory(real_data: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "FILE_ROWS", 5000)
    memory, disk = both(name, everything, **{"data.limit": 1500, "train.batch_tokens": 2000})
    assert disk == memory


def test_three_steps_give_the_same_losses_and_weights_and_one_way_goes_on_with_the_run_of_the_other(
    tmp_path: Path,
) -> None:
    write(tmp_path / "corpus", empty=())
    options = {"train.accumulate": 2}

    def runs(swap: bool) -> list[nmt.Run]:
        folders = {way: str(tmp_path / str(way)) for way in (False, True)}
        return [nmt.train(config(tmp_path / "corpus", way ^ swap, run_dir=folders[way], **options)) for way in folders]

    memory, disk = runs(swap=False)
    assert memory.history == disk.history and len(memory.history) == 3
    options |= {"train.max_steps": 5, "train.checkpoint_every": 5}
    memory, disk = runs(swap=True)
    assert memory.history == disk.history and len(memory.history) == 5
    assert (memory.path / "model.safetensors").read_bytes() == (disk.path / "model.safetensors").read_bytes()


def test_a_run_from_before_there_was_the_key_goes_on(tmp_path: Path) -> None:
    write(tmp_path / "corpus", empty=())
    run = nmt.train(config(tmp_path / "corpus", False, run_dir=str(tmp_path / "run")))
    old = run.path / "config.yaml"
    text = old.read_text(encoding="utf-8")
    assert text.count("  on_disk: false\n") == 1
    old.write_text(text.replace("  on_disk: false\n", ""), encoding="utf-8")
    longer = nmt.train(config(tmp_path / "corpus", False, run_dir=str(tmp_path / "run"), **{"train.max_steps": 4}))
    assert [row["step"] for row in longer.history] == [1, 2, 3, 4]


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_the_key_is_checked(value: Any) -> None:
    with pytest.raises(nmt.ConfigError, match=r"data\.on_disk"):
        nmt.load_config("tiny", **{"data.on_disk": value})


# --------------------------------------------------------------------------------------------- a sequence like a list
@pytest.fixture
def letters() -> OnDisk:
    return write_once(((c, c.upper(), "") for c in "abcdefghij" * 20), lambda *texts: "".join(texts), key="letters")


def test_it_is_a_sequence_like_a_list(letters: OnDisk) -> None:
    plain = [c + c.upper() for c in "abcdefghij" * 20]
    assert len(letters.files) == 3  # of at most 70 rows
    assert list(letters) == plain and len(letters) == 200
    assert [letters[i] for i in (0, 69, 70, 199, -1)] == [plain[i] for i in (0, 69, 70, 199, -1)]
    assert list(letters[150:10:-7][2:5]) == plain[150:10:-7][2:5]
    assert list(take(letters, [5, 199, 0])) == take(plain, [5, 199, 0])
    assert random.Random(1).sample(letters, 30) == random.Random(1).sample(plain, 30)
    assert letters[:2] + letters[5:6] == plain[:2] + plain[5:6]
    assert not letters[:0] and letters.lengths().tolist() == [[1, 1]] * 200
    with pytest.raises(IndexError):
        letters[200]


def test_lengths_stand_in_for_examples(tmp_path: Path) -> None:
    made = config(write(tmp_path / "corpus", empty=()), True)
    train = nmt.load_corpus(made.data).train
    examples = nmt.encode_pairs(train, nmt.build_tokenizers(made.data, train), made)
    shuffled = take(examples, random.Random(0).sample(range(300), 100))
    assert isinstance(shuffled, OnDisk)
    assert [tuple(map(len, item)) for item in Lengths(shuffled)] == [tuple(map(len, item)) for item in shuffled]
    with pytest.raises(nmt.TrainingError, match=r"sentence \d+ has \d+ tokens, more than train.batch_tokens=5"):
        plan_epoch(shuffled, made.train.model_copy(update={"batch_tokens": 5}), 0)


def test_nothing_at_all_is_an_error_as_in_memory(tmp_path: Path) -> None:
    write(tmp_path / "corpus", empty=())
    (tmp_path / "corpus" / "valid.en").write_text("")
    (tmp_path / "corpus" / "valid.fr").write_text("")
    with pytest.raises(nmt.CorpusError, match="nothing is left"):
        nmt.load_corpus(config(tmp_path / "corpus", True).data)
    made = config(tmp_path / "corpus", True, **{"data.max_length": 4})
    short = write_once([("a b c d", "a", "")], nmt.Pair, key="short")
    for pairs in (short, short[:0]):
        with pytest.raises(nmt.TrainingError, match=r"data\.max_length=4"):
            nmt.encode_pairs(pairs, nmt.build_tokenizers(made.data, short), made)


# -------------------------------------------------------------------------------------------------------- found again
AGAIN = """
import sys
import nmt_lib as nmt
from nmt_lib import corpora, on_disk, prepared

def never(*_, **__):
    raise SystemExit("made again")

on_disk.FILE_ROWS, prepared._map, corpora._lines = 70, never, never
config = nmt.load_config(sys.argv[1])
corpus = nmt.load_corpus(config.data)
tokenizers = nmt.build_tokenizers(config.data, corpus.train)
print(list(nmt.encode_pairs(corpus.train, tokenizers, config)), "datasets" in sys.modules)
"""


@pytest.mark.filterwarnings("ignore:.*left out")
def test_another_process_finds_what_was_prepared(tmp_path: Path) -> None:
    made = config(write(tmp_path / "corpus"), True, **PIECES)
    examples = everything(made)[6]
    (tmp_path / "mine.yaml").write_text(made.to_yaml(), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-c", AGAIN, str(tmp_path / "mine.yaml")]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{examples} False"


@pytest.mark.filterwarnings("ignore:.*left out")
def test_whatever_gives_other_ids_is_encoded_anew_and_nothing_else_is(tmp_path: Path, small_files: Path) -> None:
    corpus = write(tmp_path / "corpus")

    def new(kind: str, **options: Any) -> int:
        before = len(list(small_files.glob(f"{kind}-*/")))
        everything(config(corpus, True, **options))
        return len(list(small_files.glob(f"{kind}-*/"))) - before

    assert new("pairs") == 3 and new("ids", **{"data.lowercase": True}) == 2
    assert new("ids") == new("ids", **{"data.max_length": 9, "train.seed": 4, "model.d_ff": 8}) == new("pairs") == 0
    for option in ({"data.src_specials": False}, PIECES):
        assert new("ids", **option) == 2
    with open(corpus / "train.en", "a", encoding="utf-8") as en, open(corpus / "train.fr", "a", encoding="utf-8") as fr:
        _ = en.write("a new line\n"), fr.write("a new line\n")
    assert new("pairs") == 1  # of train alone


class Hub:
    """Stands for ``datasets.load_dataset``: streams without end, and counts what was asked for."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, *_: Any, streaming: bool, **__: Any) -> Iterator[dict[str, dict[str, str]]]:
        assert streaming
        for number in count():
            self.rows += 1
            yield {"translation": {"en": f" word {number} ", "fr": f"mot {number}"}}


def test_the_hub_is_read_as_a_stream_once_and_then_not_even_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    hub, reachable = Hub(), [True]
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.setattr(datasets, "load_dataset", hub)
    monkeypatch.setattr(corpora, "_reachable", lambda _: reachable[0])
    memory, disk = both("europarl", everything, **{"data.limit": 200})
    assert disk == memory and hub.rows == 400
    reachable.clear()
    assert everything(config("europarl", True, **{"data.limit": 200})) == disk[0] and hub.rows == 400


def test_several_that_ask_at_once_prepare_once() -> None:
    asked: list[int] = []

    def rows() -> Iterator[tuple[str, str, str]]:
        asked.append(1)
        yield from [("a", "b", "")] * 500

    found: list[OnDisk] = []
    threads = [threading.Thread(target=lambda: found.append(write_once(rows(), nmt.Pair, key=1))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1 and [len(pairs) for pairs in found] == [500] * 4


# ------------------------------------------------------------------------------------------------- what can go wrong
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (b"one line more\n", r"train.en has 301 lines but .*train.fr has 300"),
        (b"\xe9\n", r"train.en, line 301: not UTF-8"),
    ],
)
def test_files_that_cannot_be_read_are_named_as_in_memory_and_leave_nothing(
    tmp_path: Path, small_files: Path, damage: bytes, message: str
) -> None:
    corpus = write(tmp_path / "corpus", empty=())
    sound = (corpus / "train.en").read_bytes()
    (corpus / "train.en").write_bytes(sound + damage)
    said = []
    for way in (False, True):
        with pytest.raises(nmt.CorpusError, match=message) as caught:
            nmt.load_corpus(config(corpus, way).data)
        said.append(str(caught.value))
    assert said[0] == said[1]
    (corpus / "train.en").write_bytes(sound)
    assert len(nmt.load_corpus(config(corpus, True).data).train) == 300


def test_reading_cut_off_is_not_taken_for_whole(small_files: Path) -> None:
    def cut_off() -> Iterator[tuple[str, str, str]]:
        yield from [("a", "b", "")] * 150
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_once(cut_off(), nmt.Pair, key=1)
    assert [folder.suffix for folder in small_files.glob("pairs-*/")] == [".part"]
    assert len(write_once([("a", "b", "")] * 160, nmt.Pair, key=1)) == 160


@pytest.mark.filterwarnings("ignore:.*left out")
def test_encoding_cut_off_goes_on_with_the_file_where_it_stopped(
    tmp_path: Path, small_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = config(write(tmp_path / "corpus", empty=()), True)
    train = nmt.load_corpus(made.data).train
    both = nmt.build_tokenizers(made.data, train)
    encode, calls = type(both[0]).encode, []

    def counted(self: Any, text: str, **options: Any) -> list[int]:
        calls.append(text)
        if len(calls) == 2 * 100:  # in the second file
            raise KeyboardInterrupt
        return encode(self, text, **options)

    monkeypatch.setattr(type(both[0]), "encode", counted)
    with pytest.raises(KeyboardInterrupt):
        nmt.encode_pairs(train, both, made)
    assert [file.name for file in small_files.glob("ids-*/*.arrow")] == ["00000.arrow"]
    examples = nmt.encode_pairs(train, both, made)
    assert len(calls) == 200 + 2 * (300 - 70)
    monkeypatch.undo()
    assert list(examples) == nmt.encode_pairs(list(train), both, made)


def test_damaged_files_and_a_full_disk_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow

    pairs = write_once([("a", "b", "")] * 100, nmt.Pair, key=1)
    os.truncate(pairs.files[1], 200)
    with pytest.raises(nmt.CorpusError, match=r"pairs-\w+ is damaged .*delete it"):
        write_once([], nmt.Pair, key=1)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow, "OSFile", full)
    with pytest.raises(nmt.CorpusError, match=r"cannot write .*pairs-\w+ .No space left on device.*NMT_RUNS"):
        write_once([("a", "b", "")], nmt.Pair, key=2)
