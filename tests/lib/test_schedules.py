import math

import pytest
import torch
from torch import nn

from nmt_lib.config import TrainConfig
from nmt_lib.schedules import build_optimizer, learning_rate


def rate(step: int, schedule: str, **options: object) -> float:
    train = TrainConfig(
        **(
            {"schedule": schedule, "lr": 0.01, "warmup": 100, "max_steps": 1000}
            | options
        )
    )
    return learning_rate(step, train, 512)


@pytest.mark.parametrize("step", [1, 7, 3999, 4000, 4001, 100_000])
def test_noam_is_the_formula_of_the_paper(step: int) -> None:
    expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert rate(step, "noam", lr=1.0, warmup=4000) == pytest.approx(expected)
    assert rate(step, "noam", lr=2.0, warmup=4000) == pytest.approx(2 * expected)


def test_noam_peaks_at_the_end_of_the_warm_up() -> None:
    rates = [rate(step, "noam") for step in range(1, 400)]
    assert rates.index(max(rates)) == 99


@pytest.mark.parametrize("schedule", ["constant", "inverse-sqrt", "cosine"])
def test_the_others_rise_in_a_straight_line_to_lr(schedule: str) -> None:
    assert [rate(step, schedule) for step in (1, 50, 100)] == pytest.approx(
        [0.0001, 0.005, 0.01]
    )
    assert (
        rate(1, schedule, warmup=0)
        == rate(1, schedule, warmup=1)
        == pytest.approx(0.01)
    )


def test_after_the_warm_up() -> None:
    assert rate(101, "constant") == rate(1000, "constant") == 0.01
    assert rate(400, "inverse-sqrt") == pytest.approx(0.005)
    assert rate(550, "cosine") == pytest.approx(0.005)
    assert rate(325, "cosine") == pytest.approx(0.01 * (1 + math.cos(math.pi / 4)) / 2)
    assert rate(1000, "cosine") == pytest.approx(0.0) and rate(
        5000, "cosine"
    ) == pytest.approx(0.0)


def test_cosine_with_a_warm_up_longer_than_the_run() -> None:
    assert rate(10, "cosine", warmup=50, max_steps=10) == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("name", "kind"), [("adam", torch.optim.Adam), ("sgd", torch.optim.SGD)]
)
def test_optimizers_take_the_settings_of_the_config(name: str, kind: type) -> None:
    train = TrainConfig(
        optimizer=name, lr=0.3, betas=(0.8, 0.9), eps=1e-7, momentum=0.5
    )
    optimizer = build_optimizer(train, [nn.Parameter(torch.ones(3))])
    group = optimizer.param_groups[0]
    assert type(optimizer) is kind and group["lr"] == 0.3
    assert (
        group["momentum"] == 0.5
        if name == "sgd"
        else (group["betas"], group["eps"]) == ((0.8, 0.9), 1e-7)
    )


def test_one_sgd_update_by_hand() -> None:
    parameter = nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = build_optimizer(TrainConfig(optimizer="sgd", lr=0.1), [parameter])
    parameter.square().sum().backward()
    optimizer.step()
    torch.testing.assert_close(parameter.detach(), torch.tensor([0.8, 1.6]))
