"""The whole model: source ids and target ids in, a score for each next token out
(paper, figure 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..config import ModelConfig
from ..errors import ShapeError
from .attention import causal_mask, collect_weights, padding_mask, target_mask
from .embeddings import Embedding, PositionalEncoding
from .layers import Decoder, Encoder, LayerCache


@dataclass(frozen=True)
class Attention:
    """Attention weights, one tensor per layer; row = query, column = key."""

    encoder: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, S, S)
    decoder: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, T, T)
    cross: list[Tensor] = field(default_factory=list)  # [n_layers] of (B, H, T, S)


class Transformer(nn.Module):
    """The Transformer: encoder, decoder, and scores for every target token.

    Raises:
        ShapeError: ``tying="three-way"`` with vocabularies of different sizes.
    """

    def __init__(
        self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int
    ) -> None:
        super().__init__()
        D, scale = config.d_model, config.scale_embeddings
        positions = PositionalEncoding(D, config.max_positions)
        dropout = config.embedding_dropout
        dropout = config.dropout if dropout is None else dropout
        self.src_embedding = Embedding(src_vocab_size, D, positions, scale, dropout)
        self.tgt_embedding = Embedding(tgt_vocab_size, D, positions, scale, dropout)
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.output = nn.Linear(D, tgt_vocab_size, config.bias)
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
            elif isinstance(module, nn.Embedding):
                if how == "xavier-all":
                    nn.init.xavier_uniform_(module.weight)
                else:  # about 1 after the factor √D
                    nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)

    def _tie(self, tying: str) -> None:
        """Shares matrices (paper, section 3.4), as ``model.tying`` says.

        With ``target``, the output layer shares the target embedding's matrix; with
        ``three-way``, the source embedding does so as well.
        """
        if tying != "none":
            self.output.weight = self.tgt_embedding.lookup.weight
        if tying == "three-way":
            src, tgt = self.src_embedding.lookup, self.tgt_embedding.lookup
            if src.num_embeddings != tgt.num_embeddings:
                raise ShapeError(
                    "model.tying='three-way' needs one vocabulary for both languages "
                    "(data.joint=true)"
                )
            src.weight = tgt.weight

    def forward(
        self,
        src: Tensor,
        tgt_in: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Tensor:
        """Scores for each next token, at all positions at once (teacher forcing).

        Args:
            src: ``(B, S)`` source ids.
            tgt_in: ``(B, T)`` target ids, starting with ``<sos>``.
            src_mask: ``(B, 1, 1, S)``, True = may be attended to; default: hides
                the padding in ``src``.
            tgt_mask: broadcasts to ``(B, H, T, T)``; default: hides the padding in
                ``tgt_in``, and the future.

        Returns:
            Logits ``(B, T, V)``; no softmax has been applied.

        Raises:
            ShapeError: ids or masks of the wrong shape or dtype.
        """
        check_ids(src, tgt_in)
        src_mask = padding_mask(src) if src_mask is None else src_mask  # (B, 1, 1, S)
        memory = self.encode(src, src_mask)  # (B, S, D)
        x = self.decode(tgt_in, memory, src_mask, tgt_mask)  # (B, T, D)
        return self.output(x)  # (B, T, V)

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Ids ``(B, S)`` to the memory ``(B, S, D)``; the mask is as in ``forward``."""
        src_mask = padding_mask(src) if src_mask is None else src_mask  # (B, 1, 1, S)
        return self.encoder(self.src_embedding(src), src_mask)  # (B, S, D)

    def decode(
        self,
        tgt_in: Tensor,
        memory: Tensor,
        src_mask: Tensor,
        tgt_mask: Tensor | None = None,
        caches: list[LayerCache] | None = None,
    ) -> Tensor:
        """Target ids to the vectors that ``output`` turns into scores, ``(B, T, D)``.

        Args:
            tgt_in: ``(B, T)``; with caches, only the new ids.
            memory: ``(B, S, D)``.
            src_mask: of the memory, as in ``forward``.
            tgt_mask: as in ``forward``; with caches, of t earlier and T new ids, it
                broadcasts to ``(B, H, T, t + T)``; default: hides the future.
            caches: what ``decoder.make_caches`` made, one per layer; they grow by T.
        """
        start, T = caches[0].own.length if caches else 0, tgt_in.size(1)
        if tgt_mask is None and caches is None:
            tgt_mask = target_mask(tgt_in)  # (B, 1, T, T)
        elif tgt_mask is None and T > 1:  # a single id may attend to all before it
            tgt_mask = causal_mask(start + T, tgt_in.device)[:, :, start:]
        x = self.tgt_embedding(tgt_in, start)  # (B, T, D)
        return self.decoder(x, memory, src_mask, tgt_mask, caches)  # (B, T, D)

    def attention(
        self,
        src: Tensor,
        tgt_in: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
    ) -> Attention:
        """The weights of all layers and heads; arguments as in ``forward``."""
        twin, weights = collect_weights(self)
        twin(src, tgt_in, src_mask, tgt_mask)

        def layer_weights(stack: Encoder | Decoder, name: str) -> list[Tensor]:
            return [weights[getattr(layer, name)] for layer in stack.layers]

        return Attention(
            layer_weights(self.encoder, "self_attention"),
            layer_weights(self.decoder, "self_attention"),
            layer_weights(self.decoder, "cross_attention"),
        )


build_model = Transformer  # an older name


def count_parameters(model: nn.Module) -> int:
    """The number of learnt parameters; a matrix that is used twice counts once."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def check_ids(src: Tensor, tgt_in: Tensor) -> None:
    """Rejects ids of the wrong shape before they cause an error deep inside."""
    for name, ids in (("src", src), ("tgt_in", tgt_in)):
        if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
            raise ShapeError(
                f"{name} must hold integer ids of shape (B, length), not "
                f"{ids.dtype} {tuple(ids.shape)}"
            )
    if src.size(0) != tgt_in.size(0):
        raise ShapeError(
            f"src has {src.size(0)} sentences, tgt_in has {tgt_in.size(0)}: they must "
            "pair up"
        )
