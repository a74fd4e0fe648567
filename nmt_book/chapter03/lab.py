"""What chapter 03 measures: a small decoder that may cheat."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt_lib.data.batches import pad_batch
from nmt_lib.data.tokenizers import Tokenizer
from nmt_lib.data.tokens import EOS, PAD, SOS
from nmt_lib.model.attention import MultiHeadAttention, collect_weights
from nmt_lib.model.embeddings import Embedding, PositionalEncoding

from ..loop import updates

Mask = Callable[[Tensor], Tensor]  # (B, T) ids to (B, 1, 1 or T, T)


class SmallDecoder(nn.Module):
    """Embedding, one attention with one head, output layer; it reads no source.

    Args:
        tokenizer: of the language that it reads and writes.
        mask: makes the mask of its attention from what it reads.
    """

    def __init__(self, tokenizer: Tokenizer, mask: Mask, d_model: int = 64) -> None:
        super().__init__()
        positions = PositionalEncoding(d_model)
        self.tokenizer, self.mask, V = tokenizer, mask, len(tokenizer)
        self.embed = Embedding(V, d_model, positions, scale=False, dropout=0.0)
        self.attention = MultiHeadAttention(d_model, 1)
        self.output = nn.Linear(d_model, V)

    def forward(self, tgt_in: Tensor) -> Tensor:
        x = self.embed(tgt_in)  # (B, T, D)
        x = x + self.attention(x, x, self.mask(tgt_in))  # (B, T, D)
        return self.output(x)  # (B, T, V)

    def train_on(self, lines: Sequence[str], n_updates: int = 200) -> SmallDecoder:
        """Updates with 64 sentences each, drawn by torch's own generator."""
        tgt = [self.tokenizer.encode(line) for line in lines]
        optimizer = torch.optim.Adam(self.parameters(), 0.01)

        def loss_of(rows: Tensor) -> Tensor:
            batch = pad_batch([tgt[i] for i in rows])  # (B, T + 1)
            logits, tgt_out = self(batch[:, :-1]), batch[:, 1:]  # (B, T, V), (B, T)
            return F.cross_entropy(logits.mT, tgt_out, ignore_index=PAD)

        batches = (torch.randint(len(tgt), (64,)) for _ in range(n_updates))
        for _ in updates(optimizer, loss_of, batches):
            pass
        return self

    @torch.no_grad()
    def accuracy(self, lines: Sequence[str]) -> float:
        """How often the word that it finds most likely is the one that it must say."""
        batch = pad_batch([self.tokenizer.encode(line) for line in lines])
        predictions = self(batch[:, :-1]).argmax(-1)  # (B, T)
        tgt_out = batch[:, 1:]  # (B, T)
        return float((predictions == tgt_out)[tgt_out != PAD].float().mean())

    @torch.no_grad()
    def write(self, start: str, n_words: int = 8) -> str:
        """Continues a text, always with the most likely word, as far as ``<eos>``."""
        ids = self.tokenizer.encode(start, eos=False)
        for _ in range(n_words):
            ids.append(int(self(torch.tensor([ids]))[0, -1].argmax()))
            if ids[-1] == EOS:
                break
        return " ".join(self.tokenizer.lookup_tokens(ids[ids[0] == SOS :]))

    @torch.no_grad()
    def weights(self, text: str) -> tuple[Tensor, list[str]]:
        """The attention weights ``(T, T)`` of a text, and the T words that it reads."""
        ids = self.tokenizer.encode(text, eos=False)
        decoder, weights = collect_weights(self)
        decoder(torch.tensor([ids]))
        return weights[self.attention][0, 0], self.tokenizer.lookup_tokens(ids)
