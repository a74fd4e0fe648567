"""What the recipes share: rounds of training, what they learn from, and the choices
that the validation set makes."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import nmt_lib as nmt
from benchmarks import common
from benchmarks.multi30k import HEADER, NOTES, score

# A recipe that learns faster than that of multi30k.yaml.
PRE_LN = {
    "model.norm": "pre",
    "model.dropout": 0.2,
    "train.batch_tokens": 4096,
    "train.lr": 0.003,
    "train.schedule": "cosine",
    "train.warmup": 500,
}
# What the later rounds have in common: they begin with trained weights.
LATER = {
    "data.bpe_dropout": 0.1,
    "train.batch_tokens": 4096,
    "train.schedule": "cosine",
    "train.warmup": 100,
    "train.keep_checkpoints": 20,
}


def load_config(direction: str, name: str, **overrides: Any) -> nmt.Config:
    """The config ``multi30k`` with these changes; each round has a run of its own."""
    src, tgt = direction.split("-")
    languages = {"data.src_lang": src, "data.tgt_lang": tgt}
    own = {"name": f"multi30k-{direction}-{name}"}
    return common.load_config("multi30k", **own, **languages, **overrides)


def train(
    config: nmt.Config,
    corpus: nmt.Corpus,
    start: nmt.Translator | None = None,
    fresh: bool = False,
    teachers: Sequence[nmt.Translator] = (),
) -> nmt.Translator:
    """One round, or the rest of it; gives the mean of its last checkpoints.

    Args:
        config: of the round; ``train.keep_checkpoints`` are averaged.
        corpus: the pairs may be more than those of the config's corpus.
        start: its tokenizers are used, and the round begins with its weights …
        fresh: … unless it begins with random ones.
        teachers: to learn from, with the same tokenizers; see ``Distillation``.
    """
    tokenizers = (
        (start.src_tokenizer, start.tgt_tokenizer)
        if start
        else nmt.build_tokenizers(config.data, corpus.train)
    )
    trainer = nmt.Trainer(config, corpus, tokenizers)
    if teachers:
        objective = Distillation(trainer.model, config.train.label_smoothing)
        objective.teachers = [teacher.model for teacher in teachers]
        trainer.objective = objective
    if saved := trainer.folder.newest():
        trainer.resume(saved)
    elif start and not fresh:
        trainer.model.load_state_dict(start.model.state_dict())
    trainer.run()
    trainer.finish()
    return nmt.Translator(trainer.model, *tokenizers, config)


class Distillation(nmt.Objective):
    """A student learns what its teachers expect (Hinton et al., 2015,
    https://arxiv.org/abs/1503.02531; Kim and Rush, 2016,
    https://arxiv.org/abs/1606.07947, section 3.1).

    At each position, ``share`` of the goal is the mean of the teachers' probabilities,
    the rest the right token, smoothed as ever. The student reads with dropout, the
    teachers without.
    """

    teachers: Sequence[nmt.Transformer] = ()
    share = 0.7

    def forward(self, batch: nmt.Batch) -> Tensor:
        """The *sum* over all target tokens, in nats."""
        real = batch.tgt_out != nmt.PAD  # (B, T)
        targets, eps = batch.tgt_out[real], self.label_smoothing  # (N,)
        logits = self.model(batch.src, batch.tgt_in)[real].float()  # (N, V)
        with torch.no_grad():
            goal = torch.zeros_like(logits)
            for teacher in self.teachers:
                goal += teacher(batch.src, batch.tgt_in)[real].float().softmax(-1)
            goal *= self.share / len(self.teachers)
            goal += (1 - self.share) * eps / logits.size(-1)
            rest = torch.full_like(logits[:, :1], (1 - self.share) * (1 - eps))
            goal.scatter_add_(1, targets[:, None], rest)
        return F.cross_entropy(logits, goal, reduction="sum")


def back_translated(corpus: nmt.Corpus, translator: str) -> nmt.Corpus:
    """The corpus with more pairs: its targets, and their greedy translations as sources
    (Sennrich et al., 2016, https://arxiv.org/abs/1511.06709)."""
    targets = [pair.tgt for pair in corpus.train]
    found = nmt.Translator.load(translator).translate(targets, beam_size=1)
    pairs = zip(found, targets, strict=True)
    new = [nmt.Pair(source.text, target) for source, target in pairs]
    known = {(pair.src, pair.tgt): pair for pair in [*corpus.train, *new]}
    return dataclasses.replace(corpus, train=list(known.values()))


@torch.no_grad()
def mixed(new: nmt.Translator, old: nmt.Translator, share: float) -> nmt.Translator:
    """With ``share`` of the old weights in the new ones (Wortsman et al., 2022,
    https://arxiv.org/abs/2109.01903)."""
    result = copy.deepcopy(new)
    weights = zip(result.model.parameters(), old.model.parameters(), strict=True)
    for weight, other in weights:
        weight.lerp_(other, share)
    return result


def best(
    candidates: Mapping[Any, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> nmt.Translator:
    """The candidate with the highest BLEU on these pairs."""
    found = [(nmt.evaluate(one, pairs).bleu, key) for key, one in candidates.items()]
    print(found)
    return candidates[max(found)[1]]


def finish(name: str, translator: nmt.Translator, config: nmt.Config) -> None:
    """Saves the model in fp16, with the best length penalty α, and writes its scores on
    the validation set; no recipe reads the test set."""
    file = config.run_path / f"{name}.safetensors"
    translator.save(file, half=True)
    candidates = {
        alpha: nmt.Translator.load(file, decode={"length_penalty": alpha})
        for alpha in (1.0, 1.2, 1.4, 1.6)
    }
    chosen = best(candidates, nmt.load_corpus(config.data).valid)
    chosen.save(file, half=True)
    numbers, signature = score(chosen, chosen.config.data, "valid")
    common.write_table(
        f"recipe_{name}",
        f"{name}, trained by its recipe: the validation set",
        HEADER,
        [[f"{number:.2f}" for number in numbers]],
        f"Length penalty {chosen.config.decode.length_penalty}. "
        f"{NOTES.format(signature)} The validation set chose weights and penalty, so "
        "its scores flatter. "
        f"{common.machine('sacrebleu', 'sacremoses')}.",
    )
