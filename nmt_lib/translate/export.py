"""Export: the same weights as a model of ``transformers``, for Hugging Face, and of
CTranslate2, a C++ engine that needs neither torch nor this library.

Post-LN models become Marian models (Junczys-Dowmunt et al., 2018), pre-LN models
Pegasus models (Zhang et al., 2020): both are the Transformer of the paper. The
exported model does not need this library, and exporting does not need ``transformers``.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from ..config import SUBWORDS, Config
from ..data.tokenizers import SentencePieceTokenizer, Tokenizer
from ..data.tokens import EOS, PAD, SOS, SPECIALS, UNK
from ..errors import CheckpointError, ConfigError, one_line
from ..model.embeddings import sinusoids
from ..model.transformer import Transformer, count_parameters
from ..training.atomic_write import write_file
from .translator import Translator

TRANSFORMERS_NAMES = {  # our name: theirs; replaced in this order
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
    "coder.norm": "coder.layer_norm",  # of a pre-LN stack
}
SPECIAL = {
    "pad_token_id": PAD,
    "bos_token_id": SOS,
    "eos_token_id": EOS,
    "decoder_start_token_id": SOS,
}


def export_hugging_face(translator: Translator, folder: str | os.PathLike[str]) -> Path:
    """Writes a model and its tokenizer for ``AutoModelForSeq2SeqLM`` and
    ``AutoTokenizer``; returns the folder.

    Greedy search (``generate(..., num_beams=1)``) gives the tokens of ``Translator``.
    Beam search may differ: ``transformers`` divides a log-probability by length^α. For
    CTranslate2, a C++ engine, there is ``export_ctranslate2``.

    Args:
        translator: what to export.
        folder: must be empty or not exist yet.

    Raises:
        ConfigError: something that ``transformers`` does not support: words instead of
            subwords, lower-casing, a final norm with post-LN or none with pre-LN,
            pre-LN without three-way tying, ``model.d_value`` ≠ d_model / n_heads.
        CheckpointError: the folder is not empty, or cannot be written; or the weights
            are not those of a Transformer of this config.
    """
    _check(translator)
    content = translator.content()
    model = content.build_model("cpu")  # with plain names, and all of them
    folder = new_folder(folder)
    for name, values in _tables(translator).items():
        text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
        write_file(folder / name, text.encode())
    sides = {"source": translator.src_tokenizer, "target": translator.tgt_tokenizer}
    for side, tokenizer in sides.items():
        assert isinstance(tokenizer, SentencePieceTokenizer)  # see _check
        write_file(folder / f"{side}.spm", tokenizer.model)
    weights = renamed_weights(model, longest(translator))
    write_file(folder / "model.safetensors", save(weights, {"format": "pt"}))
    card = _card(content.config, model, translator.src_tokenizer.sos)
    write_file(folder / "README.md", card.encode())
    return folder


def new_folder(folder: str | os.PathLike[str]) -> Path:
    """A folder that is empty or does not exist yet."""
    path = Path(os.path.expanduser(folder))
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise CheckpointError(f"{path} is not an empty folder: export to a new one")
    return path


def longest(translator: Translator) -> int:
    """The most tokens that the decoder may read, ``<sos>`` included."""
    decode = translator.config.decode
    return decode.max_source_tokens + decode.max_extra_tokens + 1


def renamed_weights(model: Transformer, n_positions: int) -> dict[str, Tensor]:
    """The weights under the names of ``transformers``.

    Features are reordered as well, because its positional encodings have all sines
    before all cosines.
    """
    D = model.tgt_embedding.lookup.embedding_dim
    order = torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])  # (D)
    weights = {"final_logits_bias": _bias(model.output)[None]}  # (1, V)
    for name, module in model.named_modules():
        if name == "output" or not isinstance(module, nn.Linear | nn.LayerNorm):
            continue
        weight, bias = module.weight.detach(), _bias(module)
        if name.endswith(("W_q", "W_k", "W_v", "W_1")):  # reads a vector of width D
            weight = weight[:, order]
        else:  # writes one
            weight, bias = weight[order], bias[order]
        for name_here, name_there in TRANSFORMERS_NAMES.items():
            name = name.replace(name_here, name_there)
        weights |= {f"model.{name}.weight": weight, f"model.{name}.bias": bias}
    src, tgt = model.src_embedding.lookup.weight, model.tgt_embedding.lookup.weight
    tables = {"model.shared": src}
    if src is not tgt:
        tables = {"model.encoder.embed_tokens": src, "model.decoder.embed_tokens": tgt}
    if model.output.weight is not tgt:
        tables["lm_head"] = model.output.weight
    for side in ("encoder", "decoder"):
        tables[f"model.{side}.embed_positions"] = sinusoids(n_positions, D)
    weights |= {f"{k}.weight": table.detach()[:, order] for k, table in tables.items()}
    return {k: v.float().cpu().contiguous().clone() for k, v in weights.items()}


def _bias(module: nn.Linear | nn.LayerNorm) -> Tensor:
    """The bias of a module, or zeros if it has none."""
    if module.bias is None:
        return module.weight.new_zeros(len(module.weight))
    return module.bias.detach()


def _check(translator: Translator) -> None:
    m, data = translator.config.model, translator.config.data
    pre = m.norm == "pre"
    problems = {
        "words as tokens (set data.tokenizer to bpe or unigram)": data.tokenizer
        not in SUBWORDS,
        "data.lowercase=true": data.lowercase,
        "this model.final_norm": m.final_norm not in (None, pre),
        "model.norm=pre without three-way tying": pre and m.tying != "three-way",
        "this model.d_value": m.d_value not in (None, m.d_model // m.n_heads),
    }
    for feature, is_present in problems.items():
        if is_present:
            raise ConfigError(f"cannot export to transformers, which has no {feature}")


def model_config(translator: Translator) -> dict[str, Any]:
    """``config.json``: the model's shape in the keys of ``transformers``."""
    model, m = translator.model, translator.config.model
    src, tgt = model.src_embedding.lookup.weight, model.tgt_embedding.lookup.weight
    kinds = {"post": "MarianMTModel", "pre": "PegasusForConditionalGeneration"}
    return {
        "architectures": [kinds[m.norm]],
        "model_type": "marian" if m.norm == "post" else "pegasus",
        "vocab_size": len(src),
        "decoder_vocab_size": len(tgt),
        "share_encoder_decoder_embeddings": src is tgt,
        "tie_word_embeddings": tgt is model.output.weight,
        "d_model": m.d_model,
        "encoder_layers": len(model.encoder.layers),
        "decoder_layers": len(model.decoder.layers),
        "encoder_attention_heads": m.n_heads,
        "decoder_attention_heads": m.n_heads,
        "encoder_ffn_dim": m.d_ff,
        "decoder_ffn_dim": m.d_ff,
        "activation_function": "relu",
        "scale_embedding": m.scale_embeddings,
        "max_position_embeddings": longest(translator),
        "dropout": m.dropout,
        "attention_dropout": m.attention_dropout,
        "activation_dropout": m.ffn_dropout,
        "is_encoder_decoder": True,
        "forced_eos_token_id": None,
        **SPECIAL,
    }


def _tables(translator: Translator) -> dict[str, dict[str, Any]]:
    """The JSON files beside the weights: name → content."""
    data, decode = translator.config.data, translator.config.decode
    max_length = longest(translator)
    search = {
        "num_beams": decode.beam_size,
        "do_sample": False,
        "max_length": max_length,
    }
    tokenizer = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": data.src_lang,
        "target_lang": data.tgt_lang,
        "separate_vocabs": not data.joint,
        "pad_token": SPECIALS[PAD],
        "unk_token": SPECIALS[UNK],
        "eos_token": SPECIALS[EOS],
        "model_max_length": decode.max_source_tokens,
        "sp_model_kwargs": {"add_bos": translator.src_tokenizer.sos},  # <sos> first
        "clean_up_tokenization_spaces": False,
    }
    return {
        "config.json": model_config(translator),
        "generation_config.json": SPECIAL | search | {"suppress_tokens": [PAD, SOS]},
        "tokenizer_config.json": tokenizer,
        "vocab.json": _ids(translator.src_tokenizer),
        "target_vocab.json": _ids(translator.tgt_tokenizer),
    }


def _ids(tokenizer: Tokenizer) -> dict[str, int]:
    tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
    return {token: index for index, token in enumerate(tokens)}


def _card(config: Config, model: Transformer, starts_with_sos: bool) -> str:
    data, shape = config.data, f"d_model {config.model.d_model}"
    n_layers = f"{len(model.encoder.layers)} + {len(model.decoder.layers)} layers"
    # A tokenizer of transformers treats both sides alike.
    without_sos = "[:, 1:].contiguous()  # the model adds <sos>"
    without_sos = without_sos if starts_with_sos else ""
    return f"""---
language: ["{data.src_lang}", "{data.tgt_lang}"]
library_name: transformers
pipeline_tag: translation
---
# {_code(config.name)}: {data.src_lang} to {data.tgt_lang}

A Transformer ([Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)) that
translates `{data.src_lang}` to `{data.tgt_lang}`, trained on {_code(data.corpus)}
with nmt_lib: {n_layers}, {shape}, {count_parameters(model):,} parameters. It knows
what that corpus holds and nothing else.

**Licence and data:** before you publish it, say here where the sentences come from, and
under which licence they and this model may be used.

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = "."  # this folder, or its name on the hub
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
inputs = tokenizer(sources, return_tensors="pt", padding=True)
tokenizer.batch_decode(model.generate(**inputs), skip_special_tokens=True)
```

Fine-tuning, with a list of targets:

```python
labels = tokenizer(text_target=targets, return_tensors="pt", padding=True).input_ids
labels = labels{without_sos}
labels[labels == tokenizer.pad_token_id] = -100
loss = model(**inputs, labels=labels).loss
```
"""


def _code(text: str) -> str:
    """A text as code in Markdown, where no character has another meaning."""
    return "`" + one_line(text).replace("`", "'") + "`"


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
    path = new_folder(folder)
    if path.exists():
        path.rmdir()  # the converter makes it
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
