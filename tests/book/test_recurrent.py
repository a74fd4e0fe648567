"""Recurrent translators: padding, order, attention, and that the library's training,
search and loss treat them as they treat a Transformer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import nmt_lib as nmt
from nmt_book.deeper_00 import check as deeper_00
from nmt_book.deeper_00.lab import CellLoop, Writer, fit, gradient_by_word
from nmt_book.deeper_00.recurrent import Bahdanau, OneVector
from tests.lib.small import random_rows, small_model

MAKERS: dict[str, Callable[[], Any]] = {
    "one vector": lambda: OneVector(11, 13, 6, 8),
    "Bahdanau": lambda: Bahdanau(11, 13, 6, 8),
    "read one way": lambda: Bahdanau(11, 13, 6, 7, both_ways=False),
    "Transformer": small_model,
}
SRC = nmt.pad_batch(random_rows([6, 4, 3], 11))  # (3, 6)
TGT = nmt.pad_batch(random_rows([5, 7, 3], 13, seed=1))  # (3, 7)


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(0)
    return MAKERS[request.param]().eval()


def test_padding_changes_nothing(model: Any) -> None:
    together = model(SRC, TGT)  # (3, 7, 13)
    wider = model(nmt.pad_batch(SRC.tolist(), 9), TGT)
    torch.testing.assert_close(wider, together)
    for row, src, tgt in zip(together, SRC, TGT, strict=True):
        alone = model(src[None, src != nmt.PAD], tgt[None, tgt != nmt.PAD])[0]
        torch.testing.assert_close(row[: len(alone)], alone)  # (T, 13)


def test_no_state_knows_a_later_word(model: Any) -> None:
    changed = TGT.clone()
    changed[:, 2] = (TGT[:, 2] + 1) % 13
    before, after = model(SRC, TGT), model(SRC, changed)
    torch.testing.assert_close(before[:, :2], after[:, :2])
    assert (before[:, 2] - after[:, 2]).abs().min() > 0


def test_each_source_word_is_read(model: Any) -> None:
    for at in range(4):
        changed = SRC[:2].clone()
        changed[:, at] = (changed[:, at] + 1) % 7 + 4
        gap = model(changed, TGT[:2]) - model(SRC[:2], TGT[:2])
        assert gap.abs().amax((1, 2)).min() > 1e-6


def test_read_from_left_to_right_alone_a_state_knows_no_later_word() -> None:
    changed = SRC.clone()
    changed[:, 2] = 10
    for name, earlier in (("Bahdanau", False), ("read one way", True)):
        model = MAKERS[name]().eval()
        same = torch.equal(model.encode(SRC)[:, :2], model.encode(changed)[:, :2])
        assert same == earlier


def test_one_vector_ends_where_the_exercise_ends() -> None:
    model = MAKERS["one vector"]().eval()
    cell = nn.GRUCell(6, 8)
    for name, weight in model.encoder.named_parameters():
        getattr(cell, name.removesuffix("_l0")).data.copy_(weight)
    state = deeper_00.read.right(cell, model.src_embedding(SRC), SRC != nmt.PAD)
    torch.testing.assert_close(state, model.encode(SRC)[:, 0])


def test_the_attention_is_that_of_the_exercise() -> None:
    model = MAKERS["Bahdanau"]().eval()
    (maps,) = model.attention(SRC, TGT).cross
    assert maps.shape == (3, 1, 7, 6)
    memory, real = model.encode(SRC), SRC != nmt.PAD
    state = model.first_state(memory, real)
    matrices = model.W.weight, model.U.weight, model.v.weight[0]
    context, weights = deeper_00.additive.right(state, memory, *matrices, real)
    torch.testing.assert_close(weights, maps[:, 0, 0])
    torch.testing.assert_close(
        context, model.attend(state, memory, model.U(memory), real)[0]
    )


@torch.no_grad()
def test_writing_word_by_word_gives_the_same_scores(model: Any) -> None:
    writer, together = Writer(model, SRC), model(SRC, TGT[:, :3])
    for t in range(3):
        torch.testing.assert_close(writer(TGT[:, t : t + 1]), together[:, t])
    assert writer.n_bytes() > 0


@torch.no_grad()
def test_the_search_of_the_library_finds_the_same_words(model: Any) -> None:
    model.output.bias[nmt.EOS] = -1e9
    found = nmt.greedy_search(model, SRC, 1, use_cache=False)
    writer, token = Writer(model, SRC), torch.full((3, 1), nmt.SOS)
    for t in range(4):
        scores = writer(token)
        scores[:, [nmt.PAD, nmt.SOS]] = -torch.inf
        token = scores.argmax(-1, keepdim=True)
        assert token[:, 0].tolist() == [one.ids[t] for one in found]
    best = nmt.beam_search(model, SRC, 2, 0.0, 1, use_cache=False)
    for rows, greedy in zip(best, found, strict=True):
        assert rows[0].log_prob >= greedy.log_prob - 1e-4


def test_the_loss_of_the_library(model: Any) -> None:
    mean = nmt.cross_entropy(model(SRC, TGT[:, :-1]), TGT[:, 1:]).item()
    batch = nmt.Batch(SRC, TGT[:, :-1], TGT[:, 1:])
    assert nmt.validation_loss(model, [batch]) == pytest.approx(mean, rel=1e-5)


def test_fit_trains_as_the_library_does(tmp_path: Path) -> None:
    """The same batches, rates, clipping and mean of checkpoints; dropout included."""
    config = nmt.load_config(
        "tiny",
        run_dir=str(tmp_path),
        **{"data.limit": 300, "train.max_steps": 12, "train.checkpoint_every": 4},
        **{"train.clip_norm": 0.5},
    )
    expected = nmt.train(config).translator.model.state_dict()
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = nmt.encode_pairs(corpus.train, tokenizers, config)
    make = lambda: nmt.Transformer(config.model, *map(len, tokenizers))  # noqa: E731
    steps: list[int] = []
    found = fit(make, config, examples, lambda model, step: steps.append(step))
    assert steps == [*range(1, 13)]
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, expected[name])


def test_the_gradient_by_word(model: Any) -> None:
    """That of the table of embeddings, in the row of a word that is there once."""
    src, tgt = SRC[:1], TGT[:1, :4]
    found = gradient_by_word(model, src, tgt)  # (6,)
    assert found.shape == (6,) and (found > 0).all()
    model = model.double()
    table = getattr(model.src_embedding, "lookup", model.src_embedding).weight
    logits = model(src, tgt[:, :-1])[:, -1]
    loss = nn.functional.cross_entropy(logits, tgt[:, -1])
    (slopes,) = torch.autograd.grad(loss, table)  # word 2 is there once
    factor = getattr(model.src_embedding, "factor", 1.0)
    wanted = slopes[src[0, 2]].norm() / factor
    torch.testing.assert_close(found[2], wanted)


def test_the_loop_in_python_is_a_gru() -> None:
    loop, gru = CellLoop(5), nn.GRU(5, 5, batch_first=True)
    for name, weight in gru.named_parameters():
        getattr(loop.cell, name.removesuffix("_l0")).data.copy_(weight)
    x = torch.randn(2, 4, 5)
    torch.testing.assert_close(loop(x), gru(x)[0])
