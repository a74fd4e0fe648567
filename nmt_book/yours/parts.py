"""Where a reader's functions can go in a trained translator: one adapter a part.

An adapter gets her function, the instance whose method it replaces, and the arguments
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
from ..exercise.values import as_tensor, listed

Hers = Callable[..., Any]


class NotWritten(Exception):
    """The stub still returns nothing."""


class Part(NamedTuple):
    """Where a reader's function goes: a method of each instance of a class."""

    owner: type
    method: str
    adapter: Callable[..., Any]  # (hers, the instance, *arguments)


PARTS: dict[str, Part] = {}  # by the keyword of try_it
BEAM = 5


def part(name: str, owner: type, method: str) -> Callable[[Hers], Hers]:
    """Registers the function below as the adapter of a part."""

    def register(adapter: Hers) -> Hers:
        PARTS[name] = Part(owner, method, adapter)
        return adapter

    return register


def ask(hers: Hers, *arguments: Any, like: Tensor | None = None) -> Any:
    """What a reader's function gives; ``like`` makes a tensor of it, also of lists."""
    answer = listed(hers(*arguments))
    if unfilled(answer):
        raise NotWritten
    if like is None:
        return answer
    if isinstance(answer, list | tuple):
        answer = as_tensor(answer)
    return torch.as_tensor(answer, device=like.device).to(like.dtype)


def one_by_one(search: Hers) -> Hers:
    """A ``Translator._search`` that writes one sentence after the other."""

    def adapter(hers: Hers, self: Any, sources: Any, *rest: Any) -> Any:
        extra, found = rest[0].max_extra_tokens, []
        for source in sources:
            src = torch.tensor([source], device=self.model.output.weight.device)
            with torch.no_grad():
                ids = search(hers, self.model, src, len(source) + extra)
            found.append([Hypothesis(tuple(map(int, ids)), 0.0, 0.0)])
        return found

    return adapter


# 00 and 08: the search


@part("next_word", Translator, "_search")
@one_by_one
def _next_word(hers: Hers, model: Transformer, src: Tensor, limit: int) -> list[int]:
    ids = [SOS]
    while len(ids) <= limit:
        token = ask(hers, model(src, torch.tensor([ids], device=src.device)))[0]
        if int(token) == EOS:
            break
        ids.append(int(token))
    return ids[1:]


@part("greedy", Translator, "_search")
@one_by_one
def _greedy(hers: Hers, model: Transformer, src: Tensor, limit: int) -> list[int]:
    scorer, calls = Scorer(model, src, use_cache=False), []

    def next_log_probs(so_far: list[int]) -> Tensor:
        calls.append(1)
        if len(calls) > 2 * limit:
            raise RuntimeError("it never stops: what happens after <eos>?")
        return scorer(torch.tensor([[SOS, *map(int, so_far)]], device=src.device))[0]

    found = list(ask(hers, next_log_probs, limit))
    return found[:-1] if found and int(found[-1]) == EOS else found


@part("beam_step", Translator, "_search")
@one_by_one
def _beam(hers: Hers, model: Transformer, src: Tensor, limit: int) -> Sequence[int]:
    scorer = Scorer(model, src, use_cache=False)

    def next_log_probs(ids: Sequence[int]) -> Tensor:
        return scorer(torch.tensor([[SOS, *map(int, ids)]], device=src.device))[0]

    going: list[Any] = [((), 0.0)]
    done: list[Any] = []
    for _ in range(limit):
        going, ended = ask(hers, going, next_log_probs, BEAM)
        done += ended
        best = max((total for _, total in done), default=-torch.inf)
        if not going or (len(done) >= BEAM and best > max(t for _, t in going)):
            break
    return max(done, key=lambda item: item[1], default=((EOS,), 0.0))[0][:-1]


# 01: the text


@part("encode", Translator, "encode")
def _encode(hers: Hers, self: Translator, text: str) -> list[int]:
    tokenizer, text = self.src_tokenizer, " ".join(text.split())
    tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
    stoi = {token: i for i, token in enumerate(tokens)}
    return [int(i) for i in ask(hers, tokenizer.tokenize(text), stoi)]


# 02: embeddings and positions


@part("table", PositionalEncoding, "forward")
def _table(hers: Hers, self: Any, x: Tensor, start: int = 0) -> Tensor:
    end = start + x.size(1)
    return x + ask(hers, end, x.size(2), like=x)[start:end]


@part("turn", PositionalEncoding, "forward")
def _turn(hers: Hers, self: Any, x: Tensor, start: int = 0) -> Tensor:
    """Row p of the table is (sin 0, cos 0), turned p times at each rate."""
    zero = torch.tensor([0.0, 1.0])  # (2,)
    rates = [10000 ** (-even / x.size(2)) for even in range(0, x.size(2), 2)]
    rows = [
        torch.cat([ask(hers, p, rate, like=zero) @ zero for rate in rates])  # (D,)
        for p in range(start, start + x.size(1))
    ]
    return x + torch.stack(rows).to(x)


@part("embed", Embedding, "forward")
def _embed(hers: Hers, self: Embedding, ids: Tensor, start: int = 0) -> Any:
    E = self.lookup.weight.detach().clone()  # (V, D) hers may change it in place
    return ask(hers, ids, E, self.positions.table[start:].clone(), like=E)


# 03: masks. With a cache the decoder needs none: see try_it.


def masked(make: Hers) -> Hers:
    """A ``Transformer.decode`` with another mask for the target."""

    def decode(
        hers: Hers,
        self: Any,
        tgt_in: Tensor,
        memory: Tensor,
        src_mask: Any,
        tgt_mask: Any = None,
        caches: Any = None,
    ) -> Tensor:
        if caches is None:
            tgt_mask = make(hers, tgt_in)  # (B, 1, T, T)
        return Transformer.decode(self, tgt_in, memory, src_mask, tgt_mask, caches)

    return decode


@part("causal_mask", Transformer, "decode")
@masked
def _causal_mask(hers: Hers, tgt_in: Tensor) -> Tensor:
    padding = padding_mask(tgt_in)  # (B, 1, 1, T)
    return padding & ask(hers, tgt_in.size(1), like=padding)


@part("target_mask", Transformer, "decode")
@masked
def _target_mask(hers: Hers, tgt_in: Tensor) -> Tensor:
    return ask(hers, tgt_in, like=padding_mask(tgt_in))


@part("packed_mask", Transformer, "decode")
@masked
def _packed_mask(hers: Hers, tgt_in: Tensor) -> Tensor:
    padding = padding_mask(tgt_in)  # (B, 1, 1, T)
    return padding & ask(hers, torch.zeros_like(tgt_in), like=padding)


# 03, 04 and 11: inside attention


def whole(mask: Tensor | None, scores: Tensor) -> Tensor:
    """A mask of the scores' shape; all True where there is none."""
    seen = torch.ones_like(scores, dtype=torch.bool)
    return seen if mask is None else mask & seen


def scores_of(Q: Tensor, K: Tensor) -> Tensor:
    return Q @ K.mT / K.size(-1) ** 0.5  # (B, H, T, S)


def each_table(hers: Hers, scores: Tensor, mask: Tensor | None) -> Tensor:
    """``hers(scores, mask)`` for one (T, S) after the other; (B, H, T, S) again."""
    tables = zip(scores.flatten(0, 1), whole(mask, scores).flatten(0, 1), strict=True)
    found = torch.stack([ask(hers, *table, like=scores) for table in tables])
    return found.unflatten(0, scores.shape[:2])


@part("masked_softmax", MultiHeadAttention, "attend")
def _masked_softmax(
    hers: Hers, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    return each_table(hers, scores_of(Q, K), mask) @ V


@part("hide", MultiHeadAttention, "attend")
def _hide(hers: Hers, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any) -> Tensor:
    return each_table(hers, scores_of(Q, K), mask).softmax(-1) @ V


@part("attention", MultiHeadAttention, "attend")
def _attention(
    hers: Hers, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    return ask(hers, Q, K, V, mask, like=V)


@part("one_key", MultiHeadAttention, "attend")
def _one_key(
    hers: Hers, self: Any, Q: Tensor, K: Tensor, V: Tensor, mask: Any
) -> Tensor:
    seen, found = whole(mask, scores_of(Q, K)), []
    for b, h, t in torch.cartesian_prod(*map(torch.arange, Q.shape[:3])).tolist():
        keys = seen[b, h, t]  # (S,)
        found.append(ask(hers, Q[b, h, t], K[b, h, keys], V[b, h, keys], like=V))
    return torch.stack(found).view(*Q.shape[:3], -1)


@part("split_heads", MultiHeadAttention, "split_heads")
def _split_heads(hers: Hers, self: Any, x: Tensor) -> Tensor:
    return ask(hers, x, self.n_heads, like=x)


@part("multi_head", MultiHeadAttention, "forward")
def _multi_head(
    hers: Hers,
    self: Any,
    x: Tensor,
    memory: Tensor,
    mask: Any = None,
    cache: Any = None,
) -> Tensor:
    own = hers(x.size(-1), self.n_heads)
    own.W_q, own.W_k, own.W_v, own.W_o = self.W_q, self.W_k, self.W_v, self.W_o
    return ask(own, x, memory, mask, like=x)


# 05, 06 and 12: layers


@part("layer_norm", nn.LayerNorm, "forward")
def _layer_norm(hers: Hers, self: Any, x: Tensor) -> Tensor:
    gain, bias = self.weight.detach().clone(), torch.zeros(x.size(-1)).to(x)
    if self.bias is not None:
        bias = self.bias.detach().clone()
    return ask(hers, x, gain, bias, self.eps, like=x)


@part("rms_norm", nn.LayerNorm, "forward")
def _rms_norm(hers: Hers, self: Any, x: Tensor) -> Tensor:
    return ask(hers, x, self.weight.detach().clone(), self.eps, like=x)


@part("feed_forward", FeedForward, "forward")
def _feed_forward(hers: Hers, self: Any, x: Tensor) -> Tensor:
    return ask(hers, x, self.W_1, self.W_2, like=x)


def parts_of(layer: nn.Module) -> SimpleNamespace:
    """A layer's sub-layers by name, and its norms in their order: norm1, norm2 …"""
    around = [m.norm for name, m in layer.named_children() if "around" in name]
    norms = {f"norm{i}": norm for i, norm in enumerate(around, start=1)}
    return SimpleNamespace(**dict(layer.named_children()), **norms)


@part("encoder_layer", EncoderLayer, "forward")
def _encoder_layer(hers: Hers, self: Any, x: Tensor, mask: Any) -> Tensor:
    return ask(hers, parts_of(self), x, mask, like=x)


@part("decoder_layer", DecoderLayer, "forward")
def _decoder_layer(
    hers: Hers,
    self: Any,
    x: Tensor,
    memory: Tensor,
    src_mask: Any,
    tgt_mask: Any,
    cache: Any = None,
) -> Tensor:
    return ask(hers, parts_of(self), x, memory, src_mask, tgt_mask, like=x)
