"""What chapter 07 says about its trainings, with room for another processor; its own cells do the work."""

from __future__ import annotations

import math
from itertools import cycle
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from accelerate import Accelerator

import nmt_lib as nmt

CHAPTER = Path(__file__).resolve().parent.parent / "notebooks" / "07_training.ipynb"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """``fit``, ``fresh``, ``translate`` and the tiny corpus, as the chapter defines them."""
    sources = [cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {"nmt": nmt, "torch": torch, "cycle": cycle, "lesson": nmt.load_config("tiny")}
    for start in ("def fit(", "corpus = "):
        (source,) = [source for source in sources if source.startswith(start)]
        exec(source, names)
    return names


def test_only_post_ln_without_warm_up_stands_still(names: dict[str, Any]) -> None:
    fit, fresh, examples = names["fit"], names["fresh"], names["examples"]
    four = [nmt.make_batch(examples[i : i + 24]) for i in (0, 24, 48, 72)]
    last = {}
    for norm, warmup in (("post", 60), ("post", 1), ("pre", 1)):
        losses = fit(fresh(n_layers=6, norm=norm), four, n_updates=120, lr=3e-3, warmup=warmup)
        last[norm, warmup] = sum(losses[-20:]) / 20
    assert last["post", 60] < 3.5 and last["pre", 1] < 3
    assert last["post", 1] > 4


def test_a_leak_has_a_splendid_loss_and_no_translations(names: dict[str, Any]) -> None:
    fit, fresh, translate = names["fit"], names["fresh"], names["translate"]
    pairs, few = names["corpus"].train[:16], nmt.make_batch(names["examples"][:16])
    copied = nmt.Batch(few.src, few.tgt_in, few.tgt_in)  # the second exercise: no shift
    runs = {"honest": (few, nmt.target_mask), "leaky": (few, nmt.padding_mask), "copies": (copied, nmt.target_mask)}
    right = {}
    for name, (batch, mask) in runs.items():
        model = fresh()
        losses = fit(model, [batch], n_updates=70, lr=3e-3, mask=mask)
        assert abs(losses[0] - math.log(len(names["tgt_tok"]))) < 1.5 and losses[-1] < 0.05
        right[name] = sum(said == pair.tgt for said, pair in zip(translate(model, pairs), pairs, strict=True))
    assert right["honest"] >= 15
    assert right["leaky"] <= 2 and right["copies"] <= 1


def test_a_validation_loss_does_not_uncover_the_leak(names: dict[str, Any]) -> None:
    cheat, examples = names["fresh"](n_layers=1), names["examples"]
    batches = [nmt.make_batch(examples, rows) for rows in nmt.token_batches(examples.lengths, 512, seed=0)]
    names["fit"](cheat, batches, 2 * len(batches), lr=5e-3, mask=nmt.padding_mask)
    pairs, tokenizers = names["corpus"].valid[:100], (names["src_tok"], names["tgt_tok"])
    unseen = nmt.make_batch(nmt.encode_pairs(pairs, tokenizers, names["lesson"]))
    with torch.no_grad():
        logits = cheat(unseen.src, unseen.tgt_in, tgt_mask=nmt.padding_mask(unseen.tgt_in))  # (100, T, V)
    assert nmt.cross_entropy(logits, unseen.tgt_out) < 0.2
    hits = (logits.argmax(-1) == unseen.tgt_out)[unseen.tgt_out != nmt.PAD]
    assert hits.float().mean() > 0.95
    said = names["translate"](cheat, pairs[:20])
    assert sum(text == pair.tgt for text, pair in zip(said, pairs[:20], strict=True)) <= 1


def test_the_loop_of_the_chapter_is_the_one_of_the_library(names: dict[str, Any], tmp_path: Path) -> None:
    keys = {"model.dropout": 0.0, "train.label_smoothing": 0.0, "train.schedule": "constant", "train.warmup": 10}
    config = nmt.load_config("tiny", **keys, **{"train.precision": "fp32", "train.lr": 3e-3})
    tokenizers = names["src_tok"], names["tgt_tok"]
    trainer = nmt.Trainer(config, names["corpus"], tokenizers, tmp_path, Accelerator(cpu=True))
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
    q = torch.full((len(names["tgt_tok"]),), 0.1 / len(names["tgt_tok"]))  # (V,) the smoothed goal
    q[0] += 0.9
    floor = -(q * q.log()).sum()
    assert run.history[-1]["train_loss"] > floor > 3 * run.history[-1]["valid_loss"]
    pairs = names["corpus"].valid[:50]
    assert sum(t.text == p.tgt for t, p in zip(run.translator([p.src for p in pairs]), pairs, strict=True)) >= 40
    batch = nmt.make_batch(nmt.encode_pairs(pairs, (names["src_tok"], names["tgt_tok"]), names["lesson"]))
    model = run.model.cpu()
    losses = {}
    for dropout in (True, False):
        model.train(dropout)
        with torch.no_grad():
            losses[dropout] = [nmt.cross_entropy(model(batch.src, batch.tgt_in), batch.tgt_out) for _ in range(4)]
    assert len(set(map(float, losses[True]))) == 4 and min(losses[True]) > 1.2 * max(losses[False])
