"""What the last things to touch compute is what the library computes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nmt_lib import costs
from nmt_lib.exercises import chapter12
from nmt_lib.transformer import count_parameters
from nmt_lib.web.play import Thing
from nmt_lib.web.things.calculator import Calculator
from tests.site.test_play import STATES, in_node, needs_node

pytestmark = needs_node


def drawn(kind: type[Thing], seed: int, **fixed: Any) -> Any:
    """A random state of a thing whose fields are all choices."""
    draw = random.Random(seed)
    choices = kind().given()["choices"]
    return kind(**{name: draw.choice(some) for name, some in choices.items()} | fixed)


def test_the_calculator_counts_as_the_library() -> None:
    states = [drawn(Calculator, seed) for seed in range(STATES)]
    jobs = ("parameters", "operations", "hours")
    found = iter(
        in_node("calculator", [[job, at.model_dump()] for at in states for job in jobs])
    )
    peaks = {  # and MFU: chapter 12, sections 4, 5 and 8
        ("gpu", "fp32"): (19.5e12, 0.29),
        ("gpu", "bf16"): (312e12, 0.29),
        ("core", "fp32"): (0.165e12, 0.73),
        ("core", "bf16"): (1.29e12, 0.19),
    }
    for state, learnt, work, time in zip(states, found, found, found, strict=True):
        model, n = state.model(), state.B * state.T
        assert sum(learnt.values()) == count_parameters(model)
        stacks = count_parameters(model.encoder), count_parameters(model.decoder)
        assert (learnt["encoder"], learnt["decoder"]) == stacks
        assert work == costs.flops_by_part(model, state.B, state.T, state.T, n)
        each, machine = sum(work.values()) / n, (state.machine, state.precision)
        wanted = chapter12.hours.right(each, state.tokens, *peaks[machine])
        assert time == pytest.approx(wanted)


def test_the_calculator_knows_what_an_update_keeps() -> None:
    small = [
        Calculator(d_model=D, n_layers=N, V=250, B=B, T=T, precision=precision)
        for precision in ("fp32", "bf16")
        for D, N, B, T in [
            (64, 1, 1, 8),
            (64, 1, 4, 16),
            (64, 2, 1, 50),
            (64, 4, 1, 8),
            (128, 1, 1, 25),
            (128, 2, 4, 8),
            (128, 1, 4, 16),
            (128, 4, 1, 16),
            (256, 1, 1, 25),
            (256, 2, 1, 8),
        ]
    ]
    jobs = [["memory", state.model_dump()] for state in small]
    for state, held in zip(small, in_node("calculator", jobs), strict=True):
        half = state.precision == "bf16"
        kept = costs.kept_mb(state.config(), state.B, state.T, half, vocab_size=state.V)
        assert held["kept for the backward pass"] == pytest.approx(1e6 * kept, rel=0.01)
        learnt = count_parameters(state.model())
        assert held["weights, gradients, Adam"] == 16 * learnt
