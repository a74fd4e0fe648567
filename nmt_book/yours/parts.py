"""Where a reader's functions can go in a trained translator: one adapter per part.

An adapter gets the function, the instance whose method it replaces, and the arguments
of the call. ``try_it.py`` puts it into a copy of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nmt_lib.data.tokens import EOS, SOS
from nmt_lib.model.attention import MultiHeadAttention, padding_mask
from nmt_lib.model.embeddings import Embedding, PositionalEncoding
from nmt_lib.model.layers import DecoderLayer, EncoderLayer, FeedForward
from nmt_lib.model.transformer import Transformer
from nmt_lib.translate.search import Hypothesis, Scorer
from nmt_lib.translate.translator import Translator

from ..exercise.exercise import unfilled
from ..exercise.values import as_list, as_tensor

Function = Callable[..., Any]


class NotWritten(Exception):
    """A stub that still returns nothing."""


class Part(NamedTuple):
    """Where a reader's function goes: a method of each instance of a class."""

    owner: type
    method: str
    adapter: Callable[..., Any]  # (the function, the instance, *arguments)


PRE_LN = "this model has its norms first (pre-LN), and fits no layer of the chapters"
PARTS: dict[str, Part] = {}  # by the keyword of try_it
BEAM = 5


def register(name: str, owner: type, method: str) -> Callable[[Function], Function]:
    """Registers the function below as the adapter of a part."""

    def add(adapter: Function) -> Function:
        PARTS[name] = Part(owner, method, adapter)
        return adapter

    return add


def ask(fn: Function, *arguments: Any, like: Tensor | None = None) -> Any:
    """The result of a reader's function; with ``like`` as a tensor of that kind."""
    answer = as_list(fn(*arguments))
    if unfilled(answer):
        raise NotWritten
    if like is None:
        return answer
    if isinstance(answer, list | tuple):
        answer = as_tensor(answer)
    return torch.as_tensor(answer, device=like.device).to(like.dtype)


def one_by_one(search: Function) -> Function:
    """A ``Translator._search`` that writes one sentence after the other."""

    def adapter(fn: Function, self: Any, sources: Any, *rest: Any) -> Any:
        extra, results = rest[0].max_extra_tokens, []
        for source in sources:
            src = torch.tensor([source], device=self.model.output.weight.device)
            with torch.no_grad():
                ids = search(fn, self.model, src, len(source) + extra)
            results.append([Hypothesis(tuple(map(int, ids)), 0.0, 0.0)])
        return results

    return adapter


# 00 and 08: the search


@register("next_word", Translator, "_search")
@one_by_one
def _next_word(fn: Function, model: Transformer, src: Tensor, limit: int) -> list[int]:
    ids = [SOS]
    while len(ids) <= limit:
        token = ask(fn, model(src, torch.tensor([ids], device=src.device)))[0]
        if int(token) == EOS:
            break
        ids.append(int(token))
    return ids[1:]


@register("greedy", Translator, "_search")
@one_by_one
def _greedy(fn: Function, model: Transformer, src: Tensor, limit: int) -> list[int]:
    scorer, calls = Scorer(model, src, use_cache=False), []

    def next_log_probs(ids: list[int]) -> Tensor:
        calls.append(1)
        if len(calls) > 2 * limit:
            raise RuntimeError("it never stops: what happens after <eos>?")
        return scorer(torch.tensor([[SOS, *map(int, ids)]], device=src.device))[0]

    ids = list(ask(fn, next_log_probs, limit))
    return ids[:-1] if ids and int(ids[-1]) == EOS else ids


@register("beam_step", Translator, "_search")
@one_by_one
def _beam(fn: Function, model: Transformer, src: Tensor, limit: int) -> Sequence[int]:
    scorer = Scorer(model, src, use_cache=False)

    def next_log_probs(ids: Sequence[int]) -> Tensor:
        return scorer(torch.tensor([[SOS, *map(int, ids)]], device=src.device))[0]

    beams: list[Any] = [((), 0.0)]
    hypotheses: list[Any] = []
    for _ in range(limit):
        beams, finished = ask(fn, beams, next_log_probs, BEAM)
        hypotheses += finished
        best = max((total for _, total in hypotheses), default=-torch.inf)
        if not beams or (len(hypotheses) >= BEAM and best > max(t for _, t in beams)):
            break
    return max(hypotheses, key=lambda item: item[1], default=((EOS,), 0.0))[0][:-1]


# 01: the text


@register("encode", Translator, "encode")
def _encode(fn: Function, self: Translator, text: str) -> list[int]:
    tokenizer, text = self.src_tokenizer, " ".join(text.split())
    tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
    stoi = {token: i for i, token in enumerate(tokens)}
    return [int(i) for i in ask(fn, tokenizer.tokenize(text), stoi)]


# 02: embeddings and positions


@register("table", PositionalEncoding, "forward")
def _table(fn: Function, self: Any, x: Tensor, start: int = 0) -> Tensor:
    end = start + x.size(1)
    return x + ask(fn, end, x.size(2), like=x)[start:end]


@register("turn", PositionalEncoding, "forward")
def _turn(fn: Function, self: Any, x: Tensor, start: int = 0) -> Tensor:
    """Row p of the table is an earlier row, turned: both columns count."""
    rates = [10000 ** (-even / x.size(2)) for even in range(0, x.size(2), 2)]
    rows = [torch.tensor([[0.0, 1.0]] * len(rates))]  # (D / 2, 2) sines and cosines
    for p in range(1, start + x.size(1)):
        hands = zip(rates, rows[p // 2], strict=True)
        turned = [ask(fn, p - p // 2, r, like=rows[0]) @ hand for r, hand in hands]
        rows.append(torch.stack(turned))
    return x + torch.stack(rows[start:]).flatten(1).to(x)  # (T, D)


@register("embed", Embedding, "forward")
def _embed(fn: Function, self: Embedding, ids: Tensor, start: int = 0) -> Any:
    E = self.lookup.weight.detach().clone()  # (V, D) fn may change it in place
    return ask(fn, ids, E, self.positions.table[start:].clone(), like=E)


# 03: masks. With a cache the decoder needs none: see try_it.


def with_mask(make: Function) -> Function:
    """A ``Transformer.decode`` with another mask for the target."""

    def decode(
        fn: Function,
        self: Any,
        tgt_in: Tensor,
        memory: Tensor,
        src_mask: Any,
        tgt_mask: Any = None,
        caches: Any = None,
    ) -> Tensor:
        if caches is None:
            tgt_mask = make(fn, tgt_in)  # (B, 1, T, T)
        return Transformer.decode(self, tgt_in, memory, src_mask, tgt_mask, caches)

    return decode


@register("causal_mask", Transformer, "decode")
@with_mask
def _causal_mask(fn: Function, tgt_in: Tensor) -> Tensor:
    padding = padding_mask(tgt_in)  # (B, 1, 1, T)
    return padding & ask(fn, tgt_in.size(1), like=padding)


@register("target_mask", Transformer, "decode")
@with_mask
def _target_mask(fn: Function, tgt_in: Tensor) -> Tensor:
    return ask(fn, tgt_in, like=padding_mask(tgt_in))


@register("packed_mask", Transformer, "decode")
@with_mask
def _packed_mask(fn: Function, tgt_in: Tensor) -> Tensor:
    padding = padding_mask(tgt_in)  # (B, 1, 1, T)
    return padding & ask(fn, torch.zeros_like(tgt_in), like=padding)


# 03, 04 and 11: inside attention


def full_mask(mask: Tensor | None, scores: Tensor) -> Tensor:
    """A mask of the scores' shape; all True if there is no mask."""
    visible = torch.ones_like(scores, dtype=torch.bool)
    return visible if mask is None else mask & visible


def scores_of(Q: Tensor, K: Tensor) -> Tensor:
    return Q @ K.mT / K.size(-1) ** 0.5  # (B, H, T, S)


def each_table(fn: Function, scores: Tensor, mask: Tensor | None) -> Tensor:
    """``fn(scores, mask)`` for each table (T, S), stacked to (B, H, T, S) again."""
    tables = zip(
        scores.flatten(0, 1), full_mask(mask, scores).flatten(0, 1), strict=True
    )
    results = torch.stack([ask(fn, *table, like=scores) for table in tables])
    return results.unflatten(0, scores.shape[:2])


@register("masked_softmax", MultiHeadAttention, "attend")
def _masked_softmax(
    fn: Function, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    return each_table(fn, scores_of(Q, K), mask) @ V


@register("hide", MultiHeadAttention, "attend")
def _hide(
    fn: Function, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    return each_table(fn, scores_of(Q, K), mask).softmax(-1) @ V


@register("attention", MultiHeadAttention, "attend")
def _attention(
    fn: Function, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    return ask(fn, Q, K, V, mask, like=V)


@register("split_heads", MultiHeadAttention, "split_heads")
def _split_heads(fn: Function, self: Any, x: Tensor) -> Tensor:
    return ask(fn, x, self.n_heads, like=x)


@register("multi_head", MultiHeadAttention, "forward")
def _multi_head(
    fn: Function,
    self: Any,
    x: Tensor,
    memory: Tensor,
    mask: Any = None,
    cache: Any = None,
) -> Tensor:
    layer = fn(x.size(-1), self.n_heads)
    layer.W_q, layer.W_k, layer.W_v, layer.W_o = self.W_q, self.W_k, self.W_v, self.W_o
    return ask(layer, x, memory, mask, like=x)


# 05, 06 and 12: layers


@register("layer_norm", nn.LayerNorm, "forward")
def _layer_norm(fn: Function, self: Any, x: Tensor) -> Tensor:
    gain, bias = self.weight.detach().clone(), torch.zeros(x.size(-1)).to(x)
    if self.bias is not None:
        bias = self.bias.detach().clone()
    return ask(fn, x, gain, bias, self.eps, like=x)


@register("rms_norm", nn.LayerNorm, "forward")
def _rms_norm(fn: Function, self: Any, x: Tensor) -> Tensor:
    return ask(fn, x, self.weight.detach().clone(), self.eps, like=x)


@register("feed_forward", FeedForward, "forward")
def _feed_forward(fn: Function, self: Any, x: Tensor) -> Tensor:
    return ask(fn, x, self.W_1, self.W_2, like=x)


def parts_of(layer: nn.Module) -> SimpleNamespace:
    """A layer's sub-layers by name, and its norms in their order: norm1, norm2 …"""
    around = [m.norm for name, m in layer.named_children() if "around" in name]
    norms = {f"norm{i}": norm for i, norm in enumerate(around, start=1)}
    return SimpleNamespace(**dict(layer.named_children()), **norms)


@register("encoder_layer", EncoderLayer, "forward")
def _encoder_layer(fn: Function, self: Any, x: Tensor, mask: Any) -> Tensor:
    return ask(fn, parts_of(self), x, mask, like=x)


@register("decoder_layer", DecoderLayer, "forward")
def _decoder_layer(
    fn: Function,
    self: Any,
    x: Tensor,
    memory: Tensor,
    src_mask: Any,
    tgt_mask: Any,
    cache: Any = None,
) -> Tensor:
    return ask(fn, parts_of(self), x, memory, src_mask, tgt_mask, like=x)
