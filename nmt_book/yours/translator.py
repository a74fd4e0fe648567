"""A translator of a reader's own functions, with the weights of a trained one.

Chapters 02 to 08 asked for each of the functions; here they are put together.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt_lib.data.tokens import PAD, SOS
from nmt_lib.errors import check_kind
from nmt_lib.training.model_file import under_prefix
from nmt_lib.translate.translator import Translator

from ..chapter02 import check as chapter02
from ..chapter03 import check as chapter03
from ..chapter04 import check as chapter04
from ..chapter05 import check as chapter05
from ..chapter06 import check as chapter06
from ..chapter08 import check as chapter08
from ..exercise.progress import functions
from .parts import PRE_LN, ask


def eleven() -> list[Any]:
    """The exercises whose functions make a translator."""
    return [
        chapter02.my_table,
        chapter02.my_embed,
        chapter03.my_causal_mask,
        chapter04.attention,
        chapter04.split_heads,
        chapter04.MultiHead,
        chapter05.layer_norm,
        chapter05.feed_forward,
        chapter05.encoder_layer,
        chapter06.decoder_layer,
        chapter08.my_greedy,
    ]


def your_functions() -> dict[str, Any]:
    """Eleven functions by name: the reader's, or printed answers. Prints which."""
    return functions(eleven())


class MyTransformer:
    """``MyTransformer(translator, own)(text)`` translates with functions of ``own``.

    Of the translator it uses the weights, the tokenizers and the sizes, and none of its
    layers. Its norms come after the sub-layers, as in the paper.

    Raises:
        ValueError: a model with its norms before them.
    """

    def __init__(self, translator: Translator, own: dict[str, Any]) -> None:
        check_kind(translator, Translator)
        self.functions, self.library = own, translator
        weights = translator.model.state_dict()  # name → numbers
        # Copies: a mistake may change them in place.
        self.weights = {name: weight.clone() for name, weight in weights.items()}
        size = translator.config.model
        if size.norm == "pre":
            raise ValueError(PRE_LN)
        self.D, self.H = size.d_model, size.n_heads
        like = torch.zeros(1)  # float32
        self.P = ask(own["my_table"], size.max_positions, self.D, like=like)  # (n, D)
        counts = size.n_layers, size.n_decoder_layers or size.n_layers
        self.encoder = [self.layer(f"encoder.layers.{i}.") for i in range(counts[0])]
        self.decoder = [self.layer(f"decoder.layers.{i}.") for i in range(counts[1])]

    def layer(self, name: str) -> SimpleNamespace:
        """A layer's sub-layers by name, and its norms: norm1, norm2 …"""
        weights, part = under_prefix(self.weights, name), SimpleNamespace()
        for sublayer in ("self_attention", "cross_attention"):
            if sublayer_weights := under_prefix(weights, f"{sublayer}."):
                heads = self.functions["MultiHead"](self.D, self.H)
                heads.load_state_dict(sublayer_weights)
                setattr(part, sublayer, heads)
        W_1, W_2 = (
            linear(under_prefix(weights, f"feed_forward.{W}.")) for W in ("W_1", "W_2")
        )
        part.feed_forward = lambda x: self.ask("feed_forward", x, W_1, W_2)
        norms = [n.removesuffix("weight") for n in weights if n.endswith("norm.weight")]
        for i, norm in enumerate(norms, start=1):  # in the order of their use
            gain, bias = under_prefix(weights, norm).values()
            setattr(part, f"norm{i}", partial(self.norm, gain, bias))
        return part

    def norm(self, gain: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return self.ask("layer_norm", x, gain, bias)

    def embed(self, side: str, ids: Tensor) -> Tensor:
        E = self.weights[f"{side}_embedding.lookup.weight"]  # (V, D)
        return self.ask("my_embed", ids, E, self.P)

    def ask(self, name: str, *arguments: Any) -> Tensor:
        """The result of one of the functions, as a float32 tensor."""
        result: Tensor = ask(self.functions[name], *arguments, like=self.P)
        return result

    @torch.no_grad()
    def __call__(self, text: str) -> str:
        if not (source := self.library.encode(text)):
            return ""
        src = torch.tensor([source])  # (1, S)
        src_mask = (src != PAD)[:, None, None]  # (1, 1, 1, S)
        x = self.embed("src", src)
        for part in self.encoder:
            x = self.ask("encoder_layer", part, x, src_mask)  # (1, S, D)
        step = partial(self.next_log_probs, x, src_mask)
        written = ask(self.functions["my_greedy"], step, src.size(1) + 50)
        return self.library.tgt_tokenizer.decode(list(map(int, written)))

    def next_log_probs(self, memory: Tensor, src_mask: Tensor, ids: Any) -> Tensor:
        tgt_in = torch.tensor([[SOS, *map(int, ids)]])  # (1, t)
        past = ask(
            self.functions["my_causal_mask"], tgt_in.size(1), like=src_mask
        )  # (t, t)
        y, masks = self.embed("tgt", tgt_in), (src_mask, past[None, None])
        for part in self.decoder:
            y = self.ask("decoder_layer", part, y, memory, *masks)  # (1, t, D)
        logits = F.linear(y[0, -1], **under_prefix(self.weights, "output."))  # (V,)
        logits[[PAD, SOS]] = -torch.inf
        return logits.log_softmax(-1)


def linear(weights: dict[str, Tensor]) -> nn.Linear:
    rows, columns = weights["weight"].shape
    layer = nn.Linear(columns, rows)
    layer.load_state_dict(weights)
    return layer
