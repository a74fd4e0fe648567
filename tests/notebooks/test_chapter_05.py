"""What chapter 05 draws and says in words: collapse, sum, explosion, norm."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import nmt_lib as nmt


def norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


# what goes on behind a sub-layer → after 4 layers: what differs between the words (share); after 12: the mean length
STACKS: dict[
    str, tuple[Callable[..., Tensor], tuple[float, float], tuple[float, float]]
] = {
    "sub-layers only": (lambda x, sublayer: sublayer(x), (0, 1e-6), (0, 0.01)),
    "sum only": (lambda x, sublayer: x + sublayer(x), (0.3, 1), (1000, 10_000)),
    "norm only": (lambda x, sublayer: norm(sublayer(x)), (0, 1e-6), (7.99, 8.01)),
    "sum and norm": (lambda x, sublayer: norm(x + sublayer(x)), (0.3, 1), (7.99, 8.01)),
}


@pytest.mark.parametrize("name", STACKS)
@torch.no_grad()
def test_twelve_fresh_layers(name: str) -> None:
    connect, (least, most), (shortest, longest) = STACKS[name]
    torch.manual_seed(0)
    changes = {"n_layers": 12, "n_decoder_layers": 1}
    model = nmt.build_model(
        nmt.load_config("tiny").model.model_copy(update=changes), 180, 180
    ).eval()
    x = model.src_embedding(torch.arange(4, 17)[None])  # (1, 13, D)
    for n, layer in enumerate(model.encoder.layers, start=1):
        x = connect(x, lambda h, attend=layer.self_attention: attend(h, h))
        x = connect(x, layer.feed_forward)
        if n == 4:
            share = ((x - x.mean(1, keepdim=True)).norm() / x.norm()).item()
            assert least <= share <= most
    assert shortest < x.norm(dim=-1).mean().item() < longest
