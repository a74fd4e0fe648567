"""RMSNorm beside layer norm after one pass, with and without added sines.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.deeper_12.tables [--seeds 0 1 2 3 4 5 6]``.
A seed takes about two minutes.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

import nmt_lib as nmt

from .. import benchmark
from . import lab


def centred(model: nmt.Transformer) -> nmt.Transformer:
    """Added sines of mean 0: those of a row have a mean of 0.4 to 0.5."""
    table = model.src_embedding.positions.table  # the target shares it
    table -= table.mean(-1, keepdim=True)  # (n, D)
    return model


POSITIONS = {
    "added sines": lambda model: model,
    "no positions": lab.without_positions,
    "sines of mean 0": centred,
}


def main() -> None:
    seeds = benchmark.seeds(*range(7))
    torch.set_num_threads(1)
    config = benchmark.load_config("tiny")
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples, validation = (
        nmt.encode_pairs(part, tokenizers, config)
        for part in (corpus.train, corpus.valid)
    )
    valid, n_src = nmt.make_batch(validation), len(tokenizers[0])
    lengths = nmt.example_lengths(examples)
    plan = nmt.token_batches(lengths, config.train.batch_tokens, seed=0)
    norms = {"layer norm": nn.LayerNorm, "RMSNorm": nn.RMSNorm}
    rows = {name: [name] for name in POSITIONS}
    for seed in seeds:
        for name, change in POSITIONS.items():
            losses = []
            for make in norms.values():
                model = change(lab.fresh(config, tokenizers, seed))
                width = config.model.d_model
                lab.swap(model, nn.LayerNorm, partial(make, width))
                losses.append(
                    lab.one_pass(model, examples, plan, valid, n_src, seed=seed)
                )
            rows[name].append(f"{losses[0]:.2f} → {losses[1]:.2f}")
            print(seed, name, *losses, flush=True)
    benchmark.write_table(
        "rms_norm",
        "Layer norm → RMSNorm after one pass",
        "positions | " + " | ".join(f"seed {seed}" for seed in seeds),
        list(rows.values()),
        "Validation loss of `tiny`, pre-LN, after one pass, 82 updates.",
    )


if __name__ == "__main__":
    main()
