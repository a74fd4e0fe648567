"""Everything is computed on the model's device: on the meta device a tensor that was left on the CPU is an error.

The meta device has shapes and no numbers, so no GPU is needed. Where the loss picks the real tokens, it needs numbers;
there PyTorch is told to take all of them for real.
"""

from collections.abc import Callable, Iterator

import pytest
import torch
from tests.lib.small import random_rows, small_config

import nmt_lib as nmt
from nmt_lib import embeddings, masks, transformer
from nmt_lib.decoding import Scorer, length_limits

experimental = pytest.importorskip("torch.fx.experimental._config")
if not hasattr(experimental, "meta_nonzero_assume_all_nonzero"):
    pytest.skip(
        "this PyTorch cannot pick rows on the meta device", allow_module_level=True
    )

VARIANTS = [
    {},
    {"norm": "pre", "tying": "target"},
    {"attention_dropout": 0.1, "dropout": 0.1},
    {"max_positions": 4},
]
Step = Callable[[nmt.Transformer, nmt.Batch], list[torch.Tensor]]


def logits(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    return [model(batch.src, batch.tgt_in)]


def update(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    loss = nmt.Objective(model.train(), label_smoothing=0.1)(batch)
    loss.backward()
    optimizer = nmt.build_optimizer(nmt.load_config("tiny").train, model.parameters())
    optimizer.param_groups[0]["fused"] = (
        False  # the fused kernel knows real devices only
    )
    optimizer.step()
    return [loss, *(parameter.grad for parameter in model.parameters())]  # type: ignore[list-item]


def search_steps(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    made = [length_limits(batch.src, 10)]
    for use_cache in (True, False):
        with torch.no_grad():
            scorer = Scorer(model.eval(), batch.src, use_cache)
            for length in (1, 2, 3):
                made.append(scorer(batch.tgt_in[:, :length]))
    return made


def maps(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    found = model.attention(batch.src, batch.tgt_in)
    return [*found.encoder, *found.decoder, *found.cross]


def on_meta(step: Step, variant: dict[str, object]) -> list[torch.Tensor]:
    rows = random_rows([5, 9, 7], 11), random_rows([8, 3, 6], 13)
    batch = nmt.make_batch(list(zip(*rows, strict=True))).to("meta")
    model = nmt.build_model(small_config(**variant), 11, 13).to("meta")
    return step(model, batch)


@pytest.fixture(autouse=True)
def all_tokens_are_real() -> Iterator[None]:
    with experimental.patch(meta_nonzero_assume_all_nonzero=True):
        yield


@pytest.mark.parametrize("step", [logits, update, search_steps, maps])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_nothing_is_left_on_the_cpu(step: Step, variant: dict[str, object]) -> None:
    assert {str(tensor.device) for tensor in on_meta(step, variant)} == {"meta"}


def causal_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    right = masks.causal_mask
    monkeypatch.setattr(masks, "causal_mask", lambda length, device=None: right(length))


def positions_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(
        self: nmt.PositionalEncoding, x: torch.Tensor, start: int = 0
    ) -> torch.Tensor:
        return x + embeddings.sinusoids(start + x.size(1), x.size(2))[start:]

    monkeypatch.setattr(nmt.PositionalEncoding, "forward", forward)


def padding_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        transformer,
        "padding_mask",
        lambda ids: torch.ones(len(ids), 1, 1, ids.size(1), dtype=torch.bool),
    )


@pytest.mark.parametrize(
    ("plant", "step"),
    [
        (causal_on_cpu, logits),
        (causal_on_cpu, update),
        (causal_on_cpu, maps),
        (positions_on_cpu, logits),
        (positions_on_cpu, update),
        (positions_on_cpu, search_steps),
        (padding_on_cpu, maps),
    ],
)
def test_a_tensor_left_on_the_cpu_is_an_error(
    plant: Callable[[pytest.MonkeyPatch], None],
    step: Step,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    with pytest.raises((RuntimeError, NotImplementedError), match=r"(?i)device|meta"):
        on_meta(step, {})
