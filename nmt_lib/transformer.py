"""The whole model: source ids and target ids in, a score for each next token out (paper, figure 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention
from .config import ModelConfig
from .decoder import Decoder, LayerCache
from .embeddings import Embedding, PositionalEncoding
from .encoder import Encoder
from .errors import ShapeError
from .masks import padding_mask, target_mask


@dataclass(frozen=True)
class Attention:
    """The weights of all layers, one tensor a layer; row = query, column = key."""

    encoder: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, S, S)
    decoder: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, T, T)
    cross: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, T, S)


class Transformer(nn.Module):
    """Encoder, decoder, and the layer that scores every token of the target vocabulary.

    Raises:
        ShapeError: ``tying="three-way"`` with vocabularies of different sizes.
    """

    def __init__(
        self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int
    ) -> None:
        super().__init__()
        positions = PositionalEncoding(config.d_model, config.max_positions)
        dropout = (
            config.dropout
            if config.embedding_dropout is None
            else config.embedding_dropout
        )
        arguments = (config.d_model, positions, config.scale_embeddings, dropout)
        self.src_embedding = Embedding(src_vocab_size, *arguments)
        self.tgt_embedding = Embedding(tgt_vocab_size, *arguments)
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.output = nn.Linear(config.d_model, tgt_vocab_size, config.bias)
        self._initialise(config.init)
        self._tie(config.tying)

    def _initialise(self, how: str) -> None:
        if how == "torch":
            return
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding) and how == "xavier-all":
                nn.init.xavier_uniform_(module.weight)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(
                    module.weight, std=module.embedding_dim**-0.5
                )  # about 1 after the factor √D

    def _tie(self, tying: str) -> None:
        """Makes matrices one (paper, section 3.4): output = target embedding, or those two = source embedding."""
        if tying != "none":
            self.output.weight = self.tgt_embedding.lookup.weight
        if tying == "three-way":
            if (
                self.src_embedding.lookup.num_embeddings
                != self.tgt_embedding.lookup.num_embeddings
            ):
                raise ShapeError(
                    "model.tying='three-way' needs one vocabulary for both languages (data.joint=true)"
                )
            self.src_embedding.lookup.weight = self.tgt_embedding.lookup.weight

    def forward(
        self,
        src: Tensor,
        tgt_in: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Tensor:
        """Scores each next token, all positions at once (teacher forcing): logits ``(B, T, V)``, no softmax applied.

        Args:
            src: ``(B, S)`` source ids.
            tgt_in: ``(B, T)`` target ids from ``<sos>`` on.
            src_mask: broadcasts to ``(B, H, T, S)``, True = may be attended to; default: made from the pad id.
            tgt_mask: broadcasts to ``(B, H, T, T)``; default: padding and causal.

        Raises:
            ShapeError: ids or masks of the wrong shape or dtype.
        """
        check_ids(src, tgt_in)
        src_mask = padding_mask(src) if src_mask is None else src_mask  # (B, 1, 1, S)
        memory = self.encode(src, src_mask)  # (B, S, D)
        return self.output(self.decode(tgt_in, memory, src_mask, tgt_mask))  # (B, T, V)

    def encode(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        """Source ids ``(B, S)`` to the memory ``(B, S, D)``; a mask that is None hides nothing."""
        return self.encoder(self.src_embedding(src), src_mask)  # (B, S, D)

    def decode(
        self,
        tgt_in: Tensor,
        memory: Tensor | None,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None = None,
        caches: list[LayerCache] | None = None,
    ) -> Tensor:
        """Target ids to the vectors that ``output`` turns into scores, ``(B, T, D)``.

        Args:
            tgt_in: ``(B, T)``; with caches only the new ids, since those before them are in the caches.
            memory: ``(B, S, D)``; with caches None, since it is in them too.
            src_mask: broadcasts to ``(B, H, T, S)``; None hides nothing.
            tgt_mask: broadcasts to ``(B, H, T, T)``; default: padding and causal, and none with caches.
            caches: what ``decoder.make_caches`` made, one a layer; they grow by T.
        """
        if tgt_mask is None and caches is None:
            tgt_mask = target_mask(tgt_in)  # (B, 1, T, T)
        x = self.tgt_embedding(
            tgt_in, start=len(caches[0]) if caches else 0
        )  # (B, T, D)
        return self.decoder(x, memory, tgt_mask, src_mask, caches)  # (B, T, D)

    def attention(
        self,
        src: Tensor,
        tgt_in: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Attention:
        """The weights of all layers and heads; arguments as of the model itself."""
        check_ids(src, tgt_in)
        src_mask = padding_mask(src) if src_mask is None else src_mask  # (B, 1, 1, S)
        kept = [
            module
            for module in self.modules()
            if isinstance(module, MultiHeadAttention)
        ]
        try:
            for module in kept:
                module.keep_weights = True
            self.decode(tgt_in, self.encode(src, src_mask), src_mask, tgt_mask)
            encoder, decoder = (
                list[Any](self.encoder.layers),
                list[Any](self.decoder.layers),
            )
            return Attention(
                encoder=[layer.self_attention.weights for layer in encoder],
                decoder=[layer.self_attention.weights for layer in decoder],
                cross=[layer.cross_attention.weights for layer in decoder],
            )
        finally:
            for module in kept:
                module.keep_weights, module.weights = False, None


def build_model(
    config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int
) -> Transformer:
    """A model with fresh weights; ``torch.manual_seed`` decides which. One that cannot fit is a ConfigError."""
    config.check_memory(src_vocab_size + 2 * tgt_vocab_size)
    return Transformer(config, src_vocab_size, tgt_vocab_size)


def count_parameters(model: nn.Module) -> int:
    """How many numbers are learnt; a matrix that is used twice counts once."""
    return sum(
        parameter.numel() for parameter in model.parameters() if parameter.requires_grad
    )


def check_ids(src: Tensor, tgt_in: Tensor) -> None:
    """Stops ids of the wrong shape before they turn into an error deep inside."""
    for name, ids in (("src", src), ("tgt_in", tgt_in)):
        if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
            raise ShapeError(
                f"{name} must hold integer ids of shape (B, length), not {ids.dtype} {tuple(ids.shape)}"
            )
    if src.size(0) != tgt_in.size(0):
        raise ShapeError(
            f"src has {src.size(0)} sentences, tgt_in has {tgt_in.size(0)}: they must pair up"
        )
