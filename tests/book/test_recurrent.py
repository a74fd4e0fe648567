"""Recurrent translators are those of the exercises, and ``fit`` trains as the library
does. What they share with a Transformer: tests/lib/test_models.py."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

import nmt_lib as nmt
from nmt_book.deeper_00 import check as deeper_00
from nmt_book.deeper_00.lab import fit
from nmt_book.deeper_00.recurrent import Bahdanau, OneVector
from tests.lib.small import SRC, TGT


def test_read_from_left_to_right_alone_a_state_knows_no_later_word() -> None:
    changed = SRC.clone()
    changed[:, 2] = 10
    for both_ways in (True, False):
        model = Bahdanau(11, 13, 6, 8, both_ways=both_ways).eval()
        same = torch.equal(model.encode(SRC)[:, :2], model.encode(changed)[:, :2])
        assert same != both_ways


def test_one_vector_ends_where_the_exercise_ends() -> None:
    model = OneVector(11, 13, 6, 8).eval()
    cell = nn.GRUCell(6, 8)
    for name, weight in model.encoder.named_parameters():
        getattr(cell, name.removesuffix("_l0")).data.copy_(weight)
    state = deeper_00.read.right(cell, model.src_embedding(SRC), SRC != nmt.PAD)
    torch.testing.assert_close(state, model.encode(SRC)[:, 0])


def test_the_attention_is_that_of_the_exercise() -> None:
    model = Bahdanau(11, 13, 6, 8).eval()
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
