"""Shared by the recipes: rounds of training, their data, and the choices that are made
on the validation set."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import nmt_lib as nmt
from benchmarks.multi30k import HEADER, NOTES, score
from nmt_book import benchmark
from nmt_lib.training import transfer
from nmt_lib.training.model_file import load_weights
from nmt_lib.training.run_folder import run_path
from nmt_lib.training.trainer import progress_bar

ROWS = 400  # positions that the output layer takes at a time
# A recipe that learns faster than multi30k.yaml.
PRE_LN = """
model.norm=pre model.dropout=0.2
train.batch_tokens=4096 train.lr=0.003 train.schedule=cosine train.warmup=500
"""
# Shared by the later rounds, which begin with trained weights.
LATER = """
data.bpe_dropout=0.1
train.batch_tokens=4096 train.schedule=cosine train.warmup=100
train.keep_checkpoints=20
"""


def load_config(direction: str, name: str, changes: str = "") -> nmt.Config:
    """The config ``multi30k`` with changes as the CLI takes them, of which the last of
    a key counts; each round is a separate run."""
    src, tgt = direction.split("-")
    languages = {"data.src_lang": src, "data.tgt_lang": tgt}
    own = {"name": f"multi30k-{direction}-{name}"}
    overrides = nmt.parse_overrides(changes)
    return benchmark.load_config("multi30k", **own, **languages, **overrides)


def train(
    config: nmt.Config,
    corpus: nmt.Corpus,
    start: nmt.Translator | None = None,
    teachers: Mapping[nmt.Translator, float] | None = None,
) -> nmt.Translator:
    """Trains or resumes one round; returns the mean of its last checkpoints.

    Args:
        config: of the round; ``train.keep_checkpoints`` are averaged.
        corpus: it may have more pairs than the config's corpus.
        start: its tokenizers are used, and the round begins with its weights.
        teachers: to learn from, with the same tokenizers, and the weight of each; see
            ``Distillation``.
    """
    tokenizers = (
        start.content().tokenizers
        if start
        else nmt.build_tokenizers(config.data, corpus.train)
    )
    trainer = nmt.Trainer(config, corpus, tokenizers)
    if teachers:
        objective = Distillation(trainer.model, config.train.label_smoothing)
        objective.teachers = {
            teacher.model: weight for teacher, weight in teachers.items()
        }
        trainer.objective = objective
    if saved := trainer.folder.last_checkpoint():
        trainer.resume(saved)
    elif start:
        trainer.model.load_state_dict(start.model.state_dict())
    with progress_bar(config, is_hidden=False) as bar:
        trainer.run(bar)
    trainer.finish()
    return nmt.Translator(trainer.model, *tokenizers, config)


class Distillation(nmt.Objective):
    """A student learns what its teachers expect (Hinton et al., 2015,
    https://arxiv.org/abs/1503.02531; Kim and Rush, 2016,
    https://arxiv.org/abs/1606.07947, section 3.1).

    At each position, ``share`` of the target distribution is the weighted mean of the
    teachers' probabilities (the weights sum to 1), the rest the right token, smoothed
    as usual.
    The student reads with dropout, the teachers without.
    """

    teachers: Mapping[nmt.Transformer, float] = {}
    share = 0.7

    @staticmethod
    def before_output(model: nmt.Transformer, batch: nmt.Batch) -> torch.Tensor:
        """The vectors that the output layer turns into scores, ``(B, T, D)``."""
        src_mask = nmt.padding_mask(batch.src)  # (B, 1, 1, S)
        return model.decode(batch.tgt_in, model.encode(batch.src), src_mask)

    def forward(self, batch: nmt.Batch) -> Tensor:
        """The *sum* over all target tokens, in nats.

        The output layers take some positions at a time, which makes a step on a CPU
        1.7 times as fast.
        """
        real = batch.tgt_out != nmt.PAD  # (B, T)
        targets, eps = batch.tgt_out[real], self.label_smoothing  # (N,)
        hidden = self.before_output(self.model, batch)[real]  # (N, D)
        with torch.no_grad():
            vectors = [self.before_output(t, batch)[real] for t in self.teachers]
        loss = hidden.new_zeros(())
        for start in range(0, len(hidden), ROWS):
            rows = slice(start, start + ROWS)
            logits = self.model.output(hidden[rows]).float()  # (n, V)
            with torch.no_grad():
                rest = (1 - self.share) * eps / logits.size(-1)
                goal = torch.full_like(logits, rest)  # (n, V)
                right = torch.full_like(logits[:, :1], (1 - self.share) * (1 - eps))
                goal.scatter_add_(1, targets[rows, None], right)
                for (teacher, weight), x in zip(
                    self.teachers.items(), vectors, strict=True
                ):
                    p = teacher.output(x[rows]).float().softmax(-1)  # (n, V)
                    goal += self.share * weight * p
            loss = loss + F.cross_entropy(logits, goal, reduction="sum")
        return loss


def back_translated(corpus: nmt.Corpus, translator: str) -> nmt.Corpus:
    """The corpus with more pairs: its targets, and their greedy translations as sources
    (Sennrich et al., 2016, https://arxiv.org/abs/1511.06709)."""
    targets = [pair.tgt for pair in corpus.train]
    sources = nmt.Translator.load(translator).translate(targets, beam_size=1)
    pairs = zip(sources, targets, strict=True)
    new = [nmt.Pair(source.text, target) for source, target in pairs]
    known = {(pair.src, pair.tgt): pair for pair in [*corpus.train, *new]}
    return dataclasses.replace(corpus, train=list(known.values()))


def transferred(
    config: nmt.Config, corpus: nmt.Corpus, name: str, to: nmt.Translator
) -> nmt.Translator:
    """A round that begins with the model of another language pair, whose shape it
    keeps, and with the tokenizers of ``to``."""
    other, tokenizers = nmt.Translator.load(name).content(), to.content().tokenizers
    model = nmt.Transformer(other.config.model, *map(len, tokenizers))
    old = other.weights, other.tokenizers
    load_weights(model, transfer.transfer_weights(*old, tokenizers))
    start = nmt.Translator(model, *tokenizers, other.config)
    config = config.model_copy(update={"model": other.config.model})
    return train(config, corpus, start=start)


@torch.no_grad()
def mixed(new: nmt.Translator, old: nmt.Translator, share: float) -> nmt.Translator:
    """With ``share`` of the old weights in the new ones (Wortsman et al., 2022,
    https://arxiv.org/abs/2109.01903)."""
    result = copy.deepcopy(new)
    weights = zip(result.model.parameters(), old.model.parameters(), strict=True)
    for weight, other in weights:
        weight.lerp_(other, share)
    return result


def best_mixture(
    new: nmt.Translator, old: nmt.Translator, pairs: Sequence[nmt.Pair]
) -> nmt.Translator:
    """The new model with the share of old weights that is best on these pairs."""
    return best({share: mixed(new, old, share) for share in (0.0, 0.3, 0.5)}, pairs)


def best(
    candidates: Mapping[Any, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> nmt.Translator:
    """The candidate with the highest BLEU on these pairs."""
    scores = [(nmt.evaluate(t, pairs).bleu, key) for key, t in candidates.items()]
    print(scores)
    return candidates[max(scores)[1]]


def finish(name: str, translator: nmt.Translator, config: nmt.Config) -> None:
    """Saves the model in fp16, with the best length penalty α, and writes its scores on
    the validation set; no recipe reads the test set."""
    file = run_path(config) / f"{name}.safetensors"
    translator.save(file, half=True)
    candidates = {
        alpha: nmt.Translator.load(file, decode={"length_penalty": alpha})
        for alpha in (1.0, 1.2, 1.4, 1.6)
    }
    chosen = best(candidates, nmt.load_corpus(config.data).valid)
    chosen.save(file, half=True)
    numbers, signature = score(chosen, chosen.config.data, "valid")
    benchmark.write_table(
        f"recipe_{name}",
        f"{name}, trained by its recipe: the validation set",
        HEADER,
        [[f"{number:.2f}" for number in numbers]],
        f"Length penalty {chosen.config.decode.length_penalty}. "
        f"{NOTES.format(signature)} The validation set chose weights and penalty, so "
        "its scores flatter. "
        "sacrebleu",
        "sacremoses",
    )
