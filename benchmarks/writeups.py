"""What the defects of chapter 11 cost, each with several seeds.

Run: ``OMP_NUM_THREADS=1 python -m benchmarks.writeups [--seeds 0 1 2 3]``. A seed takes
about three minutes, most of them for the training of ``tiny``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import torch
from torch import nn

import nmt_lib as nmt
from benchmarks import common
from nmt_book.chapter11 import lab as chapter
from nmt_lib.data.batches import Example

Row = tuple[str, str, float, float]  # experiment, measure, the right way, theirs


class NormOfE(nn.LayerNorm):
    """Divides by a new norm each time, which is never trained."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.LayerNorm(x.size(-1))(x)


def double(model: nmt.Transformer) -> None:
    positions = model.src_embedding.positions  # the target shares them
    positions.table = chapter.doubled(*positions.table.shape)


def forget(model: nmt.Transformer) -> None:
    for module in model.modules():
        if isinstance(module, nmt.Residual):
            module.norm = NormOfE(module.norm.normalized_shape)


def one_layer(seed: int, data: Data) -> Iterator[Row]:
    """Trains for 500 updates; the mean validation loss from update 250 on."""

    learn = chapter.OneLayer(data.translator, data.corpus)

    def late(change: Callable[[nmt.Transformer], None] | None) -> float:
        return statistics.mean(learn(change, seed)[4:])

    right = late(None)
    model = learn.model
    measure = "one layer: validation loss from update 250 on"
    yield "exponent doubled", measure, right, late(double)
    yield "norms never trained", measure, right, late(forget)
    yield from in_use("one layer", model, data)


def in_use(name: str, model: nmt.Transformer, data: Data) -> Iterator[Row]:
    """Of 200 sentences right: without the source's end, and with dropout on."""
    exact = chapter.without_the_end({name: model}, data.translator, data.pairs)[name]
    whole, eos, _, both = exact
    yield "source without <eos>", f"{name}: of 200 right", whole, eos
    yield "without <eos> and full stop", f"{name}: of 200 right", whole, both
    yield (
        "never calls eval()",
        f"{name}: of 200 right",
        whole,
        chapter.with_dropout(model, data.translator, data.pairs),
    )


def tiny(data: Data) -> Iterator[Row]:
    model = data.translator.model
    yield from in_use("tiny", model, data)
    batch = nmt.make_batch(data.unseen[:500])
    with torch.no_grad():
        logits = model(batch.src, batch.tgt_in)
    plain, smoothed = (
        nmt.cross_entropy(logits, batch.tgt_out, eps).exp().item() for eps in (0, 0.1)
    )
    yield "validation with smoothing", "tiny: perplexity", plain, smoothed
    spread = {n: chapter.batch_losses(model, data.examples, n) for n in (64, 8)}
    a, b = (statistics.stdev(losses) for losses in spread.values())
    yield "loss of the last 8 sentences", "tiny: standard deviation, of 64 and 8", a, b


def deep(seed: int, data: Data) -> Iterator[Row]:
    n = 5 if common.DRY else 300
    curves = [
        chapter.train_deep(rate, data.examples, data.sizes, n, seed)
        for rate in (1e-4, 1e-3)
    ]
    for end in (n // 5, n):
        a, b = (statistics.mean(curve[max(0, end - 10) : end]) for curve in curves)
        yield "ten times C's rate", f"six layers: loss after {end} updates", a, b


def chosen(seed: int, data: Data) -> Iterator[Row]:
    """A one-layer model on 200 sentences: kept by validation and by training loss."""
    few = nmt.token_batches(nmt.example_lengths(data.examples[:200]), 1024, seed=0)
    seen = [nmt.make_batch(data.examples, rows) for rows in few]
    fresh = [nmt.make_batch(data.unseen[:200])]
    torch.manual_seed(seed)
    shape = data.small.model.model_copy(update={"dropout": 0.0})
    model = nmt.Transformer(shape, *data.sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    objective, record = nmt.Objective(model), []
    for _ in range(1 if common.DRY else 20):
        for batch in seen * 3:
            (objective(batch) / batch.n_tokens).backward()
            optimizer.step()
            optimizer.zero_grad()
        losses = nmt.validation_loss(model, fresh), nmt.validation_loss(model, seen)
        tokenizers = data.translator.src_tokenizer, data.translator.tgt_tokenizer
        translator = nmt.Translator(model, *tokenizers, data.translator.config)
        record.append((*losses, nmt.evaluate(translator, data.pairs[:100]).bleu))
    right, theirs = (min(record, key=lambda row: row[i]) for i in (0, 1))
    what = "chosen on training loss"
    yield what, "200 sentences: validation loss", right[0], theirs[0]
    yield what, "200 sentences: BLEU", right[2], theirs[2]


class Data:
    """What the experiments of a seed share; ``tiny`` is trained with this seed."""

    def __init__(self, seed: int) -> None:
        config = common.load_config("tiny", **{"train.seed": seed})
        folder = common.home() / f"writeups/seed-{seed}"
        config = config.model_copy(update={"run_dir": str(folder)})
        self.translator = nmt.train(config).translator
        self.corpus = corpus = nmt.load_corpus(config.data)
        both = self.translator.src_tokenizer, self.translator.tgt_tokenizer
        self.sizes = len(both[0]), len(both[1])
        self.examples: list[Example] = nmt.encode_pairs(corpus.train, both, config)
        self.unseen: list[Example] = nmt.encode_pairs(corpus.valid, both, config)
        self.pairs = corpus.valid[:200]
        self.small = common.load_config(
            "tiny", **{"model.n_layers": 1, "train.warmup": 100}
        )


def main() -> None:
    seeds = common.seeds(0, 1, 2, 3)
    table: dict[tuple[str, str], list[str]] = {}
    for seed in seeds:
        data = Data(seed)
        for rows in (
            one_layer(seed, data),
            tiny(data),
            deep(seed, data),
            chosen(seed, data),
        ):
            for what, measure, right, theirs in rows:
                print(seed, what, measure, right, theirs, flush=True)
                cells = table.setdefault((what, measure), [])
                cells.append(f"{right:.4g} → {theirs:.4g}")
    common.write_table(
        "writeups",
        "What the write-ups' defects cost",
        "defect | measured | " + " | ".join(f"seed {seed}" for seed in seeds),
        [[*key, *cells] for key, cells in table.items()],
        "The right way → the write-ups'. One layer: `tiny` with one layer and a "
        "warm-up of 100 updates, 500 updates. Right: translations of 200 validation "
        f"sentences, searched greedily. {common.machine()}.",
    )


if __name__ == "__main__":
    main()
