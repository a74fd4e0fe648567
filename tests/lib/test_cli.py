"""The shell entry: what it prints, and one line with exit code 2 for every mistake.

What differs between a process and a call of ``main`` is tried as a process; all else is a call: loading takes seconds.
"""

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt_lib.runs import cli
from nmt_lib.translator import PRETRAINED

Done = subprocess.CompletedProcess[bytes]

ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if key not in ("NMT_DATA", "NMT_RUNS")
} | {
    "OMP_NUM_THREADS": "1",
    "HF_ENDPOINT": "https://name-that-does-not-exist.invalid",
}


def process(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> Done:
    command = [sys.executable, "-m", "nmt_lib", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT | environment,
    )


@pytest.fixture
def nmt_lib(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Done]:
    """The same without a process of its own."""

    def call(
        *arguments: str, cwd: Path, stdin: bytes = b"", **environment: str
    ) -> Done:
        for name in ("NMT_DATA", "NMT_RUNS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        )
        monkeypatch.setattr(
            warnings, "showwarning", warnings.showwarning
        )  # main has one of its own
        capfdbinary.readouterr()
        try:
            code = cli.main(list(arguments))
        except SystemExit as error:
            code = int(error.code or 0)
        return Done(arguments, code, *capfdbinary.readouterr())

    return call


@pytest.fixture(scope="module")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the toy config, trained through the shell, in a path with a space."""
    folder = tmp_path_factory.mktemp("toy run")
    result = process(
        "train",
        "toy",
        "--set",
        f"run_dir={folder}/here is it",
        "train.max_steps=60",
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr.decode()
    assert b"60 updates, validation loss" in result.stdout
    return folder


@pytest.fixture
def toy(toy_run: Path, nmt_lib: Callable[..., Done]) -> Callable[..., Done]:
    def call(command: str, *arguments: str, stdin: bytes = b"") -> Done:
        return nmt_lib(
            command,
            "toy",
            "--set",
            f"run_dir={toy_run}/here is it",
            *arguments,
            cwd=toy_run,
            stdin=stdin,
        )

    return call


def test_texts_are_translated_line_by_line(toy: Callable[..., Done]) -> None:
    result = toy("translate", "--text", "ich mochte ein bier", "ich mochte ein cola")
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout == b"i want a beer .\ni want a coke .\n"


def test_standard_input_is_translated_line_by_line_and_empty_lines_stay(
    toy: Callable[..., Done],
) -> None:
    text = "ich mochte ein bier\r\n\nich mochte ein cola 😀\x0c".encode()
    result = toy("translate", stdin=text)
    assert result.returncode == 0, result.stderr.decode()
    lines = result.stdout.decode().split("\n")
    assert lines[:2] == ["i want a beer .", ""]
    assert len(lines) == 4


def test_no_input_gives_no_output(toy: Callable[..., Done]) -> None:
    result = toy("translate")
    assert (result.returncode, result.stdout) == (0, b"")


def test_scores_are_printed_with_their_signature(toy: Callable[..., Done]) -> None:
    result = toy("evaluate", "--split", "test")
    assert result.returncode == 0, result.stderr.decode()
    assert b"nrefs:1|" in result.stdout
    assert b"exactly right 100.0 %" in result.stdout


def test_training_again_finds_the_run_finished(
    toy_run: Path, toy: Callable[..., Done]
) -> None:
    before = (toy_run / "here is it" / "model.safetensors").stat().st_mtime_ns
    assert toy("train", "train.max_steps=60").returncode == 0
    assert (toy_run / "here is it" / "model.safetensors").stat().st_mtime_ns == before


def assert_one_line(result: Done, *parts: str) -> None:
    error = result.stderr.decode()
    assert result.returncode == 2, error
    assert error.startswith("error: ")
    assert error.count("\n") == 1, error
    assert all(part in error for part in parts), error
    assert result.stdout == b""


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["train", "nowhere.yaml"], ["no config file nowhere.yaml"]),
        (
            ["train", "tiny", "--set", "train.sed=1"],
            ["unknown key 'train.sed'", "train.seed"],
        ),
        (["train", "tiny", "--set", "train.seed"], ["key=value"]),
        (["train", "tiny", "--set", "train.seed=one"], ["train.seed", "valid integer"]),
        (["train", "tiny", "--set", "model.d_model=30"], ["not divisible"]),
        (["train", "tiny", "--set", "train.seed={"], ["not valid YAML"]),
        (["train", "toy", "--set", "run_dir=file"], ["file"]),
        (
            ["translate", "tiny", "--text", "Hello"],
            ["no trained model", "python -m nmt_lib train tiny"],
        ),
        (["evaluate", "tiny"], ["no trained model", "python -m nmt_lib train tiny"]),
        (["evaluate", "tiny", "--split", "train"], ["--split"]),
        (["sing", "tiny"], ["sing"]),
        ([], ["train|translate|evaluate"]),
    ],
    ids=lambda value: " ".join(value[:4]),
)
def test_a_mistake_is_one_line_and_exit_code_2(
    tmp_path: Path, nmt_lib: Callable[..., Done], arguments: list[str], parts: list[str]
) -> None:
    (tmp_path / "file").write_text("a file where a folder should be", encoding="utf-8")
    assert_one_line(nmt_lib(*arguments, cwd=tmp_path), *parts)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["train", "tinny"], ["unknown config 'tinny'", "did you mean 'tiny'"]),
        (["train", "multi30k"], ["cannot be reached", "NMT_DATA", "tiny"]),
    ],
)
def test_a_mistake_is_one_line_of_a_process(
    tmp_path: Path, arguments: list[str], parts: list[str]
) -> None:
    assert_one_line(process(*arguments, cwd=tmp_path), *parts)


def test_the_model_that_comes_with_the_library_translates(
    tmp_path: Path, nmt_lib: Callable[..., Done]
) -> None:
    arguments = [
        "translate",
        "multi30k-en-de",
        "--text",
        "Two dogs.",
        "--set",
        "decode.beam_size=1",
    ]
    done = nmt_lib(*arguments, cwd=tmp_path)
    assert done.returncode == 0 and b"Hunde" in done.stdout, done.stderr.decode()
    assert [file.name for file in tmp_path.iterdir()] == []


def test_the_model_that_comes_with_the_library_is_not_trained_on(
    tmp_path: Path, nmt_lib: Callable[..., Done]
) -> None:
    before = sorted(PRETRAINED.rglob("*"))
    assert_one_line(nmt_lib("train", "multi30k-en-de", cwd=tmp_path), "Translator.load")
    assert sorted(PRETRAINED.rglob("*")) == before, (
        "training wrote into the library's own folder"
    )


def test_missing_data_is_one_line_with_the_file(
    tmp_path: Path, nmt_lib: Callable[..., Done]
) -> None:
    result = nmt_lib("train", "multi30k", cwd=tmp_path, NMT_DATA=str(tmp_path))
    assert_one_line(result, "no file", "multi30k/train.en", "NMT_DATA")


def test_input_that_is_not_utf8_is_one_line(toy: Callable[..., Done]) -> None:
    assert_one_line(
        toy("translate", stdin=b"ich\nm\xf6chte\n"),
        "standard input is not UTF-8 at byte 5",
    )


def test_a_run_in_another_direction_is_not_used_silently(
    toy: Callable[..., Done],
) -> None:
    swapped = ["data.src_lang=en", "data.tgt_lang=de"]
    assert_one_line(toy("translate", *swapped), "was trained on de→en, not en→de")


def test_help_explains_the_commands(
    tmp_path: Path, nmt_lib: Callable[..., Done]
) -> None:
    result = nmt_lib("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert all(word in result.stdout for word in (b"train", b"translate", b"evaluate"))


def test_another_folder_and_another_locale(tmp_path: Path) -> None:
    """A copy of a model that comes along; what is said is UTF-8, as what is read."""
    name = "multi30k-en-fr"
    asked = (
        "translate",
        name,
        "--set",
        f"run_dir={PRETRAINED / name}",
        "--text",
        "A boy eats.",
    )
    result = process(
        *asked, cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert result.returncode == 0, result.stderr.decode()
    assert "garçon" in result.stdout.decode("utf-8")
