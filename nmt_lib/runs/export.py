"""Export: a trained model as files for CTranslate2, a C++ engine that translates without torch.

The weights move over unchanged, so log-probabilities and greedy translations stay the same. CTranslate2 (Klein et al.,
2020, https://github.com/OpenNMT/CTranslate2) is where to go when the chapters are read and others want translations.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..attention import MultiHeadAttention
from ..config import DecodeConfig
from ..decoder import DecoderLayer
from ..embeddings import sinusoids
from ..encoder import EncoderLayer
from ..errors import CheckpointError, ConfigError, MissingPackageError
from ..layers import Residual
from ..special import EOS, SOS, SPECIALS, UNK
from ..translator import Translator
from .folder import save_copy


def export_ctranslate2(
    translator: Translator,
    folder: str | os.PathLike[str],
    quantization: str | None = None,
) -> Path:
    """Writes a CTranslate2 model, both tokenizers and the config into a new folder, and returns it.

    Any program with CTranslate2 reads it. It gives the source tokens without special ones, which are added as in
    training, and keeps ``<pad>`` and ``<sos>`` from being said; in Python::

        engine, target = ctranslate2.Translator(str(folder)), translator.tgt_tokenizer
        sources = [translator.src_tokenizer.tokenize(text) for text in texts]
        found = engine.translate_batch(sources, suppress_sequences=[["<pad>"], ["<sos>"]])
        ids = {token: index for index, token in enumerate(target.lookup_tokens(range(len(target))))}
        [target.decode(ids[token] for token in result.hypotheses[0]) for result in found]

    Greedy search gives the tokens of ``Translator``. A beam need not: CTranslate2 divides a log-probability by
    length^α, ``<eos>`` not counted, and stops at the first finished translations.

    Args:
        translator: what to export; its config says what the model looks like.
        folder: must be empty or not exist yet.
        quantization: how the matrices are stored: None in fp32; ``"int8"``, ``"int16"``, ``"float16"`` … round them, so
            that the file is smaller, and translations may differ here and there.

    Raises:
        ConfigError: a model that the format cannot hold (``model.d_value`` other than d_model / n_heads), or an
            unknown quantization.
        CheckpointError: the folder is not empty, or cannot be written.
        MissingPackageError: CTranslate2 is not installed.
    """
    try:
        import ctranslate2
    except ImportError:
        message = "CTranslate2 is not installed: pip install ctranslate2 (the extra `export` of this library brings it)"
        raise MissingPackageError(message) from None
    folder = checked_empty(folder)
    spec = _make_spec(ctranslate2.specs.TransformerSpec, translator)
    spec.validate()
    try:
        spec.optimize(quantization)
    except ValueError as error:
        raise ConfigError(
            f"cannot export with quantization={quantization!r}: {error}"
        ) from None
    save_copy(
        folder, translator.config, (translator.src_tokenizer, translator.tgt_tokenizer)
    )
    try:
        spec.save(str(folder))
    except OSError as error:
        raise CheckpointError(
            f"cannot write to the folder {folder} ({error.strerror or error})"
        ) from None
    return folder


def checked_empty(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder to export to; a CheckpointError where it holds something."""
    path = Path(folder)
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise CheckpointError(f"{path} is not an empty folder: export to a new one")
    return path


def longest(decode: DecodeConfig) -> int:
    """How many tokens the decoder may read: ``<sos>`` stands before the longest translation."""
    return decode.max_source_tokens + decode.max_extra_tokens + 1


def _make_spec(TransformerSpec: Any, translator: Translator) -> Any:
    """CTranslate2's description of the model, with our weights, vocabularies and positions in it."""
    model, config = translator.model, translator.config.model
    d_k = config.d_model // config.n_heads
    if config.d_value not in (None, d_k):
        raise ConfigError(
            f"CTranslate2 needs values as wide as keys: it cannot hold model.d_value={config.d_value} "
            f"beside d_model / n_heads = {d_k}"
        )
    n_layers = len(model.encoder.layers), len(model.decoder.layers)
    # A pre-LN description has a place for the final norms; where they stand is then said by ``pre_norm``.
    no_final_norm = isinstance(model.encoder.norm, nn.Identity)
    spec = TransformerSpec.from_config(
        n_layers, config.n_heads, no_final_norm=no_final_norm
    )
    table = model.tgt_embedding.positions.table  # (P, D)
    positions = sinusoids(
        max(len(table), longest(translator.config.decode)), table.size(1)
    )
    parts: Any = ((spec.encoder, model.encoder), (spec.decoder, model.decoder))
    for part, ours in parts:
        part.pre_norm = config.norm == "pre"
        part.scale_embeddings = config.scale_embeddings
        part.position_encodings.encodings = _array(positions)
        if isinstance(ours.norm, nn.LayerNorm):
            _fill_norm(part.layer_norm, ours.norm)
        for place, layer in zip(part.layer, ours.layers, strict=True):
            _fill_layer(place, layer)
    spec.encoder.embeddings[0].weight = _array(model.src_embedding.lookup.weight)
    spec.decoder.embeddings.weight = _array(model.tgt_embedding.lookup.weight)
    _fill_linear(spec.decoder.projection, model.output)
    src, tgt = translator.src_tokenizer, translator.tgt_tokenizer
    spec.register_source_vocabulary(src.lookup_tokens(range(len(src))))
    spec.register_target_vocabulary(tgt.lookup_tokens(range(len(tgt))))
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (
        SPECIALS[UNK],
        SPECIALS[SOS],
        SPECIALS[EOS],
    )
    spec.config.decoder_start_token = SPECIALS[SOS]
    spec.config.add_source_bos, spec.config.add_source_eos = src.sos, True
    spec.config.layer_norm_epsilon = 1e-5  # PyTorch's own
    return spec


def _fill_layer(place: Any, layer: EncoderLayer | DecoderLayer) -> None:
    if isinstance(layer, DecoderLayer):
        _fill_attention(
            place.self_attention, layer.self_attention, layer.around_self_attention
        )
        _fill_attention(
            place.attention, layer.cross_attention, layer.around_cross_attention
        )
    else:
        _fill_attention(
            place.self_attention, layer.self_attention, layer.around_attention
        )
    _fill_linear(place.ffn.linear_0, layer.feed_forward.W_1)
    _fill_linear(place.ffn.linear_1, layer.feed_forward.W_2)
    _fill_norm(place.ffn.layer_norm, layer.around_feed_forward.norm)


def _fill_attention(
    place: Any, attention: MultiHeadAttention, around: Residual
) -> None:
    """CTranslate2 keeps as one matrix what is multiplied with the same input."""
    q, k, v, o = attention.W_q, attention.W_k, attention.W_v, attention.W_o
    groups = (
        [(q, k, v), (o,)] if len(place.linear) == 2 else [(q,), (k, v), (o,)]
    )  # self-attention, cross-attention
    for linear, layers in zip(place.linear, groups, strict=True):
        _fill_linear(linear, *layers)
    _fill_norm(place.layer_norm, around.norm)


def _fill_linear(place: Any, *layers: nn.Linear) -> None:
    place.weight = _array(
        torch.cat([layer.weight for layer in layers])
    )  # (rows of all, D)
    if layers[0].bias is not None:
        place.bias = _array(torch.cat([layer.bias for layer in layers]))


def _fill_norm(place: Any, norm: nn.LayerNorm) -> None:
    """A LayerNorm without bias gets zeros: where none stands, CTranslate2 computes an RMSNorm."""
    place.gamma = _array(norm.weight)
    place.beta = _array(
        torch.zeros_like(norm.weight) if norm.bias is None else norm.bias
    )


def _array(tensor: Tensor) -> np.ndarray:
    """A copy: quantization works in place, and the model goes on living."""
    return tensor.detach().float().cpu().numpy().copy()
