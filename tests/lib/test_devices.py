"""All tensors are made on the model's device: on the meta device, one left on the CPU
is an error.

The meta device has shapes and no numbers, so no GPU is needed. Where the loss selects
the real tokens it needs numbers; PyTorch is told to take all of them for real there.
"""

from collections.abc import Callable, Iterator

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.training.optim import build_optimizer
from nmt_lib.translate.search import Scorer, length_limits
from tests.lib.small import random_rows, small_config

experimental = pytest.importorskip("torch.fx.experimental._config")
Step = Callable[[nmt.Transformer, nmt.Batch], list[torch.Tensor]]


def update(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    loss = nmt.Objective(model.train(), label_smoothing=0.1)(batch)
    loss.backward()
    optimizer = build_optimizer(nmt.load_config("tiny").train, model.parameters())
    optimizer.param_groups[0]["fused"] = False  # it needs a real device
    optimizer.step()
    return [loss, *(parameter.grad for parameter in model.parameters())]


def search_steps(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    made = [length_limits(batch.src, 10)]
    for use_cache in (True, False):
        with torch.no_grad():
            scorer = Scorer(model.eval(), batch.src, use_cache)
            made += [scorer(batch.tgt_in[:, :length]) for length in (1, 2, 3)]
    return made


def maps(model: nmt.Transformer, batch: nmt.Batch) -> list[torch.Tensor]:
    found = model.attention(batch.src, batch.tgt_in)
    return [*found.encoder, *found.decoder, *found.cross]


@pytest.fixture(autouse=True)
def all_tokens_are_real() -> Iterator[None]:
    if not hasattr(experimental, "meta_nonzero_assume_all_nonzero"):
        pytest.skip("this version of torch cannot assume it")
    with experimental.patch(meta_nonzero_assume_all_nonzero=True):
        yield


@pytest.mark.parametrize("step", [update, search_steps, maps])
@pytest.mark.parametrize(
    "options",
    [{"norm": "pre", "tying": "target"}, {"attention_dropout": 0.1, "dropout": 0.1}],
    ids=str,
)
@pytest.mark.parametrize("max_positions", [4, 64])
def test_nothing_is_left_on_the_cpu(
    step: Step, options: dict[str, object], max_positions: int
) -> None:
    rows = random_rows([5, 9, 7], 11), random_rows([8, 3, 6], 13)
    batch = nmt.make_batch(list(zip(*rows, strict=True))).to("meta")
    config = small_config(max_positions=max_positions, **options)
    model = nmt.Transformer(config, 11, 13).to("meta")
    assert {str(tensor.device) for tensor in step(model, batch)} == {"meta"}
