"""What the defects of chapter 11 cost, each with several seeds.

Run: ``OMP_NUM_THREADS=1 python -m nmt_book.chapter11.tables [--seeds 0 1 2 3 4]``. A
seed takes about eight minutes. Europarl is read from ``NMT_DATA``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, cycle, islice, product
from typing import Any

import torch
from torch import nn

import nmt_lib as nmt
from nmt_lib.data.tokens import spacy_words

from .. import benchmark
from ..loop import mean_loss, updates
from . import lab

Row = tuple[str, str, float, float]  # experiment, measure, the right way, theirs
PARTS = "large", "slow", "drowned"  # see lab.embed


class NormOfE(nn.LayerNorm):
    """Divides by a new norm each time, which is never trained."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.LayerNorm(x.size(-1))(x)


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
        self.pairs = corpus.valid[:200]
        self.learn = lab.OneLayer(self.translator, corpus)
        if benchmark.DRY:
            self.learn.plan = self.learn.plan[:50]

    def rows(self) -> Iterator[Row]:
        return chain(
            self.one_layer(),
            self.in_use("tiny", self.translator),
            self.deep(),
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
        whole = self.translator
        tokenizers = whole.src_tokenizer, whole.tgt_tokenizer
        small = nmt.Translator(self.learn.model, *tokenizers, whole.config)
        measure = "one layer: validation loss from update 250 on"
        yield "exponent doubled", measure, right, self.late(lab.double)
        yield "norms never trained", measure, right, self.late(forget)
        yield from self.in_use("one layer", small)

    def embeddings(self) -> Iterator[Row]:
        """N(0, 1) times √D, and each part of its effect with and without the others."""
        for norm, parts in product(("pre", "post"), product((False, True), repeat=3)):
            planted: Any = dict(zip(PARTS, parts, strict=True))
            loss = self.late(partial(lab.embed, **planted), norm=norm, tying="none")
            if not any(parts):
                right = loss
                continue
            label = ", ".join(part for part, there in planted.items() if there)
            measure = f"one layer, {norm}-LN: validation loss from update 250 on"
            yield f"embeddings {label}", measure, right, loss

    def in_use(self, name: str, translator: nmt.Translator) -> Iterator[Row]:
        """Of 200 sentences right: without the source's end, and with dropout on."""
        right = lab.without_the_end(translator, self.pairs)
        dropout = lab.with_dropout(translator, self.pairs)
        measure = f"{name}: of 200 right"
        whole = right["nothing"]
        yield "source without <eos>", measure, whole, right["<eos>"]
        yield "without <eos> and full stop", measure, whole, right["both"]
        yield "never calls eval()", measure, whole, dropout

    def deep(self) -> Iterator[Row]:
        """Six post-LN layers learn 32 sentences, at C's rate and at ten times it."""
        shape: dict[str, Any] = {"n_layers": 6, "d_model": 128, "d_ff": 512}
        shape |= {"dropout": 0.0, "tying": "none", "init": "xavier-all"}
        config = self.learn.config.model.model_copy(update=shape)
        plan = nmt.sentence_batches(min(32, len(self.learn.examples)), 8, 0)
        batches = [nmt.make_batch(self.learn.examples, rows) for rows in plan]
        n, ends = 5 if benchmark.DRY else 300, []
        for rate in (1e-4, 1e-3):
            torch.manual_seed(self.seed)
            model = nmt.Transformer(config, *self.learn.sizes)
            optimizer = torch.optim.Adam(model.parameters(), lr=rate, eps=1e-9)
            losses = updates(
                optimizer, partial(mean_loss, model), islice(cycle(batches), n)
            )
            ends.append(statistics.mean([loss.item() for loss in losses][-10:]))
        right, ten_times = ends
        yield (
            "ten times C's rate",
            f"six layers: loss after {n} updates",
            right,
            ten_times,
        )

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
            exact = nmt.evaluate(translator, corpus.train).exact
            draws = [lab.with_dropout(translator, corpus.train) for _ in range(30)]
            measure = "E's toy: of 2 right, without dropout and in 30 draws"
            yield label, measure, 2 * exact, min(draws)


def europarl() -> str:
    """How long the sentences are for which D has 80 positions, and A 200.

    D cuts like spaCy. A's own vocabulary is four times as large.
    """
    corpus = nmt.load_corpus(nmt.load_config("writeup_d").data)
    pairs = [*corpus.train, *corpus.valid, *corpus.test]
    a = nmt.load_config("writeup_a", **{"data.vocab_size": 4000}).data
    subwords = [tokenizer.tokenize for tokenizer in nmt.build_tokenizers(a, pairs)]
    text = f"Europarl, {len(pairs)} pairs"
    for (source, target), ends, limit, name in (
        ((spacy_words("en"), spacy_words("fr")), 0, 80, "spaCy's tokens and D's <sos>"),
        (subwords, 1, 200, "4,000 subwords and A's <eos> and <sos>"),
    ):
        lengths = [(len(source(p.src)) + ends, len(target(p.tgt)) + 1) for p in pairs]
        means = [f"{statistics.mean(side):.1f}" for side in zip(*lengths, strict=True)]
        most, long = max(map(max, lengths)), sum(max(pair) > limit for pair in lengths)
        text += f"; in {name}: {means[0]} and {means[1]} on average, {most} at most, "
        text += f"{long} longer than {limit}"
    return f"{text}."


def main() -> None:
    seeds = benchmark.seeds(0, 1, 2, 3, 4)
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
        "warm-up of 100 updates, 500 updates; where its embeddings are planted, "
        "they are untied. 30 draws: the worst. Right: translations of 200 validation "
        "sentences, searched greedily. " + ("" if benchmark.DRY else europarl()),
    )


if __name__ == "__main__":
    main()
