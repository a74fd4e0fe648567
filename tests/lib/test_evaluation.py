"""Scores against sacrebleu and against sums by hand; alignment error rate."""

import math
from typing import Any

import pytest
import sacrebleu
import torch

import nmt_lib as nmt
from nmt_lib.translate.evaluate import (
    alignment_error_rate,
    contrastive_accuracy,
    evaluate,
    perplexity,
    sentence_log_probs,
)
from tests.lib.small import small_translator

PAIRS = [
    nmt.Pair("ich sehe ein haus", "i see a house ."),
    nmt.Pair("du", "you"),
    nmt.Pair("wir mochte der hund und das bier", "we want the dog and the beer ."),
    nmt.Pair("ich mochte", "i"),
]


def test_bleu_and_chrf_are_those_of_sacrebleu_with_a_signature() -> None:
    translator: Any = small_translator()
    answers = ["i see the house .", "You", PAIRS[2].tgt, "we"]  # capitals count
    translator.translate = lambda texts, **_: [
        nmt.Translation(*both, (), 0.0) for both in zip(texts, answers, strict=True)
    ]
    references = [[pair.tgt for pair in PAIRS]]
    result = evaluate(translator, PAIRS)
    assert 0 < result.bleu < 100 and result.exact == 0.25
    for score, scorer in (
        (result.bleu, sacrebleu.corpus_bleu),
        (result.chrf, sacrebleu.corpus_chrf),
    ):
        assert score == pytest.approx(scorer(answers, references).score)
    assert [t.text for t in result.translations] == answers
    assert "tok:13a" in result.bleu_signature
    assert f"version:{sacrebleu.__version__}" in result.chrf_signature
    assert "tok:none" in evaluate(translator, PAIRS, tokenize="none").bleu_signature


def test_plain_tuples_are_pairs_and_what_is_none_is_named() -> None:
    translator, tuples = small_translator(), [(pair.src, pair.tgt) for pair in PAIRS]
    assert evaluate(translator, tuples) == evaluate(translator, PAIRS)
    with pytest.raises(TypeError, match="a Pair is needed here, not a str"):
        evaluate(translator, iter("ab"))  # type: ignore[arg-type]


BY_CHARACTER = 100 * (9 / 10 * 7 / 9 * 5 / 8 * 3 / 7) ** 0.25


@pytest.mark.parametrize(
    ("lang", "tokenizer", "score"),
    [("zh-TW", "zh", BY_CHARACTER), ("jpn", "char", BY_CHARACTER), ("pl", "13a", 0.0)],
)
def test_bleu_has_the_words_of_the_target_language(
    lang: str, tokenizer: str, score: float
) -> None:
    """One comma is another one; 13a takes a Chinese sentence for a word."""
    translator: Any = small_translator()
    data = translator.config.data.model_copy(update={"tgt_lang": lang})
    translator.config = translator.config.model_copy(update={"data": data})
    pairs = [nmt.Pair("du", "他喜欢猫，我也喜欢猫")]
    answer = nmt.Translation("du", "他喜欢猫,我也喜欢猫", (), 0.0)
    translator.translate = lambda texts, **_: [answer]
    result = evaluate(translator, pairs)
    assert f"tok:{tokenizer}|" in result.bleu_signature
    assert result.bleu == pytest.approx(score, abs=0.01)


@pytest.mark.parametrize("src", ["", " ", "\u200b"])
def test_a_source_with_nothing_to_see_is_evaluated_too(src: str) -> None:
    pairs = [*PAIRS, nmt.Pair(src, "you")]
    result = evaluate(small_translator(), pairs, beam_size=2)
    assert 0 <= result.bleu <= 100 and len(result.translations) == len(pairs)
    assert math.isfinite(result.perplexity)


@torch.no_grad()
def log_prob(translator: nmt.Translator, pair: nmt.Pair) -> float:
    """Of one sentence alone, so without padding."""
    src = torch.tensor([translator.encode(pair.src)])
    tgt = translator.tgt_tokenizer.encode(pair.tgt)
    table = translator.model(src, torch.tensor([tgt[:-1]]))[0].log_softmax(-1)
    return sum(table[t, token].item() for t, token in enumerate(tgt[1:]))


@pytest.mark.parametrize(
    "options", [{}, {"src_specials": False, "norm": "pre"}, {"dropout": 0.5}]
)
def test_log_probabilities_and_perplexity_are_sums_over_all_tokens(
    options: dict[str, Any],
) -> None:
    translator = small_translator(1, **options)
    pairs = [PAIRS[0], nmt.Pair("du", "you " * 2100), *PAIRS[1:]]  # over the budget
    expected = [log_prob(translator, pair) for pair in pairs]
    translator.model.train()
    assert sentence_log_probs(translator, pairs) == pytest.approx(expected, rel=1e-4)
    n_tokens = sum(len(pair.tgt.split()) + 1 for pair in pairs)  # and <eos>
    surprise = math.exp(-sum(expected) / n_tokens)
    assert perplexity(translator, pairs) == pytest.approx(surprise, rel=1e-4)
    assert translator.model.training


def test_contrastive_accuracy_by_hand() -> None:
    translator, texts = small_translator(5), ("i see a house .", "we want the dog .")
    scores = [log_prob(translator, nmt.Pair("ich sehe", text)) for text in texts]
    best, worst = texts if scores[0] > scores[1] else reversed(texts)
    right = nmt.Contrast("ich sehe", best, worst)
    wrong = nmt.Contrast("ich sehe", worst, best)
    equal = nmt.Contrast("ich sehe", best, best)  # is not better
    assert contrastive_accuracy(translator, [wrong, right, equal, wrong]) == 0.25


@pytest.mark.parametrize(
    "score", [evaluate, perplexity, contrastive_accuracy, sentence_log_probs]
)
def test_nothing_to_evaluate_and_weights_that_are_not_finite(score: Any) -> None:
    translator = small_translator()
    if score is not sentence_log_probs:
        with pytest.raises(nmt.CorpusError, match="empty"):
            score(translator, [])
    torch.nn.init.constant_(translator.model.output.weight, torch.nan)
    one = nmt.Contrast("du", "you", "i") if score is contrastive_accuracy else PAIRS[1]
    with pytest.raises(nmt.TrainingError, match="not finite"):
        score(translator, [one])


# --- alignment error rate
def weights(*columns: int, width: int = 6) -> torch.Tensor:
    """``(T, S)``: row t looks mostly at ``columns[t]``."""
    return torch.nn.functional.one_hot(torch.tensor(columns), width) * 0.9 + 0.01


def test_alignment_error_rate_by_hand() -> None:
    gold = [(0, 0), (2, 1), (1, 2)]
    assert alignment_error_rate(weights(1, 3, 2), gold) == 0.0
    assert alignment_error_rate(weights(4, 4, 4), gold) == 1.0
    assert alignment_error_rate(weights(0, 5, 0), gold) == 1.0  # special tokens
    assert alignment_error_rate(weights(1, 4, 2), gold) == pytest.approx(1 - 4 / 6)
    assert alignment_error_rate(weights(0, 2, 1), gold, src_offset=0) == 0.0
    double = [(0, 0), (2, 1), (1, 1)]  # two links of one target word
    assert alignment_error_rate(weights(1, 3), double) == pytest.approx(1 - 4 / 5)
    for last in (1, 2):  # the word without a gold link counts wherever it is
        gold = [(0, 0), (1, 3 - last)]
        assert alignment_error_rate(weights(1, 2, 2), gold) == pytest.approx(0.2)


@pytest.mark.parametrize("link", [(1, 4), (0, -1), (5, 0), (-1, 0)])
def test_gold_links_beyond_the_weights_are_an_error(link: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="beyond"):
        alignment_error_rate(weights(1, 2), [(0, 0), link])
    with pytest.raises(ValueError, match="gold"):
        alignment_error_rate(weights(1, 2), [])
    with pytest.raises(nmt.ShapeError, match="one head"):
        alignment_error_rate(torch.rand(4, 3, 3), [(0, 0)])
