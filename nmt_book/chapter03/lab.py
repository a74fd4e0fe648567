"""What chapter 03 measures: a small decoder that may cheat, and how much is padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
    def share_right(self, lines: Sequence[str]) -> float:
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


# Of Multi30k's 29,000 captions: how many have 4, 5, 6 … English words, and how many
# German words more: −12, −11 …
# fmt: off
ENGLISH_WORDS = (
    8, 32, 211, 772, 1705, 2427, 3049, 3330, 3193, 2849, 2522, 2117, 1558, 1326,
    981, 793, 586, 445, 297, 211, 172, 111, 91, 53, 43, 31, 24, 12, 11, 9, 8, 10, 3,
    1, 4, 2, 2, 1,
)
GERMAN_MINUS_ENGLISH = (
    5, 4, 13, 21, 59, 113, 235, 612, 1293, 2601, 4646, 6260, 5742, 3450, 1922, 1048,
    511, 249, 120, 44, 27, 11, 9, 2, 2, 1,
)


def caption_lengths() -> torch.Tensor:
    """``(29000, 2)``: the ids of an English and a German caption of Multi30k.

    The source has <sos> and <eos>, ``tgt_in`` one of them. Which difference goes with
    which length is drawn by chance: that hardly changes the shares of padding.
    """
    english, differences = (
        torch.arange(first, first + len(counts)).repeat_interleave(torch.tensor(counts))
        for first, counts in ((4, ENGLISH_WORDS), (-12, GERMAN_MINUS_ENGLISH))
    )
    draw = torch.Generator().manual_seed(0)
    differences = differences[torch.randperm(len(differences), generator=draw)]
    return torch.stack([english + 2, (english + differences).clamp(min=1) + 1], dim=1)


def padding_share(lengths: torch.Tensor, plan: Any, width: int = 0) -> float:
    """The share of all ids in the batches of a plan that are padding.

    Args:
        lengths: ``(n, 2)``, of sources and of targets.
        plan: batches, each a list of indices.
        width: to which all are padded; 0 for the longest of each batch.
    """
    sides = [lengths[list(rows)] for rows in plan]  # (B, 2) each
    room = sum(len(sizes) * (2 * width or int(sizes.amax(0).sum())) for sizes in sides)
    return 1 - sum(int(sizes.sum()) for sizes in sides) / room
