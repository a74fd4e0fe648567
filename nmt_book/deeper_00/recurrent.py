"""The translators before the Transformer: one recurrent net reads, another one writes.

``OneVector`` hands on a single vector (Sutskever et al., 2014; Cho et al., 2014),
``Bahdanau`` looks back at all states of the source (Bahdanau et al., 2015). Both have
the methods of a ``Transformer``: the library trains them, searches with them (with
``use_cache=False``) and draws their attention.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmt_lib.data.tokens import PAD
from nmt_lib.model.transformer import Attention


class OneVector(nn.Module):
    """A GRU reads the source; its last state is all that the second GRU gets."""

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        width: int = 64,
        hidden: int = 150,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.src_embedding = nn.Embedding(src_vocab_size, width)
        self.tgt_embedding = nn.Embedding(tgt_vocab_size, width)
        self.encoder: nn.GRU = nn.GRU(width, hidden, batch_first=True)
        self.decoder: nn.Module = nn.GRU(width, hidden, batch_first=True)
        self.output = nn.Linear(hidden, tgt_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def read(self, src: Tensor) -> Tensor:
        """The state after each source token, ``(B, S)`` to ``(B, S, H)``."""
        x = self.dropout(self.src_embedding(src))  # (B, S, E)
        lengths = (src != PAD).sum(1).cpu()  # (B,)
        packed = pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        states, _ = self.encoder(packed)  # without the padding
        return pad_packed_sequence(states, True, total_length=src.size(1))[0]

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """The state after the last token: ``(B, S)`` to the memory ``(B, 1, H)``."""
        last = (src != PAD).sum(1) - 1  # (B,)
        return self.read(src)[torch.arange(len(src)), last][:, None]  # (B, 1, H)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor, caches: None = None
    ) -> Tensor:
        """``(B, T)`` to the vectors that ``output`` turns into scores, ``(B, T, H)``.

        No mask is needed: a state has read what came before it, and nothing else.
        """
        x = self.dropout(self.tgt_embedding(tgt_in))  # (B, T, E)
        first = memory.transpose(0, 1).contiguous()  # (1, B, H)
        states, _ = self.decoder(x, first)  # (B, T, H)
        return self.dropout(states)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, T)`` to logits ``(B, T, V)``."""
        mask = (src != PAD)[:, None, None]  # (B, 1, 1, S)
        return self.output(self.decode(tgt_in, self.encode(src), mask))


class Bahdanau(OneVector):
    """Before each word, the decoder looks back at all states of the source.

    ``both_ways``: a second GRU reads from right to left, each with half of the state.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        width: int = 64,
        hidden: int = 112,
        dropout: float = 0.1,
        both_ways: bool = True,
    ) -> None:
        super().__init__(src_vocab_size, tgt_vocab_size, width, hidden, dropout)
        half = hidden // 2 if both_ways else hidden
        self.encoder = nn.GRU(width, half, batch_first=True, bidirectional=both_ways)
        self.decoder = nn.GRUCell(width + hidden, hidden)
        self.start = nn.Linear(hidden, hidden)
        self.W = nn.Linear(hidden, hidden, bias=False)  # for the state that asks
        self.U = nn.Linear(hidden, hidden, bias=False)  # for the states of the source
        self.v = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(2 * hidden, tgt_vocab_size)
        self.maps = torch.empty(0)  # of the last call, (B, T, S)

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """The state at every token: ``(B, S)`` to the memory ``(B, S, H)``."""
        return self.read(src)

    def attend(
        self, state: Tensor, memory: Tensor, keys: Tensor, real: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The context ``(B, H)`` for a state ``(B, H)``, and the weights ``(B, S)``.

        ``keys`` is ``U(memory)``, the same for every word; ``real`` (B, S) is True
        where there is no padding.
        """
        features = torch.tanh(self.W(state)[:, None] + keys)  # (B, S, H)
        scores = self.v(features)[..., 0].masked_fill(~real, -torch.inf)  # (B, S)
        weights = scores.softmax(-1)  # (B, S)
        return (weights[:, None] @ memory)[:, 0], weights

    def first_state(self, memory: Tensor, real: Tensor) -> Tensor:
        """From the state that has read most: the first, or, read one way, the last."""
        at = real.sum(1) - 1  # (B,)
        if self.encoder.bidirectional:
            at = torch.zeros_like(at)
        return self.start(memory[torch.arange(len(at)), at]).tanh()  # (B, H)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor, caches: None = None
    ) -> Tensor:
        """``(B, T)`` to ``(B, T, 2H)``: each state, and the context it was given.

        Word by word, since each question depends on the state before.
        """
        real, keys = src_mask[:, 0, 0], self.U(memory)  # (B, S), (B, S, H)
        state, steps, maps = self.first_state(memory, real), [], []
        for x in self.dropout(self.tgt_embedding(tgt_in)).unbind(1):  # (B, E)
            context, weights = self.attend(state, memory, keys, real)
            state = self.decoder(torch.cat([x, context], -1), state)  # (B, H)
            steps.append(torch.cat([state, context], -1))  # (B, 2H)
            maps.append(weights)
        self.maps = torch.stack(maps, 1).detach()  # (B, T, S)
        return self.dropout(torch.stack(steps, 1))

    def attention(self, src: Tensor, tgt_in: Tensor) -> Attention:
        """The weights, as of a Transformer with one layer and one head."""
        self(src, tgt_in)
        return Attention(cross=[self.maps[:, None]])  # (B, 1, T, S)
