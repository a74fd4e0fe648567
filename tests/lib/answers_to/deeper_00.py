"""Other answers to the exercises of the deeper page on recurrent translators."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


def as_gru(cell):
    gru = nn.GRU(cell.input_size, cell.hidden_size, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(gru, f"{name}_l0").data.copy_(getattr(cell, name))
    return gru


def packed(cell, x, real):
    lengths = real.sum(1)
    sequence = pack_padded_sequence(x, lengths, True, enforce_sorted=False)
    return as_gru(cell)(sequence)[1][0].detach()


def one_by_one(cell, x, real):
    found = []
    for sentence, n in zip(x, real.sum(1).tolist(), strict=True):
        state = torch.zeros(1, cell.hidden_size)
        for word in sentence[:n]:
            state = cell(word[None], state)
        found.append(state)
    return torch.cat(found)


def by_loops(s, memory, W, U, v, real):
    weights = torch.zeros(real.shape)
    for b in range(len(s)):
        n = int(real[b].sum())
        scores = [v @ torch.tanh(W @ s[b] + U @ memory[b, i]) for i in range(n)]
        weights[b, :n] = torch.stack(scores).softmax(0)
    return torch.einsum("bs,bsh->bh", weights, memory), weights


def with_exp(s, memory, W, U, v, real):
    both = torch.tanh(torch.einsum("ah,bh->ba", W, s).unsqueeze(1) + memory @ U.mT)
    scores = torch.exp(both @ v) * real
    weights = scores / scores.sum(1, keepdim=True)
    return (weights.unsqueeze(-1) * memory).sum(1), weights


RIGHT = {
    "read": [
        packed,
        one_by_one,
    ],
    "additive": [
        by_loops,
        with_exp,
    ],
}
WRONG = {}  # the exercise's own mistakes guard each case
