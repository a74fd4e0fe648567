"""What chapter 04 says about weights that training made, and what it draws."""

from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_book.yours.trials import captions
from nmt_book.yours.try_it import compare


def best_heads(chapter: Any) -> list[int]:
    """For each route: in how many of 37 sentences its best head looks at the noun."""
    routes = chapter.counts.values()
    return [max(int(head.split(" of ")[0]) for head in heads) for heads in routes]


def test_which_route_a_head_takes_depends_on_the_seed(chapter: Any) -> None:
    """The page's six models, where the processor is ours.

    Of 20 models, 19 translate all 37 and one has a tense wrong.
    """
    table = {0: (12, 36, 35), 1: (2, 3, 37), 2: (1, 23, 37), 3: (35, 37, 37)}
    table |= {4: (0, 10, 37), 101: (3, 37, 22)}
    table = table if chapter.our_cpu else {}
    seed = chapter.config.train.seed
    for best, stored in zip(best_heads(chapter), table.get(seed, ()), strict=False):
        assert abs(best - stored) <= 4
    corpus = [*chapter.corpus.valid, *chapter.corpus.test]
    pairs = [pair for pair in corpus if chapter.pictures.KIND.match(pair.src)]
    translations = chapter.translator.translate([pair.src for pair in pairs])
    both = zip(translations, pairs, strict=True)
    right = sum(translation.text == pair.tgt for translation, pair in both)
    assert len(pairs) == 37 and right >= (37 if seed in table else 35)


def test_the_german_model_has_scores_for_which_the_formula_fails(chapter: Any) -> None:
    translator = nmt.Translator.load("multi30k-en-de")
    with pytest.raises(nmt.TrainingError):
        compare(
            translator, captions()[:3], False, {"masked_softmax": chapter.check._kept}
        )


def test_only_the_root_gives_the_same_softmax_at_every_width(chapter: Any) -> None:
    largest = {
        (d_k, power): torch.stack(
            [
                (chapter.random_products(d_k, seed) / d_k**power).softmax(-1).amax(-1)
                for seed in range(5)
            ]
        ).mean()
        for d_k in (4, 64, 256)
        for power in (0, 0.5, 1)
    }
    assert all(0.22 < largest[d_k, 0.5] < 0.26 for d_k in (4, 64, 256))
    assert 0.83 < largest[64, 0] < 0.87 and largest[256, 0] > 0.9
    assert largest[256, 1] < 0.075  # the plain mean has 1 / 16


def test_without_projections_a_word_mostly_finds_itself(chapter: Any) -> None:
    kept = []
    for seed in range(20):
        torch.manual_seed(seed)
        x = torch.randn(10, 64)
        kept.append((x @ x.T / 64**0.5).softmax(-1).diagonal())
    assert 0.98 < torch.stack(kept).mean() < 0.995


def test_undivided_scores_let_little_gradient_through(chapter: Any) -> None:
    for divided, undivided in zip(*chapter.curves.values(), strict=True):
        assert 0.25 < divided[-1] < 0.35
        assert 0.2 < undivided[4] / divided[4] < 0.6  # d_k is 64: 0.28 to 0.43
        assert undivided[7] / divided[7] < 1 / 200  # d_k is 512
    table = chapter.jacobian(chapter.random_products(512).softmax(-1))
    assert 0.15 < (table.norm(dim=(1, 2)) > 0.1).float().mean() < 0.27


def test_a_wrong_view_leaks_and_two_cut_attention_into_blocks(chapter: Any) -> None:
    def moved(layer: Any, position: int, seed: int) -> list[int]:
        torch.manual_seed(seed)
        text, mask, part = torch.randn(1, 6, 12), nmt.causal_mask(6), layer(12, 3)
        other = text + (torch.arange(6) == position)[None, :, None]
        change = part(other, other, mask) - part(text, text, mask)  # (B, T, D)
        return (change.abs().amax((0, 2)) > 1e-4).nonzero().flatten().tolist()

    for seed in range(5):
        assert moved(chapter.SplitByView, 4, seed) == list(range(6))
        assert moved(chapter.BothByView, 2, seed) == [2, 3], "not only the first word"
        assert moved(chapter.BothByView, 4, seed) == [4, 5]
        assert moved(chapter.BothByView, 0, seed) == [0, 1]
