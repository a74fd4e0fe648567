"""The whole model: source ids and target ids in, a score for each next token out (paper, figure 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, overload

from torch import Tensor, nn

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


@dataclass(frozen=True)
class Output:
    """What the model gives when its attention is asked for."""

    logits: Tensor  # (B, T, V)
    attention: Attention


class Transformer(nn.Module):
    """Encoder, decoder, and the layer that scores every token of the target vocabulary.

    Args:
        config: the architecture.
        src_vocab_size: V of the source.
        tgt_vocab_size: V of the target.

    Raises:
        ShapeError: ``tying="three-way"`` with vocabularies of different sizes.
    """

    def __init__(self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> None:
        super().__init__()
        positions = PositionalEncoding(config.d_model, config.max_positions, config.position_table == "growing")
        dropout = config.dropout if config.embedding_dropout is None else config.embedding_dropout
        arguments = (config.d_model, positions, config.scale_embeddings, dropout)
        self.src_embedding = Embedding(src_vocab_size, *arguments)
        self.tgt_embedding = Embedding(tgt_vocab_size, *arguments)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
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
                nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)  # about 1 after the factor √D

    def _tie(self, tying: str) -> None:
        """Makes matrices one (paper, section 3.4): output = target embedding, or those two = source embedding."""
        if tying != "none":
            self.output.weight = self.tgt_embedding.lookup.weight
        if tying == "three-way":
            if self.src_embedding.lookup.num_embeddings != self.tgt_embedding.lookup.num_embeddings:
                raise ShapeError("model.tying='three-way' needs one vocabulary for both languages (data.joint=true)")
            self.src_embedding.lookup.weight = self.tgt_embedding.lookup.weight

    @overload
    def forward(
        self, src: Tensor, tgt_in: Tensor, src_mask: Tensor | None = ..., tgt_mask: Tensor | None = ...,
        *, return_attention: Literal[True],
    ) -> Output: ...  # fmt: skip

    @overload
    def forward(
        self, src: Tensor, tgt_in: Tensor, src_mask: Tensor | None = ..., tgt_mask: Tensor | None = ...,
        *, return_attention: Literal[False] = ...,
    ) -> Tensor: ...  # fmt: skip

    def forward(
        self,
        src: Tensor,
        tgt_in: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        *,
        return_attention: bool = False,
    ) -> Tensor | Output:
        """Scores each next token, all places at once (teacher forcing).

        Args:
            src: ``(B, S)`` source ids.
            tgt_in: ``(B, T)`` target ids from ``<sos>`` on.
            src_mask: broadcasts to ``(B, H, T, S)``, True = may be attended to; default: made from the pad id.
            tgt_mask: broadcasts to ``(B, H, T, T)``; default: padding and causal.
            return_attention: give an ``Output`` with the weights of all layers.

        Returns:
            Logits ``(B, T, V)``, no softmax applied; or an ``Output``.

        Raises:
            ShapeError: ids or masks of the wrong shape or dtype.
        """
        check_ids(src, tgt_in)
        src_mask = padding_mask(src) if src_mask is None else src_mask  # (B, 1, 1, S)
        tgt_mask = target_mask(tgt_in) if tgt_mask is None else tgt_mask  # (B, 1, T, T)
        memory, encoder = self.encode(src, src_mask, return_attention)  # (B, S, D)
        x = self.tgt_embedding(tgt_in)  # (B, T, D)
        x, decoder, cross = self.decoder(x, memory, tgt_mask, src_mask, return_attention)  # (B, T, D)
        logits = self.output(x)  # (B, T, V)
        return Output(logits, Attention(encoder, decoder, cross)) if return_attention else logits

    def encode(self, src: Tensor, src_mask: Tensor | None, need_weights: bool = False) -> tuple[Tensor, list[Tensor]]:
        """The memory ``(B, S, D)`` of source ids ``(B, S)``, and the weights of each layer if asked for."""
        return self.encoder(self.src_embedding(src), src_mask, need_weights)

    def step(self, ids: Tensor, position: int, src_mask: Tensor | None, caches: list[LayerCache]) -> Tensor:
        """Scores the next token from the last one alone; what came before is in the caches.

        Args:
            ids: ``(B,)``, the tokens at place ``position``.
            src_mask: ``(B, 1, 1, S)``.

        Returns:
            Logits ``(B, V)``.
        """
        x = self.tgt_embedding(ids[:, None], start=position)  # (B, 1, D)
        x, _, _ = self.decoder(x, x, None, src_mask, caches=caches)  # (B, 1, D) the caches stand for the memory
        return self.output(x[:, 0])  # (B, V)


def build_model(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    """A model with fresh weights; ``torch.manual_seed`` decides which."""
    return Transformer(config, src_vocab_size, tgt_vocab_size)


def count_parameters(model: nn.Module) -> int:
    """How many numbers are learnt; a matrix that is used twice counts once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def check_ids(src: Tensor, tgt_in: Tensor) -> None:
    """Stops ids of the wrong shape before they turn into an error deep inside."""
    for name, ids in (("src", src), ("tgt_in", tgt_in)):
        if ids.dim() != 2 or ids.is_floating_point():
            raise ShapeError(f"{name} must hold integer ids of shape (B, length), not {ids.dtype} {tuple(ids.shape)}")
    if src.size(0) != tgt_in.size(0):
        raise ShapeError(f"src has {src.size(0)} sentences, tgt_in has {tgt_in.size(0)}: they must pair up")
