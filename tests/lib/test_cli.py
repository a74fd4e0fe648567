"""The CLI: what it prints, and one line with exit code 2 for every mistake."""

import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

import nmt_lib as nmt
from nmt_lib import cli, train
from tests.lib.small import rows

Done = subprocess.CompletedProcess[bytes]
Call = Callable[..., Done]


@pytest.fixture
def nmt_lib(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Call:
    """Calls it in this process: loading the library takes seconds."""

    def call(
        *arguments: str, cwd: Path, stdin: bytes = b"", **environment: str
    ) -> Done:
        for name in ("NMT_DATA", "NMT_RUNS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(cwd)
        text = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", text)
        capfdbinary.readouterr()
        try:
            code = cli.main(list(arguments))
        except SystemExit as error:
            code = int(error.code or 0)
        return Done(arguments, code, *capfdbinary.readouterr())

    return call


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the toy config, in a path with spaces."""
    path = tmp_path_factory.mktemp("toy run=1") / "it is=here"
    train("toy", run_dir=str(path))
    return path


@pytest.fixture
def toy(run: Path, nmt_lib: Call) -> Call:
    def call(command: str, *arguments: str, stdin: bytes = b"") -> Done:
        options = ("--set", f"run_dir={run}", *arguments)
        return nmt_lib(command, "toy", *options, cwd=run.parent, stdin=stdin)

    return call


def test_texts_and_standard_input_are_translated_line_by_line(toy: Call) -> None:
    texts = ("ich mochte ein bier", "ich mochte ein cola")
    result = toy("translate", "--text", *texts)
    assert result.stdout == b"i want a beer .\ni want a coke .\n", result.stderr
    stdin = "ich mochte ein bier\r\n\nich mochte ein cola 😀\x0c".encode()
    lines = toy("translate", stdin=stdin).stdout.decode().split("\n")
    assert lines[:2] == ["i want a beer .", ""] and len(lines) == 4
    assert toy("translate").stdout == b""


def test_scores_are_printed_with_their_signature(toy: Call) -> None:
    assert b"60 updates, validation loss" in toy("train").stdout  # which is finished
    result = toy("evaluate", "--split", "test")
    assert b"nrefs:1|" in result.stdout and b"exactly right 100.0 %" in result.stdout


def test_data_shows_what_a_file_of_pairs_holds(tmp_path: Path, nmt_lib: Call) -> None:
    lines = [f"The cat {i // 2} sleeps.\tKot śpi {i} raz.\n" for i in range(200)]
    source = "The &quot;cat&quot; 0 sleeps on the sofa."
    lines[:2] = [f"{source}\tKot śpi {i} raz na sofie.\n" for i in (0, 1)]
    lines += ["The cat 3 sleeps.\t\n", "OK\tOK\n", "?\n", lines[5]]
    (tmp_path / "a b.tsv").write_text("".join(lines), encoding="utf-8")
    langs = ("--src-lang", "en", "--tgt-lang", "pl")
    result = nmt_lib("data", "a b.tsv", *langs, "--out", "made", cwd=tmp_path)
    said = result.stdout.decode()
    assert result.returncode == 0 and not result.stderr, result.stderr
    for part in """204 found in a b.tsv
columns: 1 → 2
1 left out: empty
1 left out: both sides equal
1 left out: there already
1 left out: lines without two columns, parted by '\\t'
200 kept; 2 in the largest
the first: The "cat" 0 sleeps on the sofa.  |  Kot śpi 0
train 180, valid 10, test 10""".splitlines():
        assert part in said, said
    itself = nmt_lib("data", "made/train", *langs, "--out", "made", cwd=tmp_path)
    assert b"train.en is there already" in itself.stderr
    shown = said.split("\n")
    assert "0.0 % of the test sources are in train" in shown, said
    assert "    The cat 3 sleeps.  |  " in shown, said
    assert f"    {source[:37]}…  |  Kot śpi 0 raz na sofie." in shown, said
    blank = [line for line in shown if not line.strip()]
    assert blank == ["", ""], "before the pairs and at the end; no example is one"
    assert float(said.partition(" % would be")[0].rpartition("\n")[2]) > 50
    assert said.count("    Kot śpi") == 10
    where = {"data.corpus": f"{tmp_path}/made", "data.tgt_lang": "pl"}
    folder = nmt.load_corpus(nmt.load_config("pair", **where).data)
    assert [len(p) for p in (folder.train, folder.valid, folder.test)] == [180, 10, 10]


def test_data_that_keeps_nothing_is_a_mistake(tmp_path: Path, nmt_lib: Call) -> None:
    (tmp_path / "a.tsv").write_text("OK\tOK\n")
    command = "data a.tsv --src-lang en --tgt-lang pl"
    result = nmt_lib(*command.split(), cwd=tmp_path)
    assert result.returncode == 2 and b"1 left out: both sides equal" in result.stdout
    assert result.stderr == b"error: a.tsv: no pair is left\n"


def assert_one_line(result: Done, *parts: str) -> None:
    error = result.stderr.decode()
    assert result.returncode == 2 and result.stdout == b"", error
    assert error.startswith("error: ") and error.count("\n") == 1, error
    assert all(part in error for part in parts), error


MISTAKES = """
train nowhere.yaml | unknown config 'nowhere.yaml'
train tiny --set train.sed=1 | 'train.sed' | train.seed
train tiny --set train.seed | key=value
train toy --set run_dir=file | file
train multi30k-en-de | unknown config
train multi30k | no file | multi30k/train.en | NMT_DATA
translate tiny --text Hello | no model file
evaluate tiny --split train | --split
data none.tsv --src-lang en --tgt-lang pl | there is no such file
data none.tsv --src-lang en --tgt-lang Polish | 'Polish' is no language
 | train|translate|evaluate
"""


@pytest.mark.parametrize("line", rows(MISTAKES), ids=lambda line: line[0])
def test_a_mistake_is_one_line_and_exit_code_2(
    tmp_path: Path, nmt_lib: Call, line: list[str]
) -> None:
    command, *parts = line
    (tmp_path / "file").write_text("a file where a folder should be", encoding="utf-8")
    result = nmt_lib(*command.split(), cwd=tmp_path, NMT_DATA=str(tmp_path))
    assert_one_line(result, *parts)


def test_input_that_is_not_utf8_is_one_line(toy: Call) -> None:
    result = toy("translate", stdin=b"ich\nm\xf6chte\n")
    assert_one_line(result, "standard input is not UTF-8")
    result = toy("translate", "--text", os.fsdecode(b"m\xf6chte"))
    assert_one_line(result, "an argument is not UTF-8")


@pytest.mark.filterwarnings("always")
def test_a_model_that_is_not_what_the_config_says_warns(toy: Call) -> None:
    text = ("--text", "ich mochte ein bier")
    for setting, message in (
        ("train.max_steps=61", r"it is=here has 60 of train\.max_steps=61 updates"),
        ("train.select=best", r"it is=here was made with train\.select=last, not best"),
    ):
        shown = warnings.showwarning
        result = toy("translate", *text, "--set", setting)
        assert re.fullmatch(rf"warning: .*{message}.*\n", result.stderr.decode())
        assert result.stdout == b"i want a beer .\n"
        assert warnings.showwarning is shown, "a command keeps no global replaced"
    assert toy("translate", *text).stderr == b""


def test_a_run_or_a_model_file_is_as_good_as_a_config(run: Path, nmt_lib: Call) -> None:
    for name in (run.name, str(run), str(run / "model.safetensors")):
        for command in (("translate", "--text", "ich mochte ein bier"), ("evaluate",)):
            options = (command[0], name, *command[1:], "--set", "decode.beam_size=2")
            result = nmt_lib(*options, cwd=Path("/"), NMT_RUNS=str(run.parent))
            assert result.returncode == 0 and not result.stderr, result.stderr
            assert result.stdout.startswith((b"i want a beer .\n", b"BLEU 100.00"))
    options = ("translate", run.name, "--set", "train.seed=1")
    result = nmt_lib(*options, cwd=Path("/"), NMT_RUNS=str(run.parent))
    assert_one_line(result, "cannot decode: unknown key 'train.seed'")


@pytest.mark.parametrize(
    ("error", "code"),
    [(RuntimeError("you tried\nto allocate"), 2), (KeyboardInterrupt(), 130)],
)
def test_what_torch_raises_is_one_line_and_stopping_is_no_error(
    error: BaseException,
    code: int,
    tmp_path: Path,
    nmt_lib: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail = mock.Mock(side_effect=error, __name__="train", __doc__="")
    monkeypatch.setattr(cli, "train", fail)
    result = nmt_lib("train", "toy", cwd=tmp_path)
    assert (result.returncode, result.stderr.count(b"\n")) == (code, 1)


def test_a_process_translates_with_a_bundled_model_in_any_locale(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "nmt_lib", "translate", "multi30k-en-fr"]
    command += ["--text", "A boy eats.", "--set", "decode.beam_size=1"]
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env = os.environ | locale
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True)
    assert "garçon" in result.stdout.decode("utf-8"), result.stderr.decode()
    assert list(tmp_path.iterdir()) == []
