import dataclasses
import math
import random

import pytest
import torch
from tests.lib.small import small_translator

import nmt_lib as nmt
from nmt_lib.evaluation import (
    alignment_error_rate,
    contrastive_accuracy,
    evaluate,
    perplexity,
    sentence_log_probs,
)

PAIRS = [
    nmt.Pair("ich sehe ein haus", "i see a house ."),
    nmt.Pair("du", "you"),
    nmt.Pair("wir mochte der hund und das bier", "we want the dog and the beer ."),
    nmt.Pair("ich mochte", "i"),
]


def perfect(pairs: list[nmt.Pair]) -> nmt.Translator:
    """A translator that answers with the references."""
    translator, answers = small_translator(), {pair.src: pair.tgt for pair in pairs}
    translator.translate = lambda texts, **_: [
        nmt.Translation(t, answers[t], (), 0.0) for t in texts
    ]  # type: ignore
    return translator


def test_perfect_translations_score_100() -> None:
    result = evaluate(perfect(PAIRS), PAIRS)
    assert (
        result.bleu == pytest.approx(100.0)
        and result.chrf == pytest.approx(100.0)
        and result.exact == 1.0
    )
    assert [t.text for t in result.translations] == [pair.tgt for pair in PAIRS]


def test_the_signature_says_how_it_was_counted() -> None:
    import sacrebleu

    result = evaluate(perfect(PAIRS), PAIRS)
    assert (
        "tok:13a" in result.bleu_signature
        and f"version:{sacrebleu.__version__}" in result.bleu_signature
    )
    assert f"version:{sacrebleu.__version__}" in result.chrf_signature
    assert "tok:none" in evaluate(perfect(PAIRS), PAIRS, tokenize="none").bleu_signature


def test_bleu_equals_sacrebleu_on_the_same_texts() -> None:
    import sacrebleu

    wrong = [
        dataclasses.replace(PAIRS[0], tgt="i see the house ."),
        dataclasses.replace(PAIRS[1], tgt=PAIRS[1].tgt.title()),  # capitals count
        PAIRS[2],
        dataclasses.replace(PAIRS[3], tgt="we"),
    ]
    result = evaluate(perfect(wrong), PAIRS)
    texts, references = [pair.tgt for pair in wrong], [[pair.tgt for pair in PAIRS]]
    assert (
        result.bleu == pytest.approx(sacrebleu.corpus_bleu(texts, references).score)
        and 0 < result.bleu < 100
    )
    assert result.chrf == pytest.approx(sacrebleu.corpus_chrf(texts, references).score)
    assert result.exact == 0.25


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(nmt.CorpusError, match="empty"):
        evaluate(small_translator(), [])


def test_a_real_run_scores_something_finite_also_with_empty_sources() -> None:
    for pairs in (
        [*PAIRS, nmt.Pair("", "you")],
        [nmt.Pair("", "you"), nmt.Pair(" ", "i see")],
    ):
        result = evaluate(small_translator(), pairs, beam_size=2)
        assert (
            0 <= result.bleu <= 100
            and math.isfinite(result.perplexity)
            and len(result.translations) == len(pairs)
        )


def token_losses(translator: nmt.Translator, pair: nmt.Pair) -> list[float]:
    src = torch.tensor([translator.encode(pair.src)])
    tgt = translator.tgt_tokenizer.encode(pair.tgt)
    with torch.no_grad():
        table = translator.model(src, torch.tensor([tgt[:-1]]))[0].log_softmax(-1)
    return [-table[t, token].item() for t, token in enumerate(tgt[1:])]


@pytest.mark.parametrize("options", [{}, {"src_specials": False}, {"norm": "pre"}])
def test_perplexity_counts_each_token_once(options: dict[str, object]) -> None:
    translator = small_translator(1, **options)
    losses = [token_losses(translator, pair) for pair in PAIRS]
    flat = [loss for row in losses for loss in row]
    mean_of_sentences = sum(sum(row) / len(row) for row in losses) / len(losses)
    assert perplexity(translator, PAIRS) == pytest.approx(
        math.exp(sum(flat) / len(flat)), rel=1e-4
    )
    assert (
        abs(math.exp(mean_of_sentences) / perplexity(translator, PAIRS) - 1) > 0.01
    )  # so a mean of means would show
    assert perplexity(translator, PAIRS[::-1]) == pytest.approx(
        perplexity(translator, PAIRS), rel=1e-5
    )


def test_perplexity_of_one_sentence_is_not_changed_by_dropout() -> None:
    assert perplexity(small_translator(dropout=0.5), PAIRS) == pytest.approx(
        perplexity(small_translator(), PAIRS)
    )


# --------------------------------------------------------------------------------------------- log-probabilities
@pytest.mark.parametrize(
    "options", [{}, {"src_specials": False}, {"norm": "pre"}, {"dropout": 0.5}]
)
def test_a_sentence_has_the_sum_of_its_tokens(options: dict[str, object]) -> None:
    translator = small_translator(1, **options)
    by_hand = [
        -sum(token_losses(translator, pair)) for pair in PAIRS
    ]  # one at a time, so without padding
    assert sentence_log_probs(translator, PAIRS) == pytest.approx(by_hand, rel=1e-4)
    assert sentence_log_probs(translator, PAIRS[::-1]) == pytest.approx(
        by_hand[::-1], rel=1e-4
    )
    assert sentence_log_probs(translator, []) == []


def test_log_probs_and_perplexity_belong_together() -> None:
    translator = small_translator(2)
    n_tokens = sum(len(translator.tgt_tokenizer.encode(pair.tgt)) - 1 for pair in PAIRS)
    mean = -sum(sentence_log_probs(translator, PAIRS)) / n_tokens
    assert perplexity(translator, PAIRS) == pytest.approx(math.exp(mean), rel=1e-4)


def test_many_batches_and_a_very_long_sentence_keep_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator = small_translator(3)
    pairs = [*PAIRS * 3, nmt.Pair("du " * 30, "you " * 30)]
    expected = sentence_log_probs(translator, pairs)
    plan = nmt.evaluation._plan  # type: ignore[attr-defined]
    monkeypatch.setattr(
        nmt.evaluation,
        "_plan",
        lambda tr, ps, batch_tokens: plan(tr, ps, batch_tokens=16),
    )  # type: ignore[attr-defined]
    assert sentence_log_probs(translator, pairs) == pytest.approx(expected, rel=1e-4)


def test_a_model_that_was_left_in_training_mode_stays_so_and_drops_nothing() -> None:
    translator = small_translator(dropout=0.5)
    expected = sentence_log_probs(translator, PAIRS)
    translator.model.train()
    assert sentence_log_probs(translator, PAIRS) == pytest.approx(expected, rel=1e-5)
    assert translator.model.training


def test_contrastive_accuracy_by_hand() -> None:
    translator = small_translator(5)
    likely, unlikely = sorted(
        ("i see a house .", "we want the dog ."),
        key=lambda text: sentence_log_probs(translator, [nmt.Pair("ich sehe", text)])[
            0
        ],
        reverse=True,
    )
    right, wrong = (
        nmt.Contrast("ich sehe", likely, unlikely),
        nmt.Contrast("ich sehe", unlikely, likely),
    )
    assert contrastive_accuracy(translator, [right]) == 1.0
    assert contrastive_accuracy(translator, [wrong, right, wrong, wrong]) == 0.25
    assert (
        contrastive_accuracy(translator, [nmt.Contrast("ich sehe", likely, likely)])
        == 0.0
    ), "equal is not better"
    with pytest.raises(nmt.CorpusError, match="empty"):
        contrastive_accuracy(translator, [])


# --------------------------------------------------------------------------------------------- alignment error rate
def weights(columns: list[int], width: int = 6) -> torch.Tensor:
    """Attention whose row t looks mostly at ``columns[t]``."""
    table = torch.full((len(columns), width), 0.01)
    for row, column in enumerate(columns):
        table[row, column] = 0.9
    return table


def test_alignment_error_rate_by_hand() -> None:
    gold = [(0, 0), (2, 1), (1, 2)]
    assert alignment_error_rate(weights([1, 3, 2, 5]), gold) == 0.0
    assert alignment_error_rate(weights([4, 4, 4, 5]), gold) == 1.0
    assert alignment_error_rate(weights([1, 4, 2, 5]), gold) == pytest.approx(
        1 - 2 * 2 / 6
    )
    assert alignment_error_rate(weights([0, 2, 1, 5]), gold, src_offset=0) == 0.0


def test_a_word_with_two_gold_links_can_find_one_of_them() -> None:
    assert alignment_error_rate(
        weights([1, 2]), [(0, 0), (1, 0), (1, 1)]
    ) == pytest.approx(1 - 2 * 2 / 5)


def test_looking_at_special_tokens_is_an_error_of_alignment() -> None:
    assert alignment_error_rate(weights([0, 5]), [(0, 0), (1, 1)]) == 1.0


def test_no_gold_links_is_an_error() -> None:
    with pytest.raises(ValueError, match="gold"):
        alignment_error_rate(weights([1, 2]), [])


def test_gold_links_beyond_the_rows_are_an_error() -> None:
    with pytest.raises(ValueError, match="rows"):
        alignment_error_rate(weights([1, 2]), [(0, 0), (1, 4)])


def test_the_rate_is_that_of_sets_of_links_however_often_one_is_repeated() -> None:
    """Against another formula, (precision and recall) on random cases; a list counted twice would differ."""
    draw = random.Random(0)
    for _ in range(200):
        T, S = draw.randint(1, 6), draw.randint(2, 7)
        table = torch.rand(
            T, S, generator=torch.Generator().manual_seed(draw.randrange(10**6))
        )
        gold = [
            (draw.randrange(S - 1), draw.randrange(T))
            for _ in range(draw.randint(1, 9))
        ]
        gold += draw.choices(gold, k=draw.randint(0, 4))
        words = max(t for _, t in gold) + 1
        found = [
            (row.index(max(row)) - 1, t) for t, row in enumerate(table.tolist()[:words])
        ]
        hits, links = sum(link in gold for link in found), len(dict.fromkeys(gold))
        expected = 1 - 2 / (len(found) / hits + links / hits) if hits else 1.0  # 1 - F1
        assert alignment_error_rate(table, gold) == pytest.approx(expected)
        assert alignment_error_rate(
            table, [list(link) for link in gold]
        ) == pytest.approx(expected)  # type: ignore[misc]


def test_links_that_no_weight_can_stand_for_are_an_error() -> None:
    for gold, message in (
        ([(0, -1)], "rows"),
        ([(6, 0)], "columns"),
        ([(-2, 0)], "columns"),
        ([(5, 0)], "columns"),
    ):
        with pytest.raises(ValueError, match=message):
            alignment_error_rate(weights([1, 2]), gold)
    assert alignment_error_rate(weights([1, 2]), [(4, 0)]) == 1.0


def test_a_source_with_nothing_to_see_has_a_perplexity_too() -> None:
    assert math.isfinite(
        perplexity(small_translator(), [*PAIRS, nmt.Pair("\u200b", PAIRS[0].tgt)])
    )
    with pytest.raises(nmt.CorpusError, match="empty"):
        perplexity(small_translator(), [])


def test_weights_that_are_not_finite_give_no_score() -> None:
    translator = small_translator()
    torch.nn.init.constant_(translator.model.output.weight, float("nan"))
    contrast = nmt.Contrast("du", "you", "i")
    for score in (
        lambda: perplexity(translator, PAIRS),
        lambda: contrastive_accuracy(translator, [contrast]),
    ):
        with pytest.raises(nmt.TrainingError, match="not finite"):
            score()


@pytest.mark.parametrize(
    "wrong", [torch.rand(4, 3, 3), torch.full((3, 3), float("nan"))]
)
def test_alignment_needs_the_numbers_of_one_head(wrong: torch.Tensor) -> None:
    with pytest.raises(nmt.ShapeError, match="one head"):
        alignment_error_rate(wrong, [(0, 0)])


def test_a_text_that_is_no_unicode_is_named() -> None:
    with pytest.raises(nmt.CorpusError, match="no valid character"):
        perplexity(small_translator(), [nmt.Pair("du \ud800", "you")])
