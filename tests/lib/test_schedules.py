"""Learning rates by the formulas, and what the optimizers get from the config."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from nmt_lib.config import TrainConfig
from nmt_lib.training import model_file
from nmt_lib.training import trainer as training
from nmt_lib.training.device import default_device
from nmt_lib.training.optim import build_optimizer, learning_rate


def rate(step: int, schedule: str, **options: Any) -> float:
    fields: dict[str, Any] = {
        "schedule": schedule,
        "lr": 0.01,
        "warmup": 100,
        "max_steps": 1000,
    }
    return learning_rate(step, TrainConfig(**(fields | options)), 512)


@pytest.mark.parametrize("step", [1, 7, 3999, 4000, 4001, 100_000])
def test_noam_is_the_formula_of_the_paper(step: int) -> None:
    expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert rate(step, "noam", lr=2.0, warmup=4000) == pytest.approx(2 * expected)


@pytest.mark.parametrize("schedule", ["constant", "inverse-sqrt", "cosine"])
def test_the_others_rise_in_a_straight_line_to_lr(schedule: str) -> None:
    rates = [rate(step, schedule) for step in (1, 50, 100)]
    assert rates == pytest.approx([0.0001, 0.005, 0.01])
    assert rate(1, schedule, warmup=0) == pytest.approx(0.01)


def test_after_the_warm_up() -> None:
    assert rate(101, "constant") == rate(1000, "constant") == 0.01
    assert rate(400, "inverse-sqrt") == pytest.approx(0.005)
    assert rate(325, "cosine") == pytest.approx(0.01 * (1 + math.cos(math.pi / 4)) / 2)
    assert rate(1000, "cosine") == rate(5000, "cosine") == pytest.approx(0.0)
    assert rate(10, "cosine", warmup=50, max_steps=10) == pytest.approx(0.002)


def test_the_device_is_chosen_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a Mac, a model is on the GPU whether it is trained or loaded."""
    for module in (model_file, training):
        assert module.default_device is default_device
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert default_device().type == "mps"
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert default_device().type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert default_device().type == "cuda"


def test_optimizers_take_the_settings_of_the_config() -> None:
    for kind, options in (
        (torch.optim.Adam, {"lr": 0.3, "betas": (0.8, 0.9), "eps": 1e-7}),
        (torch.optim.SGD, {"optimizer": "sgd", "lr": 0.2, "momentum": 0.5}),
    ):
        config = TrainConfig.model_validate(options)
        optimizer = build_optimizer(config, [nn.Parameter(torch.ones(3))])
        assert isinstance(optimizer, kind)
        found = optimizer.param_groups[0] | {"optimizer": config.optimizer}
        assert options.items() <= found.items()
