"""Other answers to the exercises of chapter 04."""

import math

import torch
import torch.nn.functional as F

import nmt_lib as nmt


def fused(Q, K, V, mask=None):
    return F.scaled_dot_product_attention(Q, K, V, mask)


def attend(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(K.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ V


def cut_by_hand(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).permute(0, 2, 1, 3)


class Whole(nmt.MultiHeadAttention):
    """The library's."""


class Chunks(nmt.MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        parts = self.W_q(x), self.W_k(memory), self.W_v(memory)
        heads = zip(*(part.chunk(self.n_heads, -1) for part in parts), strict=True)
        flat = mask if mask is None else mask[:, 0]
        return self.W_o(torch.cat([fused(*head, flat) for head in heads], -1))


def kept_list(q, K, V):
    scores = [float(q @ k) / len(q) ** 0.5 for k in K]
    e = [math.exp(score - max(scores)) for score in scores]
    return [
        sum(a * b for a, b in zip(e, column, strict=True)) / sum(e)
        for column in V.T.tolist()
    ]


def running_mean(q, K, V):
    top, total, mean = float(q @ K[0]) / len(q) ** 0.5, 1.0, V[0]
    for k, v in zip(K[1:], V[1:], strict=True):
        score = float(q @ k) / len(q) ** 0.5
        new = max(top, score)
        total, e = total * math.exp(top - new), math.exp(score - new)
        total, top = total + e, new
        mean = mean + e / total * (v - mean)
    return mean


RIGHT = {
    "attention": [
        fused,
        attend,
    ],
    "split_heads": [
        cut_by_hand,
        lambda x, n: torch.stack(x.chunk(n, -1), 1),
    ],
    "MultiHead": [
        Whole,
        Chunks,
    ],
    "one_key_at_a_time": [
        kept_list,
        running_mean,
    ],
}
WRONG = {
    "attention": [
        lambda Q, K, V, mask: attend(Q, K, V, mask),
    ],
    "split_heads": [
        lambda x, n: cut_by_hand(x, n) + 1,
    ],
}
