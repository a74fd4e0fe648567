"""Chapter 10: what it costs to get one rule of grammar wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import nmt_lib as nmt

from ..tiny.corpus import generate


def bleu(outputs: Sequence[str], pairs: Sequence[nmt.Pair]) -> float:
    from sacrebleu.metrics import BLEU

    return BLEU().corpus_score(outputs, [[pair.tgt for pair in pairs]]).score


def break_one_rule(pairs: Sequence[nmt.Pair]) -> None:
    """Prints the BLEU of right translations in which one rule is always broken."""
    for kind, found in nmt.make_contrasts(pairs).items():
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
    contrasts = {kind: some[:n] for kind, some in nmt.make_contrasts(fresh).items()}
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
