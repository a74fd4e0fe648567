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


def picked(cell, x, real):
    states, h = [], torch.zeros(len(x), cell.hidden_size)
    for t in range(x.shape[1]):
        h = cell(x[:, t, :], h)
        states.append(h)
    return torch.stack(states, 1)[range(len(x)), real.sum(1) - 1]


def mixed(cell, x, real):
    h = torch.zeros(len(x), cell.hidden_size)
    for t in range(x.size(1)):
        keep = real[:, t].float().unsqueeze(1)
        h = keep * cell(x[:, t], h) + (1 - keep) * h
    return h


def one_word_less(cell, x, real):
    return picked(cell, x, real & real.roll(-1, 1))


def first_word(cell, x, real):
    return cell(x[:, 0])


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


def other_scores(score):
    def attend(s, memory, W, U, v, real):
        scores = score((s @ W.T)[:, None] + memory @ U.T, v)
        weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
        return (weights[:, None] @ memory)[:, 0], weights

    return attend


RIGHT = {
    "read": [packed, one_by_one, picked, mixed],
    "additive": [
        by_loops,
        with_exp,
        lambda s, memory, W, U, v, real: by_loops(s, memory, W, U, v, real),
    ],
}
WRONG = {
    "read": [one_word_less, first_word, lambda cell, x, real: x[:, -1]],
    "additive": [
        other_scores(lambda both, v: both.relu() @ v),
        other_scores(lambda both, v: (both @ v).tanh()),
    ],
}
