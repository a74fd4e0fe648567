"""How alike the words become in a stack of fresh layers, chapter 05."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, cast

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from nmt_lib.config import ModelConfig, load_config
from nmt_lib.model.layers import Encoder, EncoderLayer
from nmt_lib.model.transformer import Transformer

from ..play import Thing, table

Sublayer = Callable[[Tensor], Tensor]
Connection = Callable[[Tensor, Sublayer], Tensor]
WORDS = ("The", "old", "man", "is", "reading", "a", "book")
LAYERS, SEEDS = 24, 5
LEAST = 1e-4  # share that is told from 0
INITS = "xavier", "torch"


def norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])  # (S, D) gain 1, bias 0


CONNECTIONS: dict[str, Connection] = {
    "none": lambda x, sublayer: sublayer(x),
    "sum": lambda x, sublayer: x + sublayer(x),
    "post": lambda x, sublayer: norm(x + sublayer(x)),
    "pre": lambda x, sublayer: x + sublayer(norm(x)),
}


class Depth(Thing):
    """A stack of layers of the config tiny, with random weights."""

    title: ClassVar = "How alike do the words become?"
    tries: ClassVar = (
        "Make the stack deeper with each of the four connections, and then with the "
        "other first weights. (A thin line is one draw of the weights; grey ones "
        "belong to the other connections.)"
    )
    shows: ClassVar = (
        "Without a residual connection all words are alike after three layers, "
        "however the weights begin. The sum and post-LN only slow this down; pre-LN "
        "slows it down most. PyTorch's own first weights are smaller in the layers and "
        "larger in the embeddings, so that a layer changes less."
    )
    depth: int = Field(3, ge=0, le=LAYERS)
    connection: Literal["none", "sum", "post", "pre"] = "none"
    init: Literal["xavier", "torch"] = "xavier"

    def given(self) -> dict[str, Any]:
        return {"words": WORDS, "stacks": {init: stacks(init) for init in INITS}}

    def picture(self) -> str:
        results = stacks(self.init)
        layers = 0, 1, 2, 3, 6, 12, 24
        rows = {
            name: [
                f"{10 ** (result['shares'][0][layer] / 100):.2%}" for layer in layers
            ]
            for name, result in results.items()
        }
        caption = (
            "What differs between words after so many layers, with first weights of "
            f"the kind {self.init}; run the cell to choose the depth"
        )
        return table(caption, ("layers", *map(str, layers)), rows)


@cache
@torch.no_grad()
def stacks(init: str) -> dict[str, Any]:
    """For each connection ``shares``, what differs between words, as 100 log10, by seed
    and layer; and ``cosines``, of all pairs of words in percent, by layer, of seed 0.
    """
    results: dict[str, Any] = {name: {"shares": []} for name in CONNECTIONS}
    config = load_config("tiny").model.model_copy(
        update={"n_layers": LAYERS, "n_decoder_layers": 1, "init": init}
    )
    for seed in range(SEEDS):
        encoder, embedded = drawn(config, seed)
        for name, connect in CONNECTIONS.items():
            steps = through(encoder, embedded, connect)
            logs = [round(100 * math.log10(max(differs(x), LEAST))) for x in steps]
            results[name]["shares"].append(logs)
            percent = [(100 * cosines(x)).round().int().tolist() for x in steps]
            results[name].setdefault("cosines", percent)
    return results


def drawn(config: ModelConfig, seed: int) -> tuple[Encoder, Tensor]:
    """An encoder and the embedded words ``(S, D)``, with weights from this seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(config, len(WORDS), len(WORDS)).double().eval()
    return model.encoder, model.src_embedding(torch.arange(len(WORDS))[None])[0]


def through(encoder: Encoder, x: Tensor, connect: Connection) -> list[Tensor]:
    """What the words are at first and after each layer, ``(S, D)`` each."""
    steps = [x]
    for layer in cast(Sequence[EncoderLayer], encoder.layers):
        steps.append(one_layer(layer, steps[-1], connect))
    return steps


def one_layer(layer: EncoderLayer, x: Tensor, connect: Connection) -> Tensor:
    x = connect(x, lambda h: layer.self_attention(h[None], h[None])[0])  # (S, D)
    return connect(x, layer.feed_forward)  # (S, D)


def differs(x: Tensor) -> float:
    """‖X − mean of the words‖ / ‖X‖: 0 if all words are alike."""
    return ((x - x.mean(0)).norm() / x.norm()).item()


def cosines(x: Tensor) -> Tensor:
    """Of all pairs of different words, ``(S (S − 1) / 2,)``."""
    unit = F.normalize(x, dim=-1)  # (S, D)
    upper = torch.triu_indices(len(x), len(x), 1)
    return (unit @ unit.T)[upper[0], upper[1]].clamp(min=0)


THING = Depth
