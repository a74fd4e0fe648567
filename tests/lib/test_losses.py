"""The loss by hand, and the fused one against the two plain lines."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nmt_lib as nmt
from nmt_lib.training import loss as losses
from nmt_lib.training.loss import Objective, cross_entropy, fused_cross_entropy
from tests.lib.small import random_rows, small_model

N, D, V = 11, 6, 9
EXAMPLES = [
    *zip(random_rows([6, 4, 3, 8], 11), random_rows([5, 7, 3, 4], 13, 1), strict=True)
]


def test_cross_entropy_by_hand() -> None:
    rows = [[1.0, 2.0, 0.5, 0.0], [0.0, 0.0, 3.0, 1.0]]
    logits = torch.tensor([[*rows, [9.0, 9.0, 0.0, 9.0]]])
    tgt_out = torch.tensor([[1, 2, 0]])  # the last position is padding
    surprise = [[math.log(sum(map(math.exp, row))) - x for x in row] for row in rows]
    plain = (surprise[0][1] + surprise[1][2]) / 2
    assert cross_entropy(logits, tgt_out).item() == pytest.approx(plain)
    smooth = 0.8 * plain + 0.2 * sum(sum(row) / 4 for row in surprise) / 2
    assert cross_entropy(logits, tgt_out, 0.2).item() == pytest.approx(smooth)


@pytest.mark.parametrize("chunk_floats", [1, 3 * V, 10**6])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
def test_fused_equals_two_plain_lines_in_value_and_gradients(
    monkeypatch: pytest.MonkeyPatch, chunk_floats: int, smoothing: float, bias: bool
) -> None:
    monkeypatch.setattr(losses, "CHUNK_FLOATS", chunk_floats)
    torch.manual_seed(0)
    output, targets = nn.Linear(D, V, bias), torch.randint(1, V, (N,))
    hidden = torch.randn(N, D, requires_grad=True)
    fused = fused_cross_entropy(hidden, output, targets, smoothing)
    plain = F.cross_entropy(
        output(hidden), targets, reduction="sum", label_smoothing=smoothing
    )
    with torch.no_grad():
        other = fused_cross_entropy(hidden, output, targets, smoothing)
    torch.testing.assert_close([fused, other], [plain, plain])
    leaves = [hidden, *output.parameters()]
    gradients = [torch.autograd.grad(0.37 * x, leaves) for x in (fused, plain)]
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5)


def test_fused_has_no_second_derivative_and_says_so() -> None:
    output, targets = nn.Linear(D, V), torch.randint(1, V, (N,))
    hidden = torch.randn(N, D, requires_grad=True)
    loss = fused_cross_entropy(hidden, output, targets)
    with pytest.raises(RuntimeError, match="has no second derivative: use"):
        torch.autograd.grad(loss, hidden, create_graph=True)


def test_fused_multiplies_in_bf16_where_the_two_plain_lines_do() -> None:
    torch.manual_seed(0)
    output, targets = nn.Linear(64, 50, bias=False), torch.randint(50, (30,))
    hidden = torch.randn(30, 64)
    exact = fused_cross_entropy(hidden, output, targets)
    with torch.autocast("cpu", torch.bfloat16):
        fused = fused_cross_entropy(hidden, output, targets)
        plain = F.cross_entropy(output(hidden).float(), targets, reduction="sum")
    torch.testing.assert_close(fused, plain)
    assert abs(fused - exact) > 100 * abs(fused - plain)


def test_extreme_scores_and_no_position_at_all() -> None:
    output = nn.Linear(D, V, bias=False)
    for n in (N, 0):
        hidden = (torch.randn(n, D) * 1e4).requires_grad_()
        loss = fused_cross_entropy(hidden, output, torch.randint(1, V, (n,)), 0.1)
        loss.backward()
        assert hidden.grad is not None
        assert loss.isfinite() and hidden.grad.isfinite().all()
        assert (loss == 0) == (n == 0)


@pytest.mark.parametrize(
    "options", [{}, {"tying": "target"}, {"bias": False, "norm": "pre"}]
)
def test_objective_is_the_sum_over_sentences_without_padding(
    options: dict[str, Any],
) -> None:
    model = small_model(**options).train()
    loss = Objective(model, 0.1)(nmt.make_batch(EXAMPLES))
    plain = torch.tensor(0.0)
    for example in EXAMPLES:
        alone = nmt.make_batch([example])
        logits = model(alone.src, alone.tgt_in)
        plain = plain + cross_entropy(logits, alone.tgt_out, 0.1) * alone.n_tokens
    torch.testing.assert_close(loss, plain)
    gradients = [torch.autograd.grad(x, [*model.parameters()]) for x in (loss, plain)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_objective_smooths_only_while_training() -> None:
    objective, batch = Objective(small_model(), 0.3), nmt.make_batch(EXAMPLES)
    plain = Objective(small_model(), 0.0).train()(batch)
    assert abs(objective.train()(batch) - plain) > 0.1
    torch.testing.assert_close(objective.eval()(batch), plain)
