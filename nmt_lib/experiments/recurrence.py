"""Deeper 00: what a recurrent translator forgets, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt

from ..recurrent import OneVector
from ..recurrent_trials import fit, gradient_by_word, seconds_of_step


def recurrent(make: Any, config: nmt.Config, max_steps: int) -> nmt.Translator:
    """A recurrent translator, trained on the corpus of the config."""
    options = {"train.lr": 0.012, "train.clip_norm": 1.0, "train.max_steps": max_steps}
    config = nmt.load_config(config, **options)
    pairs = nmt.load_corpus(config.data).train
    tokenizers = nmt.build_tokenizers(config.data, pairs)
    examples = nmt.encode_pairs(pairs, tokenizers, config)
    threads = torch.get_num_threads()
    torch.set_num_threads(config.train.threads or threads)
    model = fit(lambda: make(*map(len, tokenizers)), config, examples)
    torch.set_num_threads(threads)
    return nmt.Translator(model, *tokenizers, config)


def right_by_length(
    translator: nmt.Translator,
    said: Sequence[nmt.Translation],
    pairs: Sequence[nmt.Pair],
) -> dict[str, float]:
    """In percent of the sentences of each length, the full stop counted."""
    groups: dict[str, list[bool]] = {"up to 7": [], "8 to 10": [], "11 to 14": []}
    for one, pair in zip(said, pairs, strict=True):
        n = len(translator.src_tokenizer.tokenize(pair.src))
        name = "up to 7" if n <= 7 else "8 to 10" if n <= 10 else "11 to 14"
        groups[name].append(one.text == pair.tgt)
    return {
        f"{name} words": 100 * sum(right) / max(1, len(right))
        for name, right in groups.items()
    }


def gap_to_library(read: Any, translator: nmt.Translator, texts: list[str]) -> float:
    """Between the last states that ``read`` and ``nn.GRU`` give, trained."""
    model: Any = translator.model
    cell = nn.GRUCell(model.encoder.input_size, model.encoder.hidden_size)
    with torch.no_grad():
        for name, weight in model.encoder.named_parameters():
            getattr(cell, name.removesuffix("_l0")).copy_(weight)
        src = nmt.pad_batch([translator.encode(text) for text in texts])  # (B, S)
        state = read(cell, model.src_embedding(src), src != nmt.PAD)  # (B, H)
        return float((state - model.encode(src)[:, 0]).abs().max())


def gradients(
    translators: dict[str, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> dict[str, dict[str, Tensor]]:
    """The gradient by source word, the largest 1: new and trained models.

    New ones read 64 random words, trained ones the pairs of 13 words on each side; the
    loss is that of the last word, which comes before the full stop.
    """
    found: dict[str, dict[str, Tensor]] = {}
    for name, translator in translators.items():
        trained: Any = translator.model
        sizes = len(translator.src_tokenizer), len(translator.tgt_tokenizer)
        torch.manual_seed(0)
        if isinstance(trained, OneVector):
            new: Any = type(trained)(*sizes)
        else:
            new = nmt.build_model(translator.config.model, *sizes)
        ids = torch.randint(4, min(sizes), (8, 72))  # (8, 72)
        random = gradient_by_word(new, ids[:, :64], ids[:, 64:])  # (64,)
        tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
        examples = nmt.encode_pairs(pairs, tokenizers, translator.config)
        chosen = [(s, t[:-2]) for s, t in examples if len(s) == len(t) == 15]
        src, tgt = (torch.tensor(side) for side in zip(*chosen, strict=True))
        real = gradient_by_word(trained, src, tgt)  # (15,)
        for title, norms in (
            ("random weights, 64 words", random),
            ("trained, 13 words", real),
        ):
            found.setdefault(title, {})[name] = norms / norms.max()
    return found


def plug_in(translator: nmt.Translator, attend: Any) -> None:
    """Puts a reader's ``additive`` in the place of the model's attention."""
    model: Any = translator.model
    W, U, v = model.W.weight, model.U.weight, model.v.weight[0]
    model.attend = lambda s, memory, keys, real: attend(s, memory, W, U, v, real)


def times_by_length(lengths: Sequence[int], width: int) -> dict[str, list[float]]:
    """CPU seconds of a training step of a GRU and of self-attention, one sentence."""
    layers = {
        "GRU": nn.GRU(width, width, batch_first=True),
        "self-attention": nmt.MultiHeadAttention(width, n_heads=8),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    words = [torch.randn(1, n, width) for n in lengths]
    times = {
        name: [seconds_of_step(layer, x) for x in words]
        for name, layer in layers.items()
    }
    torch.set_num_threads(threads)
    return times
