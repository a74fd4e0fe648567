"""Seconds of a training step: this library, ``torch.nn.Transformer``, and Marian of
``transformers`` (where that is installed).

All have the same shape, dropout in the same places (embeddings and sub-layers), tied
embeddings, and take the same batches with the same optimizer. Each rival is measured
twice: with PyTorch's cross-entropy ("model and loss"), and with this library's fused
loss ("model alone"). Padding is left out before the output layer in all of them.
Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.training``
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import nmt_lib as nmt
from benchmarks import common
from nmt_book import benchmark
from nmt_lib.training.loss import fused_cross_entropy

DROPOUT, SMOOTHING = {"model.dropout": 0.1}, 0.1
BATCH_TOKENS = {"d128 × 4 layers": 4096, "d512 × 6 layers": 1024}
BASELINE = ("nmt_lib", "")


class TorchTransformer(nn.Module):
    """``torch.nn.Transformer`` between the same embeddings and output layer as ours."""

    def __init__(self, translator: nmt.Translator) -> None:
        super().__init__()
        m, V = translator.config.model, len(translator.tgt_tokenizer)
        positions = nmt.PositionalEncoding(m.d_model)
        self.embedding = nmt.Embedding(V, m.d_model, positions, dropout=m.dropout)
        sizes = m.d_model, m.n_heads, m.n_layers, m.n_layers, m.d_ff
        self.transformer = nn.Transformer(*sizes, m.dropout, batch_first=True)
        self.output = nn.Linear(m.d_model, V)
        self.output.weight = self.embedding.lookup.weight
        # No dropout on attention weights, and none inside the feed-forward network.
        modules: Iterable[Any] = self.transformer.modules()
        for module in modules:
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif hasattr(module, "linear1"):
                module.dropout.p = 0.0

    def forward(self, batch: nmt.Batch) -> Tensor:
        """The vectors before the output layer, ``(B, T, D)``."""
        src_padding = batch.src == nmt.PAD
        out: Tensor = self.transformer(
            self.embedding(batch.src),
            self.embedding(batch.tgt_in),
            tgt_mask=~nmt.causal_mask(batch.tgt_in.size(1))[0, 0],
            tgt_is_causal=True,
            src_key_padding_mask=src_padding,
            tgt_key_padding_mask=batch.tgt_in == nmt.PAD,
            memory_key_padding_mask=src_padding,
        )
        return out


class Marian(nn.Module):
    """Marian of ``transformers``, of the same shape."""

    def __init__(self, translator: nmt.Translator) -> None:
        super().__init__()
        whole, _ = common.exported(translator)
        self.model, self.output = whole.model, whole.lm_head

    def forward(self, batch: nmt.Batch) -> Tensor:
        """The vectors before the output layer, ``(B, T, D)``."""
        out: Tensor = self.model(
            input_ids=batch.src,
            attention_mask=(batch.src != nmt.PAD).long(),
            decoder_input_ids=batch.tgt_in,
            decoder_attention_mask=(batch.tgt_in != nmt.PAD).long(),
            use_cache=False,
        ).last_hidden_state
        return out


def plain(rival: Any, batch: nmt.Batch) -> Tensor:
    """The sum of the losses, by PyTorch's function."""
    real = batch.tgt_out != nmt.PAD  # (B, T)
    scores = rival.output(rival(batch)[real])  # (N, V)
    targets = batch.tgt_out[real]  # (N,)
    return F.cross_entropy(scores, targets, label_smoothing=SMOOTHING, reduction="sum")


def fused(rival: Any, batch: nmt.Batch) -> Tensor:
    """The same sum by this library's loss."""
    real = batch.tgt_out != nmt.PAD  # (B, T)
    hidden, targets = rival(batch)[real], batch.tgt_out[real]  # (N, D), (N,)
    return fused_cross_entropy(hidden, rival.output, targets, SMOOTHING)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    options = benchmark.parse(parser)
    rivals: dict[str, Any] = {"torch.nn.Transformer": TorchTransformer}
    if find_spec("transformers"):
        rivals |= {"Marian": Marian}
    rows = []
    for shape, sizes in common.SHAPES.items():
        budget = {"train.batch_tokens": BATCH_TOKENS[shape]}
        config, tokenizers, examples = common.load_data(
            "multi30k", **sizes, **budget, **DROPOUT
        )
        train = config.train
        lengths = nmt.example_lengths(examples)
        plan = nmt.token_batches(lengths, train.batch_tokens, seed=0)
        plan = plan[: options.rounds + 1]
        batches = [nmt.make_batch(examples, indices) for indices in plan]
        torch.manual_seed(0)
        model = nmt.Transformer(config.model, *map(len, tokenizers))
        translator = nmt.Translator(model, *tokenizers, config)
        objective = nmt.Objective(model, SMOOTHING)
        runs = {BASELINE: common.stepper(objective, nn.Module.__call__, train, batches)}
        for name, rival in rivals.items():
            for comparison, loss in (("model and loss", plain), ("model alone", fused)):
                step = common.stepper(rival(translator), loss, train, batches)
                runs[name, comparison] = step
        clock = time.perf_counter if torch.cuda.is_available() else time.process_time
        seconds = benchmark.alternate(runs, options.rounds, clock)
        for key in runs:
            median = statistics.median(seconds[key])
            times = common.ratio(seconds, key, BASELINE)
            row = [shape, train.batch_tokens, *key]
            rows.append([*row, f"{median:.3f}", f"{times:.2f}"])
    benchmark.write_table(
        "training",
        "A training step on Multi30k batches",
        "shape | tokens a batch | model | compared | seconds, median | time relative "
        "to nmt_lib, median of ratios",
        rows,
        "Model and loss: the rival with PyTorch's cross-entropy, against our model "
        "with our fused loss. Model alone: the fused loss on both. No padding is "
        f"scored. {options.rounds} rounds, taken in turns in one process; dropout 0.1 "
        "on embeddings and sub-layers, label smoothing 0.1, fused Adam, fp32. "
        "Seconds are the processor's, of this process (on a GPU: of the clock). "
        "transformers",
    )


if __name__ == "__main__":
    main()
