"""Chapter 11: what a defect of a write-up costs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Categorical

import nmt_lib as nmt
from nmt_lib.training.optim import build_optimizer

from ..loop import per_token, updates


def doubled(n: int, d: int) -> Tensor:
    """The table of A, B and D, (n, D)."""
    i = torch.arange(d).double()
    angle = torch.arange(n).double()[:, None] / 10000 ** (2 * i / d)  # (n, D)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos()).float()


def double(model: nmt.Transformer) -> None:
    """Plants that table."""
    positions = model.src_embedding.positions  # the target shares them
    positions.table = doubled(*positions.table.shape)  # (n, D)


def embed(
    model: nmt.Transformer,
    large: bool = True,
    slow: bool = True,
    drowned: bool = True,
) -> None:
    """Plants the embeddings of A and B, N(0, 1) times √D, or a part of their effect.

    ``large`` vectors have a standard deviation of √D instead of 1. An update moves
    ``slow`` ones √D times less, compared with their size. ``drowned`` positions are √D
    times smaller, compared with the vectors.
    """
    table = model.src_embedding.positions.table  # the target shares it
    root = math.sqrt(table.size(1))
    std, size = (1 if slow else 1 / root), (root if large else 1)
    for embedding in (model.src_embedding, model.tgt_embedding):
        torch.nn.init.normal_(embedding.lookup.weight, std=std)
        embedding.factor = size / std
    table *= size / (root if drowned else 1)


SETTINGS = """\
data.corpus data.tokenizer model.norm model.bias model.scale_embeddings
train.optimizer train.lr train.warmup train.label_smoothing"""


def show_settings(configs: Mapping[str, nmt.Config]) -> None:
    """A column for each write-up; a star: its article does not say so."""
    print(" " * 24 + "".join(f"{letter:>12}" for letter in configs))
    folder = Path(nmt.__file__).parent / "configs"
    for setting in SETTINGS.split():
        (section, name), row = setting.split("."), ""
        for letter, config in configs.items():
            text = (folder / f"writeup_{letter.lower()}.yaml").read_text("utf-8")
            star = "*" * bool(re.search(rf"\b{name}:.*# (ours|its repo)", text))
            row += f"{f'{getattr(getattr(config, section), name)}{star}':>12}"
        print(f"{setting:<24}{row}")
    with torch.device("meta"):  # shapes only, no numbers
        models = [nmt.Transformer(c.model, 8000, 8000) for c in configs.values()]
    row = "".join(f"{nmt.count_parameters(model) / 1e6:>12.2f}" for model in models)
    print(f"{'millions of parameters':<24}{row}")


class OneLayer:
    """Trains a model of one layer; see ``__call__``. ``config``, ``sizes`` and the ids
    of the corpus are kept."""

    def __init__(self, translator: nmt.Translator, corpus: nmt.Corpus) -> None:
        torch.set_num_threads(1)  # so small a model is slowed down by more
        changes = {"model.n_layers": 1, "train.warmup": 100}
        self.config = nmt.load_config("tiny", **changes)
        tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
        self.sizes = tuple(map(len, tokenizers))
        parts = corpus.train, corpus.valid[:250]
        self.examples, validation = (
            nmt.encode_pairs(part, tokenizers, translator.config) for part in parts
        )
        plan = nmt.token_batches(nmt.example_lengths(validation), 4096, 0)
        self.valid = [nmt.make_batch(validation, rows) for rows in plan]
        lengths = nmt.example_lengths(self.examples)
        plans = (nmt.token_batches(lengths, 256, seed=epoch) for epoch in count())
        self.plan = [*islice(chain.from_iterable(plans), 500)]

    def __call__(
        self,
        change: Callable[[nmt.Transformer], object] | None = None,
        seed: int = 0,
        **shape: str,
    ) -> list[float]:
        """The validation loss after every 50 of 500 updates, as in chapter 07.

        ``change`` gets the new model, and may plant a mistake; ``shape`` changes its
        config. ``model`` is the last one that was trained.
        """
        torch.manual_seed(seed)
        config = self.config.model.model_copy(update=shape)
        self.model = nmt.Transformer(config, *self.sizes)
        if change:
            change(self.model)
        train, width = self.config.train, self.config.model.d_model
        losses = updates(
            build_optimizer(train, self.model.parameters()),
            per_token(nmt.Objective(self.model, 0.1)),
            (nmt.make_batch(self.examples, rows) for rows in self.plan),
            lambda step: nmt.learning_rate(step, train, width),
        )
        curve = []
        for step, _ in enumerate(losses, start=1):
            if step % 50 == 0:
                curve.append(nmt.validation_loss(self.model, self.valid))
        self.model.eval()
        return curve


def without_the_end(
    translator: nmt.Translator, pairs: Sequence[nmt.Pair]
) -> dict[str, int]:
    """What a source lacks → how many of the pairs are right.

    A full stop at the end of a translation does not count: without one in the source,
    why write one?
    """
    whole = [translator.encode(pair.src) for pair in pairs]
    sources = {
        "nothing": whole,
        "<eos>": [ids[:-1] for ids in whole],
        "full stop": [ids[:-2] + ids[-1:] for ids in whole],
        "both": [ids[:-2] for ids in whole],
    }
    return {lack: _right(translator, rows, pairs) for lack, rows in sources.items()}


def with_dropout(translator: nmt.Translator, pairs: Sequence[nmt.Pair]) -> int:
    """How many are right while the embeddings drop numbers, as in training."""
    rows = [translator.encode(pair.src) for pair in pairs]
    model = translator.model.eval()
    for embedding in (model.src_embedding, model.tgt_embedding):
        embedding.dropout.train()
    n = _right(translator, rows, pairs)
    model.eval()
    return n


def _right(
    translator: nmt.Translator,
    rows: Sequence[Sequence[int]],
    pairs: Sequence[nmt.Pair],
) -> int:
    hypotheses = nmt.greedy_search(translator.model, nmt.pad_batch(rows))
    texts = [
        translator.tgt_tokenizer.decode(hypothesis.ids) for hypothesis in hypotheses
    ]
    results = zip(texts, pairs, strict=True)
    return sum(text.rstrip(" .") == pair.tgt.rstrip(" .") for text, pair in results)


def error_of(call: Callable[..., object], *arguments: Any) -> Exception | None:
    """The error that a call raises, or None."""
    try:
        call(*arguments)
    except Exception as error:
        return error
    return None


def stop_of(line: str, names: Mapping[str, Any]) -> str:
    """The error of a statement, and how its message begins."""
    error = error_of(exec, line, dict(names))
    return f"{type(error).__name__}: {re.split(r' [(]|[.] ', str(error))[0]}"


@torch.no_grad()
def print_smoothed(model: nmt.Transformer, batch: nmt.Batch) -> None:
    """The validation loss as it is and as C computes it, and the least it can be."""
    logits = model(batch.src, batch.tgt_in)  # (B, T, V)
    for name, eps in {"plain": 0.0, "smoothed, as C": 0.1}.items():
        loss = nmt.cross_entropy(logits, batch.tgt_out, eps).item()
        perplexity = math.exp(loss)
        print(f"{name:<15} validation loss {loss:.2f}, perplexity {perplexity:.1f}")
    for V in (logits.size(-1), 8014):
        target = torch.full((V,), 0.1 / V)  # all alike, and the right one besides
        target[0] += 0.9
        least = Categorical(target).entropy()
        print(f"lowest smoothed loss with {V} tokens: {least:.2f}")
