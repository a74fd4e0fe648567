"""Export to CTranslate2: a C++ engine that needs neither torch nor this library."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, ConfigError
from .export import export_hugging_face
from .translator import Translator


def export_ctranslate2(
    translator: Translator, folder: str | os.PathLike[str], quantization: str = "int8"
) -> Path:
    """Writes a model for ``ctranslate2.Translator``, with its subwords as
    ``source.spm`` and ``target.spm``; returns the folder.

    Whoever serves it needs ``ctranslate2`` and ``sentencepiece`` only. The engine takes
    tokens, with the special ones around them:
    ``["<sos>", *SentencePieceProcessor("source.spm").encode(text, out_type=str),
    "<eos>"]``.

    Args:
        translator: what to export.
        folder: must be empty or not exist yet.
        quantization: ``float32`` writes the same translations; ``int8`` is about a
            third of the size, and changes about one translation in twenty.

    Raises:
        ConfigError: as in ``export_hugging_face``; ``ctranslate2`` or ``transformers``
            is not installed.
        CheckpointError: the folder is not empty, or cannot be written.
    """
    if not all(map(find_spec, ("ctranslate2", "transformers"))):
        raise ConfigError(
            "exporting to CTranslate2 needs two packages: pip install ctranslate2 "
            "transformers"
        )
    path = Path(folder).expanduser()
    try:
        if path.exists():
            path.rmdir()  # the converter makes it
    except OSError:
        raise CheckpointError(
            f"{path} is not an empty folder: export to a new one"
        ) from None
    with tempfile.TemporaryDirectory() as home:
        exported = export_hugging_face(translator, Path(home) / "exported")
        vocabulary = ["source.spm", "target.spm"]
        _convert(str(exported), str(path), quantization, vocabulary)
    return path


def _convert(exported: str, folder: str, quantization: str, copied: list[str]) -> None:
    """Converts by the loader for BART.

    For Marian the engine's own loader expects what Marian itself trains: a decoder that
    starts from a vector of zeros, and ``<pad>`` as the last token, which it cuts off;
    for Pegasus a decoder that starts from ``<pad>``. Ours starts from ``<sos>``, and
    ``<pad>`` is the first token.
    """
    from ctranslate2.converters import transformers as converters
    from transformers import AutoConfig

    kind = AutoConfig.from_pretrained(exported)

    class Loader(converters.BartLoader):  # type: ignore[misc]
        architecture_name = kind.architectures[0]

        def get_model_spec(self, model: Any) -> Any:
            model.config.normalize_before = kind.model_type == "pegasus"
            model.config.normalize_embedding = False
            return super().get_model_spec(model)

        def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
            super().set_config(config, model, tokenizer)
            config.bos_token = config.decoder_start_token

    name, known = type(kind).__name__, converters._MODEL_LOADERS
    usual = known.get(name)
    converters.register_loader(name)(Loader)
    try:
        converter = converters.TransformersConverter(exported, copy_files=copied)
        converter.convert(folder, quantization=quantization)
    finally:
        known[name] = usual
