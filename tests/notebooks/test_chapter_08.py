"""What chapter 08 says about the trained tiny model, with room for weights of another processor."""

from __future__ import annotations

import pytest
import torch

import nmt_lib as nmt

SENTENCE = "A girl is very happy."  # the first short one of the test set with a feminine *happy*


@pytest.fixture(scope="module")
def translator() -> nmt.Translator:
    return nmt.load_or_train("tiny")


@pytest.fixture(scope="module")
def test_set() -> list[nmt.Pair]:
    return list(nmt.load_corpus(nmt.load_config("tiny").data).test)


def test_heureux_is_the_strongest_runner_up_and_the_beam_carries_it_to_the_end(
    translator: nmt.Translator,
) -> None:
    words, src = (
        translator.tgt_tokenizer,
        torch.tensor([translator.encode(SENTENCE)]),
    )  # (1, S)
    tgt_in = torch.tensor(
        [words.encode("Une fille est très heureuse.", eos=False)]
    )  # (1, T)
    with torch.no_grad():
        two = translator.model(src, tgt_in)[0].log_softmax(-1).topk(2)  # (T, 2)
    taken = words.lookup_tokens([*tgt_in[0, 1:].tolist(), nmt.EOS])
    assert words.lookup_tokens(two.indices[:, 0].tolist()) == taken
    happy = taken.index("heureuse")
    assert words.lookup_tokens([int(two.indices[happy, 1])]) == ["heureux"]
    others = torch.cat([two.values[:happy, 1], two.values[happy + 1 :, 1]])  # (T − 1,)
    assert two.values[happy, 1] > others.max() + 0.2
    found = nmt.beam_search(translator.model, src, beam_size=3, alpha=0.0)[0]
    assert {words.decode(h.ids) for h in found} >= {
        "Une fille est très heureuse.",
        "Une fille est très heureux.",
    }


def test_nearly_all_sentences_come_out_exactly(
    translator: nmt.Translator, test_set: list[nmt.Pair]
) -> None:
    assert nmt.evaluate(translator, test_set).exact >= 0.95


def test_a_cache_that_does_not_follow_spares_the_best_translation(
    translator: nmt.Translator,
    test_set: list[nmt.Pair],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, select = [pair.src for pair in test_set[:100]], nmt.LayerCache.select

    def forgetful(
        cache: nmt.LayerCache, rows: torch.Tensor, sources: torch.Tensor | None = None
    ) -> None:
        if sources is not None:
            select(cache, rows, sources)

    good = translator.translate(texts, beam_size=3)
    monkeypatch.setattr(nmt.LayerCache, "select", forgetful)
    bad = translator.translate(texts, beam_size=3)
    differ = [
        sum(
            a.n_best[i : i + 1] != b.n_best[i : i + 1]
            for a, b in zip(good, bad, strict=True)
        )
        for i in range(3)
    ]
    assert differ[0] <= 10 and min(differ[1:]) >= 50, f"best, second, third: {differ}"


def test_a_large_alpha_makes_the_search_go_on(translator: nmt.Translator) -> None:
    src, steps = torch.tensor([translator.encode(SENTENCE)]), []  # (1, S)
    for alpha in (0.0, 2.0):
        trace: list[nmt.Candidate] = []
        nmt.beam_search(translator.model, src, 3, alpha, trace=trace)
        steps.append(trace[-1].step)
    assert steps[1] > 2 * steps[0]


def test_unknown_words_get_a_fluent_answer(
    translator: nmt.Translator, recwarn: pytest.WarningsRecorder
) -> None:
    assert (
        all(t.text for t in translator.translate(["Zyx qwv brt.", "😀 😀"]))
        and not recwarn
    )
