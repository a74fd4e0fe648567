"""Export to ``transformers``: the same weights as a Marian model, so that a model can be put on the hub.

Marian (Junczys-Dowmunt et al., 2018) is the Transformer of the paper; ``transformers`` has it as ``MarianMTModel``.
What is written needs this library no more, and writing it needs no ``transformers``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from ..errors import ConfigError
from ..special import EOS, PAD, SOS, SPECIALS, UNK
from ..tokenizers import SentencePieceTokenizer, Tokenizer
from ..transformer import Transformer, count_parameters
from ..translator import Translator
from .export import checked_empty, longest
from .files import write_file

NAMES = {
    "around_attention.norm": "self_attn_layer_norm",
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "W_q": "q_proj",
    "W_k": "k_proj",
    "W_v": "v_proj",
    "W_o": "out_proj",
    "feed_forward.W_1": "fc1",
    "feed_forward.W_2": "fc2",
}


def export_hugging_face(translator: Translator, folder: str | os.PathLike[str]) -> Path:
    """Writes a Marian model and its tokenizer, for ``AutoModelForSeq2SeqLM`` and ``AutoTokenizer``; returns the folder.

    Greedy search (``generate(..., num_beams=1)``) gives the tokens of ``Translator``. A beam need not: ``transformers``
    divides a log-probability by length^α.

    Args:
        translator: what to export.
        folder: must be empty or not exist yet.

    Raises:
        ConfigError: what Marian does not have: words instead of pieces, lower-casing, pre-LN or a final norm,
            ``model.d_value`` other than d_model / n_heads.
        CheckpointError: the folder is not empty, or cannot be written.
    """
    _check(translator)
    folder = checked_empty(folder)
    for name, values in _tables(translator).items():
        write_file(
            folder / name,
            (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode(),
        )
    for side, tokenizer in (
        ("source", translator.src_tokenizer),
        ("target", translator.tgt_tokenizer),
    ):
        write_file(folder / f"{side}.spm", tokenizer.model)  # type: ignore[attr-defined]  # see _check
    write_file(
        folder / "model.safetensors",
        save(marian_weights(translator.model), {"format": "pt"}),
    )
    write_file(folder / "README.md", _card(translator).encode())
    return folder


def marian_weights(model: Transformer) -> dict[str, Tensor]:
    """Our weights under Marian's names, with the features of every vector between the layers in Marian's order."""
    order = sines_then_cosines(model.tgt_embedding.lookup.weight.size(1))  # (D)
    weights = {"final_logits_bias": _bias(model.output)[None]}  # (1, V)
    for name, module in model.named_modules():
        if name == "output" or not isinstance(module, nn.Linear | nn.LayerNorm):
            continue
        weight, bias = module.weight.detach(), _bias(module)
        if name.endswith(("W_q", "W_k", "W_v", "W_1")):  # reads a vector of width D
            weight = weight[:, order]
        else:  # writes one
            weight, bias = weight[order], bias[order]
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        weights |= {f"model.{name}.weight": weight, f"model.{name}.bias": bias}
    src, tgt, out = (
        model.src_embedding.lookup.weight,
        model.tgt_embedding.lookup.weight,
        model.output.weight,
    )
    tables = {"model.shared": src}
    if src is not tgt:
        tables = {"model.encoder.embed_tokens": src, "model.decoder.embed_tokens": tgt}
    if out is not tgt:
        tables["lm_head"] = out
    weights |= {
        f"{name}.weight": table.detach()[:, order] for name, table in tables.items()
    }
    return {
        name: tensor.float().cpu().contiguous().clone()
        for name, tensor in weights.items()
    }


def sines_then_cosines(d_model: int) -> Tensor:
    """The even features, then the odd ones: Marian's positions hold all sines before all cosines. ``(D)``"""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def _bias(module: Any) -> Tensor:
    """Of a linear layer or a layer norm; zeros where it has none."""
    return (
        module.weight.new_zeros(len(module.weight))
        if module.bias is None
        else module.bias.detach()
    )


def _check(translator: Translator) -> None:
    m, data = translator.config.model, translator.config.data
    pieces = isinstance(translator.src_tokenizer, SentencePieceTokenizer)
    for wrong, what in (
        (
            not pieces,
            f"words (data.tokenizer={data.tokenizer}), only pieces: bpe or unigram",
        ),
        (data.lowercase, "data.lowercase=true"),
        (
            m.norm == "pre" or isinstance(translator.model.encoder.norm, nn.LayerNorm),
            "pre-LN or a final norm",
        ),
        (
            m.d_value not in (None, m.d_model // m.n_heads),
            f"model.d_value={m.d_value} beside d_model / n_heads",
        ),
    ):
        if wrong:
            raise ConfigError(
                f"cannot export to Marian of transformers: it does not have {what}"
            )


def _tables(translator: Translator) -> dict[str, dict[str, Any]]:
    """What ``transformers`` needs beside weights and pieces: file → what it holds."""
    model, m, data = translator.model, translator.config.model, translator.config.data
    src, tgt, out = (
        model.src_embedding.lookup.weight,
        model.tgt_embedding.lookup.weight,
        model.output.weight,
    )
    special = {
        "pad_token_id": PAD,
        "bos_token_id": SOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": SOS,
    }
    most = longest(translator.config.decode)
    config = {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "vocab_size": len(src),
        "decoder_vocab_size": len(tgt),
        "share_encoder_decoder_embeddings": src is tgt,
        "tie_word_embeddings": tgt is out,
        "d_model": m.d_model,
        "encoder_layers": len(model.encoder.layers),
        "decoder_layers": len(model.decoder.layers),
        "encoder_attention_heads": m.n_heads,
        "decoder_attention_heads": m.n_heads,
        "encoder_ffn_dim": m.d_ff,
        "decoder_ffn_dim": m.d_ff,
        "activation_function": "relu",
        "scale_embedding": m.scale_embeddings,
        "max_position_embeddings": most,
        "dropout": m.dropout,
        "attention_dropout": m.attention_dropout,
        "activation_dropout": m.ffn_dropout,
        "is_encoder_decoder": True,
        "forced_eos_token_id": None,
    }
    search = {
        "num_beams": translator.config.decode.beam_size,
        "do_sample": False,
        "max_length": most,
    }
    tokenizer = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": data.src_lang,
        "target_lang": data.tgt_lang,
        "separate_vocabs": not data.joint,
        "pad_token": SPECIALS[PAD],
        "unk_token": SPECIALS[UNK],
        "eos_token": SPECIALS[EOS],
        "model_max_length": translator.config.decode.max_source_tokens,
        "sp_model_kwargs": {
            "add_bos": translator.src_tokenizer.sos
        },  # <sos> before a source
        "clean_up_tokenization_spaces": False,
    }
    return {
        "config.json": config | special,
        "generation_config.json": special | search | {"suppress_tokens": [PAD, SOS]},
        "tokenizer_config.json": tokenizer,
        "vocab.json": _ids(translator.src_tokenizer),
        "target_vocab.json": _ids(translator.tgt_tokenizer),
    }


def _ids(tokenizer: Tokenizer) -> dict[str, int]:
    return {
        token: index
        for index, token in enumerate(tokenizer.lookup_tokens(range(len(tokenizer))))
    }


def _card(translator: Translator) -> str:
    data, model = translator.config.data, translator.model
    layers = f"{len(model.encoder.layers)} + {len(model.decoder.layers)}"
    return f"""---
language: [{data.src_lang}, {data.tgt_lang}]
library_name: transformers
pipeline_tag: translation
---
# {translator.config.name}: {data.src_lang} to {data.tgt_lang}

A Transformer ([Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)) that translates `{data.src_lang}` to
`{data.tgt_lang}`, trained on `{data.corpus}` with nmt_lib: {layers} layers, d_model {translator.config.model.d_model},
{count_parameters(model):,} parameters. It knows what that corpus holds and nothing else.

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = "."  # this folder, or its name on the hub
model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
found = model.generate(**tokenizer([text], return_tensors="pt", padding=True))
tokenizer.batch_decode(found, skip_special_tokens=True)
```
"""
