"""What the defects of chapter 11 cost, each with several seeds.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.chapter11.tables [--seeds 0 1 2 3]``. A seed
takes about eight minutes. Europarl is read from ``NMT_DATA``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product
from typing import Any

import torch
from torch import nn

import nmt_lib as nmt
from nmt_lib.data.tokens import spacy_words

from .. import benchmark
from ..loop import mean_loss, per_token, updates
from . import lab

Row = tuple[str, str, float, float]  # experiment, measure, the right way, theirs
PARTS = "large", "slow", "drowned"  # see lab.embed


class NormOfE(nn.LayerNorm):
    """Divides by a new norm each time, which is never trained."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.LayerNorm(x.size(-1))(x)


def double(model: nmt.Transformer) -> None:
    positions = model.src_embedding.positions  # the target shares them
    positions.table = lab.doubled(*positions.table.shape)


def forget(model: nmt.Transformer) -> None:
    for module in model.modules():
        if isinstance(module, nmt.Residual):
            module.norm = NormOfE(module.norm.normalized_shape)


class Experiments:
    """Those of a seed, with which ``tiny`` is trained as well."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        config = benchmark.load_config("tiny", **{"train.seed": seed})
        folder = benchmark.home() / f"writeups/seed-{seed}"
        self.translator = nmt.train(config, run_dir=str(folder)).translator
        corpus = nmt.load_corpus(config.data)
        self.tokenizers = self.translator.src_tokenizer, self.translator.tgt_tokenizer
        self.validation = nmt.encode_pairs(corpus.valid, self.tokenizers, config)
        self.pairs = corpus.valid[:200]
        self.learn = lab.OneLayer(self.translator, corpus)
        if benchmark.DRY:
            self.learn.plan = self.learn.plan[:50]

    def rows(self) -> Iterator[Row]:
        return chain(
            self.one_layer(),
            self.tiny(),
            self.deep(),
            self.small_set(),
            self.toy(),
            self.embeddings(),
        )

    def late(
        self, change: Callable[[nmt.Transformer], None] | None, **shape: str
    ) -> float:
        """The mean validation loss from update 250 to 500 of a model of one layer."""
        return statistics.mean(self.learn(change, self.seed, **shape)[-6:])

    def one_layer(self) -> Iterator[Row]:
        right = self.late(None)
        model = self.learn.model
        measure = "one layer: validation loss from update 250 on"
        yield "exponent doubled", measure, right, self.late(double)
        yield "norms never trained", measure, right, self.late(forget)
        yield from self.in_use("one layer", model)

    def embeddings(self) -> Iterator[Row]:
        """N(0, 1) times √D, and each part of its effect with and without the others."""
        cells = {}
        for parts in product((False, True), repeat=3):
            planted: Any = dict(zip(PARTS, parts, strict=True))
            change = partial(lab.embed, **planted)
            cells[parts] = self.late(change, norm="pre", tying="none")
            label = ", ".join(part for part, there in planted.items() if there)
            measure = "one layer, pre-LN: validation loss from update 250 on"
            if any(parts):
                right = cells[False, False, False]
                yield f"embeddings {label}", measure, right, cells[parts]

    def in_use(self, name: str, model: nmt.Transformer) -> Iterator[Row]:
        """Of 200 sentences right: without the source's end, and with dropout on."""
        exact = lab.without_the_end({name: model}, self.translator, self.pairs)
        whole, eos, _, no_stop = exact[name]
        dropout = lab.with_dropout(model, self.translator, self.pairs)
        measure = f"{name}: of 200 right"
        yield "source without <eos>", measure, whole, eos
        yield "without <eos> and full stop", measure, whole, no_stop
        yield "never calls eval()", measure, whole, dropout

    def tiny(self) -> Iterator[Row]:
        model = self.translator.model
        yield from self.in_use("tiny", model)
        batch = nmt.make_batch(self.validation[:500])
        with torch.no_grad():
            plain, smoothed = (
                mean_loss(model, batch, eps).exp().item() for eps in (0, 0.1)
            )
        yield "validation with smoothing", "tiny: perplexity", plain, smoothed

    def deep(self) -> Iterator[Row]:
        n = 5 if benchmark.DRY else 300
        curves = [
            lab.train_deep(rate, self.learn.examples, self.learn.sizes, n, self.seed)
            for rate in (1e-4, 1e-3)
        ]
        for end in (n // 5, n):
            a, b = (statistics.mean(curve[max(0, end - 10) : end]) for curve in curves)
            yield "ten times C's rate", f"six layers: loss after {end} updates", a, b

    def small_set(self) -> Iterator[Row]:
        """A one-layer model on 200 sentences: kept by validation and training loss."""
        examples = self.learn.examples[:200]
        plan = nmt.token_batches(nmt.example_lengths(examples), 1024, seed=0)
        training = [nmt.make_batch(examples, rows) for rows in plan]
        validation = [nmt.make_batch(self.validation[:200])]
        torch.manual_seed(self.seed)
        shape = self.learn.config.model.model_copy(update={"dropout": 0.0})
        model = nmt.Transformer(shape, *self.learn.sizes)
        translator = nmt.Translator(model, *self.tokenizers, self.translator.config)
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
        epochs = 1 if benchmark.DRY else 20
        losses = updates(
            optimizer, per_token(nmt.Objective(model)), training * 3 * epochs
        )
        record = []
        for step, _ in enumerate(losses, start=1):
            if step % (3 * len(training)) == 0:
                values = [
                    nmt.validation_loss(model, batches)
                    for batches in (validation, training)
                ]
                bleu = nmt.evaluate(translator, self.pairs[:100]).bleu
                record.append((*values, bleu))
        right, article = (min(record, key=lambda row: row[i]) for i in (0, 1))
        label = "chosen on training loss"
        yield label, "200 sentences: validation loss", right[0], article[0]
        yield label, "200 sentences: BLEU", right[2], article[2]

    def toy(self) -> Iterator[Row]:
        """E's two sentences at E's size: right without dropout, and in 30 draws."""
        config = benchmark.load_config("writeup_e", **{"train.seed": self.seed})
        corpus = nmt.load_corpus(config.data)
        tokenizers = nmt.build_tokenizers(config.data, corpus.train)
        for label, change in (("never calls eval()", None), ("with E's norms", forget)):
            trainer = nmt.Trainer(config, corpus, tokenizers)
            if change:
                change(trainer.model)
            steps = range(config.train.max_steps)
            for _, examples in zip(steps, trainer.batches(), strict=False):
                trainer.update([examples])
            translator = nmt.Translator(trainer.model, *tokenizers, config)
            call = trainer.model.eval(), translator, corpus.train
            exact = nmt.evaluate(translator, corpus.train).exact
            draws = [lab.with_dropout(*call) for _ in range(30)]
            measure = "E's toy: of 2 right, without dropout and in 30 draws"
            yield label, measure, 2 * exact, min(draws)


def europarl() -> str:
    """How long the sentences are for which D has 80 positions, and A 200."""
    corpus = nmt.load_corpus(nmt.load_config("writeup_d").data)
    pairs = [*corpus.train, *corpus.valid, *corpus.test]
    cut = spacy_words("en"), spacy_words("fr")
    lengths = [(len(cut[0](pair.src)), len(cut[1](pair.tgt)) + 1) for pair in pairs]
    long = [i for i, pair in enumerate(lengths, start=1) if max(pair) > 80]
    means = [statistics.mean(side) for side in zip(*lengths, strict=True)]
    return (
        f"Europarl, {len(pairs)} pairs, in spaCy's tokens: {means[0]:.1f} on average, "
        f"and with <sos> {means[1]:.1f}; {len(long)} pairs have more than 80."
    )


def main() -> None:
    seeds = benchmark.seeds(0, 1, 2, 3)
    table: dict[tuple[str, str], list[str]] = {}
    for seed in seeds:
        for label, measure, right, article in Experiments(seed).rows():
            print(seed, label, measure, right, article, flush=True)
            cells = table.setdefault((label, measure), [])
            cells.append(f"{right:.4g} → {article:.4g}")
    benchmark.write_table(
        "writeups",
        "What the write-ups' defects cost",
        "defect | measured | " + " | ".join(f"seed {seed}" for seed in seeds),
        [[*key, *cells] for key, cells in table.items()],
        "The right way → the write-ups'. One layer: `tiny` with one layer and a "
        "warm-up of 100 updates, 500 updates; with pre-LN its embeddings "
        "are untied. 30 draws: the worst. Right: translations of 200 validation "
        "sentences, searched greedily. " + ("" if benchmark.DRY else europarl()),
    )


if __name__ == "__main__":
    main()
