"""Seconds of a training step: this library, ``torch.nn.Transformer``, and Marian of ``transformers``.

Same shape, same dropout in the same places (embeddings and sub-layers), same batches, same optimizer, tied
embeddings in all three. Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python benchmarks/training.py``
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from common import alternate, machine, multi30k, ratio, write_table
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.losses import Objective
from nmt_lib.schedules import build_optimizer

DROPOUT = 0.1
SHAPES = {
    "d128 × 4 layers": (128, 4, 4, 256, 4096),
    "d512 × 6 layers": (512, 8, 6, 2048, 1024),
}


class TorchTransformer(nn.Module):
    """``torch.nn.Transformer`` between the same embeddings and output layer as ours."""

    def __init__(self, config: nmt.Config, vocab_size: int) -> None:
        super().__init__()
        m = config.model
        self.embedding = nmt.Embedding(
            vocab_size, m.d_model, nmt.PositionalEncoding(m.d_model), True, m.dropout
        )
        self.transformer = nn.Transformer(
            m.d_model,
            m.n_heads,
            m.n_layers,
            m.n_layers,
            m.d_ff,
            m.dropout,
            batch_first=True,
        )
        self.output = nn.Linear(m.d_model, vocab_size)
        self.output.weight = self.embedding.lookup.weight
        for module in (
            self.transformer.modules()
        ):  # no dropout on weights, none inside the feed-forward network
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(
                module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
            ):
                module.dropout.p = 0.0

    def forward(self, batch: nmt.Batch) -> Tensor:
        hidden = nn.Transformer.generate_square_subsequent_mask(
            batch.tgt_in.size(1), dtype=torch.bool
        )
        x = self.transformer(
            self.embedding(batch.src),
            self.embedding(batch.tgt_in),
            tgt_mask=hidden,
            tgt_is_causal=True,
            src_key_padding_mask=batch.src == 0,
            tgt_key_padding_mask=batch.tgt_in == 0,
            memory_key_padding_mask=batch.src == 0,
        )
        logits = self.output(x).flatten(0, 1)
        return F.cross_entropy(
            logits,
            batch.tgt_out.flatten(),
            ignore_index=0,
            label_smoothing=0.1,
            reduction="sum",
        )


def marian(config: nmt.Config, vocab_size: int) -> Callable[[nmt.Batch], Tensor]:
    """Marian built from a config of the same shape."""
    from transformers import MarianConfig, MarianMTModel

    m = config.model
    sizes = {"layers": m.n_layers, "attention_heads": m.n_heads, "ffn_dim": m.d_ff}
    model = MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            d_model=m.d_model,
            dropout=m.dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=0,
            decoder_start_token_id=2,
            eos_token_id=3,
            **{
                f"{side}_{key}": value
                for side in ("encoder", "decoder")
                for key, value in sizes.items()
            },
        )
    )
    return Marian(model)


class Marian(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: nmt.Batch) -> Tensor:
        labels = batch.tgt_out.masked_fill(batch.tgt_out == 0, -100)
        out = self.model(
            input_ids=batch.src,
            attention_mask=(batch.src != 0).long(),
            decoder_input_ids=batch.tgt_in,
            decoder_attention_mask=(batch.tgt_in != 0).long(),
            labels=labels,
            use_cache=False,
        )
        return out.loss * batch.n_tokens


def stepper(
    model: nn.Module, train: object, batches: Sequence[nmt.Batch]
) -> Callable[[], None]:
    """Takes the next batch at each call: forward, backward, update."""
    optimizer = build_optimizer(train, model.parameters())
    model.train()
    todo = iter(batches)

    def step() -> None:
        batch = next(todo)
        (model(batch) / batch.n_tokens).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    rows = []
    for name in options.shapes:
        d_model, n_heads, n_layers, d_ff, budget = SHAPES[name]
        config, corpus, tokenizers = multi30k(
            **{
                "model.d_model": d_model,
                "model.n_heads": n_heads,
                "model.n_layers": n_layers,
                "model.d_ff": d_ff,
            },
            **{"model.dropout": DROPOUT, "train.batch_tokens": budget},
        )
        examples = nmt.encode_pairs(corpus.train, tokenizers, config)
        plan = nmt.token_batches(examples.lengths, budget, seed=0)[: options.rounds + 1]
        batches = [nmt.make_batch(examples.take(indices)) for indices in plan]
        V = len(tokenizers[0])
        torch.manual_seed(0)
        models = {
            "nmt_lib": Objective(nmt.build_model(config.model, V, V), 0.1),
            "torch.nn.Transformer": TorchTransformer(config, V),
            "Marian": marian(config, V),
        }
        seconds = alternate(
            {key: stepper(m, config.train, batches) for key, m in models.items()},
            options.rounds,
        )
        for key in models:
            speed = (
                "1.00" if key == "nmt_lib" else f"{ratio(seconds, key, 'nmt_lib'):.2f}"
            )
            rows.append(
                [name, budget, key, f"{statistics.median(seconds[key]):.3f}", speed]
            )
    write_table(
        "training",
        "A training step on Multi30k batches",
        [
            "shape",
            "tokens a batch",
            "model",
            "seconds, median",
            "time relative to nmt_lib, median of ratios",
        ],
        rows,
        f"{options.rounds} rounds, taken in turns in one process; dropout {DROPOUT} on embeddings and sub-layers, "
        f"fused Adam, fp32. {machine('transformers')}.",
    )


if __name__ == "__main__":
    main()
