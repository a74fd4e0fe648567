"""What chapter 10 measures: sentences in which one rule is broken, and students."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import torch

import nmt_lib as nmt
from nmt_lib.data.tiny.corpus import generate

from .contrasts import make_contrasts


def bleu(outputs: Sequence[str], pairs: Sequence[nmt.Pair]) -> float:
    from sacrebleu.metrics import BLEU

    return BLEU().corpus_score(outputs, [[pair.tgt for pair in pairs]]).score


def break_one_rule(pairs: Sequence[nmt.Pair]) -> None:
    """Prints the BLEU of right translations in which one rule is always broken."""
    for kind, contrasts in make_contrasts(pairs).items():
        wrong = {contrast.src: contrast.wrong for contrast in contrasts}
        score = bleu([wrong.get(pair.src, pair.tgt) for pair in pairs], pairs)
        print(f"{kind}: {len(contrasts)} of {len(pairs)} wrong, BLEU {score:.1f}")
        print(f"   {contrasts[0].right}   →   {contrasts[0].wrong}")


def fresh_contrasts(corpus: nmt.Corpus, n: int) -> dict[str, list[nmt.Contrast]]:
    """n contrasts of each kind, of neither training nor test sentences."""
    sources = {pair.src for pair in [*corpus.train, *corpus.test]}
    triples = [triple for part in generate(seed=1).values() for triple in part]
    pairs = [nmt.Pair(triple.text("en"), triple.text("fr")) for triple in triples]
    fresh = [pair for pair in pairs if pair.src not in sources][:2500]
    contrasts = {kind: group[:n] for kind, group in make_contrasts(fresh).items()}
    print({kind: len(group) for kind, group in contrasts.items()})
    return contrasts


def contrasts_won(
    judge: nmt.Translator, contrasts: Mapping[str, Sequence[nmt.Contrast]]
) -> list[float]:
    """Percent for each kind."""
    return [
        100 * nmt.contrastive_accuracy(judge, group) for group in contrasts.values()
    ]


def by_form(
    kind: str, contrasts: Sequence[nmt.Contrast]
) -> dict[str, list[nmt.Contrast]]:
    """Contrasts by the form that is right: the pronoun, or the adjective's gender."""
    groups: dict[str, list[nmt.Contrast]] = {}
    for contrast in contrasts:
        form = "feminine" if len(contrast.right) > len(contrast.wrong) else "masculine"
        if kind == "pronoun":
            words = zip(contrast.right.split(), contrast.wrong.split(), strict=False)
            form = next(right for right, wrong in words if right != wrong)
        groups.setdefault(form, []).append(contrast)
    return dict(sorted(groups.items()))


def print_by_form(
    judges: Mapping[str, nmt.Translator],
    contrasts: Mapping[str, Sequence[nmt.Contrast]],
) -> None:
    """How many contrasts each model wins, by the form that is right."""
    print(" " * 24 + "".join(f"{name:>12}" for name in judges))
    for kind in ("agreement", "pronoun"):
        for form, group in by_form(kind, contrasts[kind]).items():
            shares = [
                nmt.contrastive_accuracy(judge, group) for judge in judges.values()
            ]
            row = "".join(f"{share * len(group):>12.0f}" for share in shares)
            print(f"{kind:<10}{form:<10}{row} of {len(group)}")


def lesson(config: nmt.Config) -> nmt.Config:
    """Of the tiny French model, with the config's seed: the grammar's rules are its."""
    if config.data.corpus == "tiny" and config.data.tgt_lang == "fr":
        return config
    return nmt.load_config("tiny", **{"train.seed": config.train.seed})


def train_students(
    trained: nmt.Translator, corpus: nmt.Corpus, other_seed: int = 0
) -> dict[int, nmt.Translator]:
    """A model like the trained one after 50, 100 … 250 updates, all on the CPU.

    ``other_seed`` is added to the seed of the trained model.
    """
    torch.set_num_threads(1)  # so small a model is slowed down by more
    trained.model.cpu()
    tokenizers = trained.src_tokenizer, trained.tgt_tokenizer
    changes = {"seed": trained.config.train.seed + other_seed}
    train = trained.config.train.model_copy(update=changes)
    config = trained.config.model_copy(update={"train": train})
    trainer = nmt.Trainer(config, corpus, tokenizers)
    students = {}
    for step, examples in zip(range(1, 251), trainer.batches(), strict=False):
        trainer.update([examples])
        if step % 50 == 0:
            model = copy.deepcopy(trainer.model).cpu()
            students[step] = nmt.Translator(model, *tokenizers, config)
    return students


DOCTOR = "The doctor said that the patient may drink the water."
KEPT = [  # the meaning
    "The doctor said that the patient can drink the water.",
    "According to the doctor, the patient may have water.",
]
LOST = [
    "The doctor said that the patient cannot drink the water.",
    "The patient said that the doctor may drink the water.",
]
