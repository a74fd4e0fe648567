"""What chapter 07 says about its trainings, with room for another processor; its own cells do the work.

What its trainings say themselves stands in ``claims``."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from accelerate import Accelerator

import nmt_lib as nmt

CHAPTER = Path(__file__).resolve().parents[2] / "notebooks" / "07_training.ipynb"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """``fit``, ``fresh``, ``translate`` and the tiny corpus, as the chapter defines them."""
    sources = [
        cell.source
        for cell in nbformat.read(CHAPTER, as_version=4).cells
        if cell.cell_type == "code"
    ]
    names: dict[str, Any] = {
        "nmt": nmt,
        "torch": torch,
        "cycle": cycle,
        "lesson": nmt.load_config("tiny"),
    }
    for start in ("def fit(", "corpus = "):
        (source,) = [source for source in sources if source.startswith(start)]
        exec(source, names)
    return names


def test_the_loop_of_the_chapter_is_the_one_of_the_library(
    names: dict[str, Any], tmp_path: Path
) -> None:
    keys = {
        "model.dropout": 0.0,
        "train.label_smoothing": 0.0,
        "train.schedule": "constant",
        "train.warmup": 10,
    }
    config = nmt.load_config(
        "tiny", **keys, **{"train.precision": "fp32", "train.lr": 3e-3}
    )
    tokenizers = names["src_tok"], names["tgt_tok"]
    trainer = nmt.Trainer(
        config, names["corpus"], tokenizers, tmp_path, Accelerator(cpu=True)
    )
    batches, theirs, before = [], [], 0.0
    for (rows,), _ in zip(trainer.updates(), range(15), strict=False):
        batches.append(nmt.make_batch(names["examples"], rows))
        trainer.update([rows])
        theirs.append((trainer.progress.loss_sum - before) / batches[-1].n_tokens)
        before = trainer.progress.loss_sum
    mine = names["fit"](names["fresh"](), batches, 15, lr=3e-3, warmup=10)
    assert mine == pytest.approx(theirs, abs=0.02)


def test_the_tiny_run(names: dict[str, Any]) -> None:
    run = nmt.train("tiny")
    q = torch.full(
        (len(names["tgt_tok"]),), 0.1 / len(names["tgt_tok"])
    )  # (V,) the smoothed goal
    q[0] += 0.9
    floor = -(q * q.log()).sum()
    assert run.history[-1]["train_loss"] > floor > 3 * run.history[-1]["valid_loss"]
    pairs = names["corpus"].valid[:50]
    assert (
        sum(
            t.text == p.tgt
            for t, p in zip(run.translator([p.src for p in pairs]), pairs, strict=True)
        )
        >= 40
    )
    batch = nmt.make_batch(
        nmt.encode_pairs(pairs, (names["src_tok"], names["tgt_tok"]), names["lesson"])
    )
    model = run.model.cpu()
    losses = {}
    for dropout in (True, False):
        model.train(dropout)
        with torch.no_grad():
            losses[dropout] = [
                nmt.cross_entropy(model(batch.src, batch.tgt_in), batch.tgt_out)
                for _ in range(4)
            ]
    assert len(set(map(float, losses[True]))) == 4 and min(losses[True]) > 1.2 * max(
        losses[False]
    )
