"""What chapter 10 measures: sentences in which one rule is broken, and students."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

import nmt_lib as nmt
from nmt_lib.data.tiny.corpus import generate

from .contrasts import make_contrasts


def bleu(outputs: Sequence[str], pairs: Sequence[nmt.Pair]) -> float:
    from sacrebleu.metrics import BLEU

    return BLEU().corpus_score(outputs, [[pair.tgt for pair in pairs]]).score


def break_one_rule(pairs: Sequence[nmt.Pair]) -> None:
    """Prints the BLEU of right translations in which one rule is always broken."""
    for kind, found in make_contrasts(pairs).items():
        wrong = {contrast.src: contrast.wrong for contrast in found}
        score = bleu([wrong.get(pair.src, pair.tgt) for pair in pairs], pairs)
        print(f"{kind}: {len(found)} of {len(pairs)} wrong, BLEU {score:.1f}")
        print(f"   {found[0].right}   →   {found[0].wrong}")


def fresh_contrasts(corpus: nmt.Corpus, n: int) -> dict[str, list[nmt.Contrast]]:
    """n contrasts of each kind, of neither training nor test sentences."""
    known = {pair.src for pair in [*corpus.train, *corpus.test]}
    drawn = [triple for part in generate(seed=1).values() for triple in part]
    pairs = [nmt.Pair(triple.text("en"), triple.text("fr")) for triple in drawn]
    fresh = [pair for pair in pairs if pair.src not in known][:2500]
    contrasts = {kind: some[:n] for kind, some in make_contrasts(fresh).items()}
    print({kind: len(some) for kind, some in contrasts.items()})
    return contrasts


def contrasts_won(
    judge: nmt.Translator, contrasts: Mapping[str, Sequence[nmt.Contrast]]
) -> list[float]:
    """Percent for each kind."""
    return [100 * nmt.contrastive_accuracy(judge, some) for some in contrasts.values()]


def by_form(
    kind: str, contrasts: Sequence[nmt.Contrast]
) -> dict[str, list[nmt.Contrast]]:
    """Contrasts by the form that is right: the pronoun, or the adjective's gender."""
    found: dict[str, list[nmt.Contrast]] = {}
    for one in contrasts:
        form = "feminine" if len(one.right) > len(one.wrong) else "masculine"
        if kind == "pronoun":
            words = zip(one.right.split(), one.wrong.split(), strict=False)
            form = next(right for right, wrong in words if right != wrong)
        found.setdefault(form, []).append(one)
    return dict(sorted(found.items()))


def print_by_form(
    judges: Mapping[str, nmt.Translator],
    contrasts: Mapping[str, Sequence[nmt.Contrast]],
) -> None:
    """How many contrasts each model wins, by the form that is right."""
    print(" " * 24 + "".join(f"{name:>12}" for name in judges))
    for kind in ("agreement", "pronoun"):
        for form, some in by_form(kind, contrasts[kind]).items():
            won = [nmt.contrastive_accuracy(judge, some) for judge in judges.values()]
            row = "".join(f"{share * len(some):>12.0f}" for share in won)
            print(f"{kind:<10}{form:<10}{row} of {len(some)}")


class Reading(NamedTuple):
    """What a model says after the right words, and what it writes on its own."""

    pair: nmt.Pair
    right: list[str]  # tokens, with <eos>
    along: list[str]  # the most likely token at each position
    text: str  # of these
    own: nmt.Translation


def lesson(config: nmt.Config) -> nmt.Config:
    """Of the tiny French model, with the config's seed: the grammar's rules are its."""
    tiny = config.data.corpus == "tiny"
    if tiny and config.data.tgt_lang == "fr":
        return config
    folder = {"name": "lesson"} if tiny else {}
    return nmt.load_config("tiny", **{"train.seed": config.train.seed}, **folder)


def train_students(
    trained: nmt.Translator, corpus: nmt.Corpus, other_seed: int = 0
) -> dict[int, nmt.Translator]:
    """A model like the trained one after 50, 100 … 250 updates, all on the CPU.

    ``other_seed`` is added to the seed of the trained model.
    """
    torch.set_num_threads(1)  # so small a model is slowed down by more
    trained.model.cpu()
    tokenizers = trained.src_tokenizer, trained.tgt_tokenizer
    changed = {"seed": trained.config.train.seed + other_seed}
    train = trained.config.train.model_copy(update=changed)
    config = trained.config.model_copy(update={"train": train})
    trainer = nmt.Trainer(config, corpus, tokenizers)
    students = {}
    for step, examples in zip(range(1, 251), trainer.batches(), strict=False):
        trainer.update([examples])
        if step % 50 == 0:
            model = copy.deepcopy(trainer.model).cpu()
            students[step] = nmt.Translator(model, *tokenizers, config)
    return students


@torch.no_grad()
def read_along(
    translator: nmt.Translator,
    pairs: Sequence[nmt.Pair],
    translations: Sequence[nmt.Translation],
) -> list[Reading]:
    """Each pair as the model reads along, beside its own translation."""
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    batch = nmt.make_batch(nmt.encode_pairs(pairs, tokenizers, translator.config))
    likely = translator.model(batch.src, batch.tgt_in).argmax(-1)  # (B, T)
    words, found = tokenizers[1].lookup_tokens, []
    for i, (pair, own) in enumerate(zip(pairs, translations, strict=True)):
        real = batch.tgt_out[i] != nmt.PAD  # (T,)
        right, along = batch.tgt_out[i][real].tolist(), likely[i][real].tolist()
        text = tokenizers[1].decode(along[:-1])
        found.append(Reading(pair, words(right), words(along), text, own))
    return found


def words_right(readings: Sequence[Reading]) -> float:
    """Percent of the tokens that are right when the model reads along."""
    right = [
        a == b for one in readings for a, b in zip(one.along, one.right, strict=True)
    ]
    return 100 * sum(right) / len(right)


def score_all(
    models: Mapping[int, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> tuple[dict[int, nmt.Evaluation], dict[int, list[Reading]], dict[str, list[float]]]:
    """The scores and the readings of each model, and three curves of percent."""
    scored = {n: nmt.evaluate(model, pairs) for n, model in models.items()}
    readings = {
        n: read_along(model, pairs, scored[n].translations)
        for n, model in models.items()
    }
    curves = {
        "words right, reading along": [*map(words_right, readings.values())],
        "BLEU": [scores.bleu for scores in scored.values()],
        "sentences right": [100 * scores.exact for scores in scored.values()],
    }
    return scored, readings, curves


DOCTOR = "The doctor said that the patient may drink the water."
KEPT = [  # the meaning
    "The doctor said that the patient can drink the water.",
    "According to the doctor, the patient may have water.",
]
LOST = [
    "The doctor said that the patient cannot drink the water.",
    "The patient said that the doctor may drink the water.",
]
