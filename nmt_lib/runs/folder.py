"""The small files in a run's folder: the config, the two tokenizers, the history."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Base64Bytes, Field, TypeAdapter, ValidationError

from ..config import Config, DataConfig, Section
from ..configs.reading import load_config
from ..errors import CheckpointError, ConfigError
from ..special import SPECIALS
from ..tokenizers import SentencePieceTokenizer, Tokenizer, Tokenizers, WordTokenizer
from ..vocab import Vocab
from .files import PLACE, note_old, read_text, write_text

# Keys that may differ between a run on disk and the config that asks for it: they don't change what was learnt so far.
FREE_KEYS = (
    "name",
    "run_dir",
    "decode",
    "train.max_steps",
    "train.checkpoint_every",
    "train.keep_checkpoints",
    "train.validate_every",
    "train.select",
    "train.threads",
)
OLD_CONFIG = re.compile(
    r"name: .*\ndecode:\n.*\n  batch_tokens: \d+\n", re.DOTALL
)  # from the first key to the last
MODEL_BYTES = 1 << 26  # of a SentencePiece model: a million pieces need half of it


def save_config(folder: Path, config: Config) -> None:
    write_text(folder / "config.yaml", f"# xxh3_128: {PLACE}\n{config.to_yaml()}")


def read_config(folder: Path) -> Config:
    """The config that stands in a run's folder; a CheckpointError where it is missing, damaged or cut."""
    path = folder / "config.yaml"
    text, whole = read_text(path)
    try:
        if not (whole or OLD_CONFIG.fullmatch(text)):
            raise ConfigError("it is cut off")
        config = load_config(path)
    except ConfigError as error:
        raise CheckpointError(
            f"{path} does not describe a run ({error}): restore it, or train again"
        ) from None
    if not whole:
        note_old(path)
    return config


def fixed_keys(config: Config) -> dict[str, Any]:
    """What makes a run what it is: all keys but the free ones, by their dotted names."""
    values = config.model_dump(mode="json", include={"data", "model", "train"})
    flat = {
        f"{part}.{key}": value
        for part, keys in values.items()
        for key, value in keys.items()
    }
    return {key: value for key, value in flat.items() if not key.startswith(FREE_KEYS)}


def check_same_run(config: Config, theirs: dict[str, Any], where: Path) -> None:
    """Stops a config, by the first key that differs, that would go on with the run of another one at ``where``.

    ``theirs`` are the ``fixed_keys`` of that run, without those that its version did not have yet.
    """
    for key, value in fixed_keys(config).items():
        if theirs.get(key, value) != value:
            raise CheckpointError(
                f"{where} holds a run with {key}={theirs[key]!r}, not {value!r}: "
                "give this one a folder of its own (run_dir=…), or delete that one"
            )


class _Words(Section):
    xxh3_128: str = ""
    lowercase: bool
    kind: Literal["whitespace", "spacy"]
    lang: Annotated[
        str, Field(pattern="^(en|de|fr)(/(en|de|fr))?$")
    ]  # of both sides, where they share a vocabulary
    tokens: list[str]


class _Pieces(Section):
    xxh3_128: str = ""
    lowercase: bool
    kind: Literal["unigram", "bpe"]
    model: Base64Bytes  # compressed


_FIELDS: TypeAdapter[_Words | _Pieces] = TypeAdapter(
    Annotated[_Words | _Pieces, Field(discriminator="kind")]
)


def save_tokenizers(folder: Path, tokenizers: Tokenizers) -> None:
    """One file for each side."""
    for side, tokenizer in zip(("src", "tgt"), tokenizers, strict=True):
        text = (
            f'{{"xxh3_128": "{PLACE}",\n{tokenizer.dumps().removeprefix("{").lstrip()}'
        )
        write_text(folder / f"{side}_tokenizer.json", text)


def load_tokenizers(folder: Path, data: DataConfig) -> Tokenizers:
    """Both tokenizers of a run's folder; its ``data`` says whether sources start with ``<sos>``."""
    src, tgt = (
        load_tokenizer(folder / f"{side}_tokenizer.json") for side in ("src", "tgt")
    )
    src.sos = data.src_specials
    return src, tgt


def load_tokenizer(path: Path) -> Tokenizer:
    """Reads a file that holds what ``dumps`` gave; a CheckpointError where it is missing or damaged."""
    text, whole = read_text(path)
    tokenizer: Tokenizer
    try:
        fields = _FIELDS.validate_json(text)
        if fields.xxh3_128 and not whole:
            raise ValueError("its digest is cut")
        if isinstance(fields, _Words):
            tokenizer = WordTokenizer(
                fields.kind, fields.lang, Vocab(fields.tokens), fields.lowercase
            )
        else:
            unpack = zlib.decompressobj()
            model = unpack.decompress(fields.model, MODEL_BYTES)
            if not unpack.eof:
                raise ValueError(
                    f"its model is cut, or has more than {MODEL_BYTES:,} bytes"
                )
            tokenizer = SentencePieceTokenizer(fields.kind, model, fields.lowercase)
        if tokenizer.lookup_tokens(range(len(SPECIALS))) != list(SPECIALS):
            raise ValueError(f"its first tokens are not {', '.join(SPECIALS)}")
    except (ValueError, LookupError, TypeError, RuntimeError, zlib.error) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise CheckpointError(
            f"tokenizer file {path} is damaged ({what}): train again or restore it"
        ) from None
    if not whole:
        note_old(path)
    return tokenizer


def save_copy(folder: Path, config: Config, tokenizers: Tokenizers) -> None:
    """The small files of a translator that leaves its run: they do not say where that was."""
    save_tokenizers(folder, tokenizers)
    save_config(folder, config.model_copy(update={"run_dir": ""}))


def write_history(path: Path, history: list[dict[str, float]]) -> None:
    """The history as CSV, numbers rounded to six places; ``rows`` says how many there are, so that a cut is seen."""
    lines = ["step,epoch,lr,train_loss,valid_loss,rows"]
    lines += [
        ",".join(str(round(value, 6)) for value in [*row.values(), len(history)])
        for row in history
    ]
    write_text(path, "\n".join(lines) + "\n")
