"""The other files of a run's folder: its config and its tokenizers."""

from __future__ import annotations

import base64
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path

from ..config import Config, DataConfig
from ..configs.reading import load_config
from ..errors import CheckpointError, ConfigError
from ..special import SPECIALS
from ..tokenizers import SentencePieceTokenizer, Tokenizer, WordTokenizer
from ..vocab import Vocab


def write_text(path: Path, text: str) -> None:
    """Writes a small text file in one step: either the old or the new content is there, never half of it."""
    part = path.with_suffix(path.suffix + ".tmp")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise CheckpointError(f"cannot write {path} ({error.strerror or error}): free some space") from None


def checked_empty(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder to export to.

    Raises:
        CheckpointError: it holds something.
    """
    path = Path(folder)
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise CheckpointError(f"{path} is not an empty folder: export to a new one")
    return path


def read_config(folder: Path) -> Config:
    """The config that stands in a run's folder.

    Raises:
        CheckpointError: missing or damaged.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        raise CheckpointError(f"{path} is missing: restore it, or train again")
    try:
        config = load_config(path)
        if "\ndecode:" not in path.read_text(encoding="utf-8"):  # the last section that to_yaml writes
            raise ConfigError("it is cut off")
        return config
    except ConfigError as error:
        raise CheckpointError(f"{path} does not describe a run ({error})") from None


def save_tokenizers(folder: Path, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    """One file for each side.

    Raises:
        CheckpointError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for side, tokenizer in zip(("src", "tgt"), tokenizers, strict=True):
            write_text(folder / f"{side}_tokenizer.json", tokenizer.dumps())
    except OSError as error:
        raise CheckpointError(f"cannot write to the folder {folder} ({error.strerror or error})") from None


def load_tokenizers(folder: Path, data: DataConfig) -> tuple[Tokenizer, Tokenizer]:
    """Both tokenizers of a run's folder; its ``data`` says whether sources start with ``<sos>``."""
    src, tgt = (load_tokenizer(folder / f"{side}_tokenizer.json") for side in ("src", "tgt"))
    src.sos = data.src_specials
    return src, tgt


def load_tokenizer(path: Path) -> Tokenizer:
    """Reads a file that holds what ``dumps`` gave.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        tokenizer: Tokenizer
        if "model" in fields:
            model = zlib.decompress(base64.b64decode(fields["model"]))
            tokenizer = SentencePieceTokenizer(fields["kind"], model, fields["lowercase"])
        else:
            tokenizer = WordTokenizer(fields["kind"], fields["lang"], Vocab(fields["tokens"]), fields["lowercase"])
        if tokenizer.lookup_tokens(range(len(SPECIALS))) != list(SPECIALS):
            raise ValueError(f"its first tokens are not {', '.join(SPECIALS)}")
        return tokenizer
    except FileNotFoundError:
        raise CheckpointError(f"no tokenizer file {path}: restore it, or train again") from None
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, zlib.error) as error:
        raise CheckpointError(f"tokenizer file {path} is damaged ({error}): train again or restore it") from None


def write_history(path: Path, history: list[dict[str, float]]) -> None:
    """The history as CSV, numbers rounded to six places."""
    lines = ["step,epoch,lr,train_loss,valid_loss"]
    lines += [",".join(str(round(value, 6)) for value in row.values()) for row in history]
    write_text(path, "\n".join(lines) + "\n")
