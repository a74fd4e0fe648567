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
from torch import Tensor, nn

from ..errors import CheckpointError, ConfigError
from ..special import EOS, PAD, SOS, SPECIALS, UNK
from ..tokenizers import SentencePieceTokenizer
from ..transformer import Transformer
from ..translator import Translator
from . import folder as run_folder

NAMES = {
    "around_attention.norm": "self_attn_layer_norm", "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm", "around_feed_forward.norm": "final_layer_norm",
    "self_attention": "self_attn", "cross_attention": "encoder_attn", "W_q": "q_proj", "W_k": "k_proj",
    "W_v": "v_proj", "W_o": "out_proj", "feed_forward.W_1": "fc1", "feed_forward.W_2": "fc2",
}  # fmt: skip
CARD = """---
language: [{src}, {tgt}]
library_name: transformers
pipeline_tag: translation
---
# {name}: {src} to {tgt}

A Transformer ([Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)) that translates `{src}` to `{tgt}`, trained on
`{corpus}` with nmt_lib: {layers} layers, d_model {d_model}, {parameters} parameters. It knows what that corpus holds
and nothing else.

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = "."  # this folder, or its name on the hub
model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
found = model.generate(**tokenizer([text], return_tensors="pt", padding=True))
tokenizer.batch_decode(found, skip_special_tokens=True)
```
"""


def export_hugging_face(translator: Translator, folder: str | os.PathLike[str]) -> Path:
    """Writes a Marian model and its tokenizer, which ``AutoModelForSeq2SeqLM`` and ``AutoTokenizer`` load, and a card.

    Greedy search (``generate(..., num_beams=1)``) gives the tokens of ``Translator``. A beam need not: ``transformers``
    divides a log-probability by length^α.

    Args:
        translator: what to export.
        folder: must be empty or not exist yet.

    Returns:
        The folder.

    Raises:
        ConfigError: what Marian does not have: words instead of pieces, lower-casing, pre-LN or a final norm,
            ``model.d_value`` other than d_model / n_heads.
        CheckpointError: the folder is not empty, or cannot be written.
    """
    from safetensors.torch import save

    _check(translator)
    folder = run_folder.checked_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for side, tokenizer in (("source", translator.src_tokenizer), ("target", translator.tgt_tokenizer)):
            (folder / f"{side}.spm").write_bytes(tokenizer.model)  # type: ignore[attr-defined]  # see _check
            tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
            name = "vocab.json" if side == "source" else "target_vocab.json"
            _write(folder / name, {token: index for index, token in enumerate(tokens)})
        _write(folder / "tokenizer_config.json", _tokenizer_config(translator))
        _write(folder / "config.json", _config(translator))
        _write(folder / "generation_config.json", _generation_config(translator))
        (folder / "model.safetensors").write_bytes(save(marian_weights(translator.model), {"format": "pt"}))
        run_folder.write_text(folder / "README.md", _card(translator))
    except OSError as error:
        raise CheckpointError(f"cannot write to the folder {folder} ({error.strerror or error})") from None
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
    src, tgt, out = model.src_embedding.lookup.weight, model.tgt_embedding.lookup.weight, model.output.weight
    tables = (
        {"model.shared": src} if src is tgt else {"model.encoder.embed_tokens": src, "model.decoder.embed_tokens": tgt}
    )
    tables |= {} if out is tgt else {"lm_head": out}
    weights |= {f"{name}.weight": table.detach()[:, order] for name, table in tables.items()}
    return {name: tensor.float().cpu().contiguous().clone() for name, tensor in weights.items()}


def sines_then_cosines(d_model: int) -> Tensor:
    """The even features, then the odd ones: Marian's positions hold all sines before all cosines. ``(D)``"""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def _bias(module: Any) -> Tensor:
    """Of a linear layer or a layer norm; zeros where it has none."""
    return module.weight.new_zeros(len(module.weight)) if module.bias is None else module.bias.detach()


def _check(translator: Translator) -> None:
    m, data = translator.config.model, translator.config.data
    pieces = isinstance(translator.src_tokenizer, SentencePieceTokenizer)
    for wrong, what in (
        (not pieces, f"words (data.tokenizer={data.tokenizer}), only pieces: bpe or unigram"),
        (data.lowercase, "data.lowercase=true"),
        (m.norm == "pre" or isinstance(translator.model.encoder.norm, nn.LayerNorm), "pre-LN or a final norm"),
        (m.d_value not in (None, m.d_model // m.n_heads), f"model.d_value={m.d_value} beside d_model / n_heads"),
    ):
        if wrong:
            raise ConfigError(f"cannot export to Marian of transformers: it does not have {what}")


def _config(translator: Translator) -> dict[str, Any]:
    model, m = translator.model, translator.config.model
    sizes = {"attention_heads": m.n_heads, "ffn_dim": m.d_ff}
    tables = [model.src_embedding.lookup.weight, model.tgt_embedding.lookup.weight, model.output.weight]
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "vocab_size": len(translator.src_tokenizer),
        "decoder_vocab_size": len(translator.tgt_tokenizer),
        "share_encoder_decoder_embeddings": tables[0] is tables[1],
        "tie_word_embeddings": tables[1] is tables[2],
        "d_model": m.d_model,
        "encoder_layers": len(model.encoder.layers),
        "decoder_layers": len(model.decoder.layers),
        **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in sizes.items()},
        "activation_function": "relu",
        "scale_embedding": m.scale_embeddings,
        "max_position_embeddings": _longest(translator),
        "dropout": m.dropout,
        "attention_dropout": m.attention_dropout,
        "activation_dropout": m.ffn_dropout,
        "is_encoder_decoder": True,
        "forced_eos_token_id": None,
        **_special_ids(),
    }


def _special_ids() -> dict[str, int]:
    return {"pad_token_id": PAD, "bos_token_id": SOS, "eos_token_id": EOS, "decoder_start_token_id": SOS}


def _longest(translator: Translator) -> int:
    decode = translator.config.decode
    return decode.max_source_tokens + decode.max_extra_tokens + 1  # <sos> stands before the translation


def _generation_config(translator: Translator) -> dict[str, Any]:
    search = {"num_beams": translator.config.decode.beam_size, "do_sample": False, "max_length": _longest(translator)}
    return _special_ids() | search | {"suppress_tokens": [PAD, SOS]}


def _tokenizer_config(translator: Translator) -> dict[str, Any]:
    data = translator.config.data
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": data.src_lang,
        "target_lang": data.tgt_lang,
        "separate_vocabs": not data.joint,
        "pad_token": SPECIALS[PAD],
        "unk_token": SPECIALS[UNK],
        "eos_token": SPECIALS[EOS],
        "model_max_length": translator.config.decode.max_source_tokens,
        "sp_model_kwargs": {"add_bos": translator.src_tokenizer.sos},  # <sos> before a source
        "clean_up_tokenization_spaces": False,
    }


def _card(translator: Translator) -> str:
    config = translator.config
    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    return CARD.format(
        name=config.name, src=config.data.src_lang, tgt=config.data.tgt_lang, corpus=config.data.corpus,
        layers=f"{len(translator.model.encoder.layers)} + {len(translator.model.decoder.layers)}",
        d_model=config.model.d_model, parameters=f"{parameters:,}",
    )  # fmt: skip


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
