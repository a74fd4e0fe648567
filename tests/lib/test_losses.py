import math
import runpy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from tests.lib.small import random_rows, small_model
from torch import nn

import nmt_lib as nmt
from nmt_lib import losses
from nmt_lib.losses import Objective, chunked_cross_entropy, cross_entropy

N, D, V = 11, 6, 9


def test_cross_entropy_by_hand() -> None:
    logits = torch.tensor(
        [[[1.0, 2.0, 0.5, 0.0], [0.0, 0.0, 3.0, 1.0], [9.0, 9.0, 9.0, 9.0]]]
    )
    tgt_out = torch.tensor([[1, 2, 0]])  # the last place is padding
    rows = [[1.0, 2.0, 0.5, 0.0], [0.0, 0.0, 3.0, 1.0]]
    surprise = [[math.log(sum(map(math.exp, row))) - x for x in row] for row in rows]
    plain = (surprise[0][1] + surprise[1][2]) / 2
    assert cross_entropy(logits, tgt_out).item() == pytest.approx(plain)
    smooth = 0.8 * plain + 0.2 * sum(sum(row) / 4 for row in surprise) / 2
    assert cross_entropy(logits, tgt_out, 0.2).item() == pytest.approx(smooth)


@pytest.mark.parametrize("chunk_floats", [1, 3 * V, 5 * V, 10**6])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("bias", [True, False])
def test_chunked_equals_torch_in_value_and_gradients(
    monkeypatch: pytest.MonkeyPatch, chunk_floats: int, smoothing: float, bias: bool
) -> None:
    monkeypatch.setattr(losses, "CHUNK_FLOATS", chunk_floats)
    torch.manual_seed(0)
    output = nn.Linear(D, V, bias)
    nn.init.normal_(output.weight)
    hidden, targets = torch.randn(N, D), torch.randint(1, V, (N,))
    results = []
    for own in (True, False):
        x = hidden.clone().requires_grad_()
        output.zero_grad()
        if own:
            loss = chunked_cross_entropy(x, output, targets, smoothing)
        else:
            loss = F.cross_entropy(
                output(x), targets, reduction="sum", label_smoothing=smoothing
            )
        (loss * 0.37).backward()
        results.append(
            [loss.detach(), x.grad, *(p.grad.clone() for p in output.parameters())]
        )
    with torch.no_grad():
        results.append([chunked_cross_entropy(hidden, output, targets, smoothing)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=False):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_chunked_gradients_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(losses, "CHUNK_FLOATS", 3 * V)
    torch.manual_seed(0)
    hidden, weight, bias = (
        torch.randn(*s, dtype=torch.float64, requires_grad=True)
        for s in ((5, D), (V, D), (V,))
    )
    targets = torch.randint(1, V, (5,))

    def loss(
        hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        output = nn.Linear(D, V)
        del output.weight, output.bias
        output.weight, output.bias = weight, bias  # type: ignore[assignment]
        return chunked_cross_entropy(hidden, output, targets, 0.1)

    assert torch.autograd.gradcheck(loss, (hidden, weight, bias))


def test_extreme_scores_stay_finite() -> None:
    output = nn.Linear(D, V, bias=False)
    hidden = (torch.randn(N, D) * 1e4).requires_grad_()
    loss = chunked_cross_entropy(hidden, output, torch.randint(1, V, (N,)), 0.1)
    loss.backward()
    assert loss.isfinite() and hidden.grad.isfinite().all()


def test_no_place_at_all_costs_nothing() -> None:
    hidden = torch.empty(0, D, requires_grad=True)
    loss = chunked_cross_entropy(
        hidden, nn.Linear(D, V), torch.empty(0, dtype=torch.long)
    )
    loss.backward()
    assert loss == 0


EXAMPLES = list(
    zip(
        random_rows([6, 4, 3, 8], 11),
        random_rows([5, 7, 3, 4], 13, seed=1),
        strict=True,
    )
)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    "options", [{}, {"tying": "target"}, {"bias": False}, {"norm": "pre"}]
)
def test_objective_equals_the_plain_loss_of_the_whole_batch(
    smoothing: float, options: dict[str, object]
) -> None:
    model = small_model(**options).train()
    batch = nmt.make_batch(EXAMPLES)
    own = Objective(model, smoothing)(batch)
    own.backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    plain = (
        cross_entropy(model(batch.src, batch.tgt_in), batch.tgt_out, smoothing)
        * batch.n_tokens
    )
    plain.backward()
    torch.testing.assert_close(own, plain)
    for gradient, parameter in zip(gradients, model.parameters(), strict=True):
        torch.testing.assert_close(gradient, parameter.grad, rtol=1e-4, atol=1e-4)


def test_objective_smooths_only_while_training() -> None:
    objective, batch = Objective(small_model(), 0.3), nmt.make_batch(EXAMPLES)
    plain = Objective(small_model(), 0.0).train()(batch)
    assert abs(objective.train()(batch) - plain) > 0.1
    torch.testing.assert_close(objective.eval()(batch), plain)


def test_bf16_is_near_fp32_in_value_and_gradients() -> None:
    model, batch = small_model(tying="target").train(), nmt.make_batch(EXAMPLES)
    results = []
    for enabled in (False, True):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            loss = Objective(model, 0.1)(batch)
        loss.backward()
        results.append((loss.item(), model.output.weight.grad.clone()))
    assert results[1][0] == pytest.approx(results[0][0], rel=0.03)
    a, b = (gradient.flatten() for _, gradient in results)
    assert F.cosine_similarity(a, b, dim=0) > 0.99


def test_validation_loss_weighs_each_token_the_same() -> None:
    model = small_model()
    rows = [[2, *row, 3] for row in random_rows([3, 9, 12, 14], 11)]
    batches = [
        nmt.make_batch([(row, row) for row in part]) for part in (rows[:1], rows[1:])
    ]  # a small one, a large one
    with torch.no_grad():
        means = [
            float(cross_entropy(model(batch.src, batch.tgt_in), batch.tgt_out))
            for batch in batches
        ]
    nats = sum(
        mean * batch.n_tokens for mean, batch in zip(means, batches, strict=True)
    )
    loss = losses.validation_loss(model, batches)
    assert loss == pytest.approx(
        nats / sum(batch.n_tokens for batch in batches), rel=1e-5
    )
    assert loss != pytest.approx(sum(means) / 2, rel=1e-3)


def test_r_drop_is_its_formula() -> None:
    r_drop = runpy.run_path(
        str(Path(__file__).resolve().parents[2] / "benchmarks" / "r_drop.py")
    )
    torch.manual_seed(0)
    shapes = (2, 7, 6), (50, 6), (50,)
    hidden, W, bias = leaves = [
        torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes
    ]
    y = torch.randint(50, (7,))
    p, q = F.linear(hidden, W, bias).log_softmax(-1)
    kl_pq, kl_qp = (
        F.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((q, p), (p, q))
    )
    wanted = (
        sum(
            F.cross_entropy(scores, y, reduction="sum", label_smoothing=0.1)
            for scores in (p, q)
        )
        / 2
    )
    wanted = wanted + 3 / 4 * (kl_pq + kl_qp)
    found = r_drop["_ChunkedRDrop"].apply(hidden, W, bias, y, 0.1, 3.0)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(
        torch.autograd.grad(found, leaves), torch.autograd.grad(wanted, leaves)
    )


def test_distillation_is_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "CHUNK_FLOATS", 50)  # several pieces
    distil = runpy.run_path(
        str(Path(__file__).resolve().parents[2] / "benchmarks" / "distil.py")
    )["Distillation"]
    distil.teachers, distil.share = [small_model(seed=1), small_model(seed=2)], 0.3
    student = small_model(seed=3).train()
    batch = nmt.make_batch(EXAMPLES)
    found = distil(student, 0.1)(batch)
    logits, real = student(batch.src, batch.tgt_in), batch.tgt_out != 0
    goal = (
        sum(
            teacher(batch.src, batch.tgt_in).softmax(-1)[real]
            for teacher in distil.teachers
        ).detach()
        / 2
    )
    smooth = F.cross_entropy(
        logits[real], batch.tgt_out[real], reduction="sum", label_smoothing=0.1
    )
    wanted = 0.7 * smooth + 0.3 * F.cross_entropy(logits[real], goal, reduction="sum")
    torch.testing.assert_close(found, wanted)
    weights = list(student.parameters())
    for ours, theirs in zip(
        *(torch.autograd.grad(loss, weights) for loss in (found, wanted)), strict=True
    ):
        torch.testing.assert_close(ours, theirs)
