"""What chapter 11 measures and says, with room for weights of another processor."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

import nmt_lib as nmt
from nmt_lib.pictures.defects import DEFECTS


def late(runs: list[list[float]]) -> float:
    """The mean validation loss from update 250 on."""
    return torch.tensor(runs)[:, 4:].mean().item()


def test_verdicts_of_21_defects(chapter: Any) -> None:
    counts = {verdict: len(defects) for verdict, defects in DEFECTS.items()}
    assert counts == {"much": 2, "some": 4, "open": 3, "sleeps": 7, "none": 5}


def test_doubled_exponent_is_a_little_behind_and_learns_all_the_same(
    chapter: Any,
) -> None:
    doubled = chapter.curves["doubled exponent"]
    assert 0.02 < late(doubled) - late(chapter.curves["as in the paper"]) < 0.3
    assert max(run[-1] for run in doubled) < 0.4


def test_norms_never_trained_are_hardly_behind(chapter: Any) -> None:
    anew = chapter.curves["norms never trained"]
    assert -0.02 < late(anew) - late(chapter.curves["as in the paper"]) < 0.1
    assert max(run[-1] for run in anew) < 0.35


def test_ten_times_the_rate_of_c_stands_still(chapter: Any) -> None:
    slow, fast = (sum(losses[-10:]) / 10 for losses in chapter.deep.values())
    assert slow < 3.8 < 3.95 < fast
    slow, fast = (sum(losses[5:20]) / 15 for losses in chapter.deep.values())
    assert fast < slow, "and it leads at first"


def test_smoothed_validation_loss_makes_a_good_model_look_mediocre(
    chapter: Any,
) -> None:
    batch = nmt.make_batch(chapter.unseen[:500])
    with torch.no_grad():
        logits = chapter.trained.model(batch.src, batch.tgt_in)
    plain, smoothed = (
        nmt.cross_entropy(logits, batch.tgt_out, eps).item() for eps in (0.0, 0.1)
    )
    assert math.exp(plain) < 1.15 and 2.4 < math.exp(smoothed) < 2.8
    V = chapter.sizes[1]
    top, rest = 0.9 + 0.1 / V, 0.1 / V
    assert smoothed > -top * math.log(top) - (V - 1) * rest * math.log(rest) > 0.87, (
        "the floor"
    )


def test_a_full_stop_does_the_work_of_eos(chapter: Any) -> None:
    nothing, eos, full_stop, both = chapter.exact["trained model"]
    assert min(eos, full_stop) >= nothing - 4 and both <= nothing - 5
    nothing, *_, both = chapter.exact["one layer"]
    assert both < nothing


def test_five_of_the_six_promises_are_kept(chapter: Any) -> None:
    texts = [t.text for t in chapter.trained.translate(list(chapter.promises))]
    assert (
        sum(
            text == promised
            for text, promised in zip(texts, chapter.promises.values(), strict=True)
        )
        >= 5
    )
    assert set(chapter.promises) <= {pair.src for pair in chapter.corpus.train}


def test_norms_that_are_lost_show_in_the_perplexity_only(chapter: Any) -> None:
    (before, n_before), (after, n_after) = chapter.results.values()
    assert n_before >= 190 and n_after >= 160 and after > before + 0.02


def test_the_training_loss_chooses_late_and_bleu_hardly_differs(chapter: Any) -> None:
    by_train, by_valid = (
        min(chapter.record, key=lambda row: row[column]) for column in (1, 2)
    )
    assert (
        by_train[0] > 48 > 45 > by_valid[0] and 0.05 < by_train[2] - by_valid[2] < 0.8
    )
    assert abs(by_train[3] - by_valid[3]) < 10


def test_rows_of_the_table(chapter: Any) -> None:
    """The mean of batch means, and the gradient of one pass."""
    assert sum(chapter.means) / len(chapter.means) == pytest.approx(
        chapter.weighted, rel=0.02
    )

    model, batch = chapter.right.eval(), nmt.make_batch(chapter.examples[:8])

    def gradient(passes: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        model.zero_grad()
        for logits, wanted in passes:
            F.cross_entropy(
                logits.flatten(0, 1),
                wanted.flatten(),
                ignore_index=nmt.PAD,
                reduction="sum",
            ).backward()
        return torch.cat([p.grad.flatten() for p in model.parameters()])

    steps = range(1, batch.tgt_in.size(1) + 1)
    one = gradient([(model(batch.src, batch.tgt_in), batch.tgt_out)])
    many = gradient(
        [
            (model(batch.src, batch.tgt_in[:, :t])[:, -1:], batch.tgt_out[:, t - 1 : t])
            for t in steps
        ]
    )
    assert len(steps) == 14
    torch.testing.assert_close(one, many, rtol=0, atol=1e-3 * one.abs().max().item())
