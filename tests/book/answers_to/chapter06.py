"""Other answers to the exercises of chapter 06."""

import torch

import nmt_lib as nmt
from nmt_book.chapter06 import check as chapter06

table = chapter06.influence.right


def in_a_loop(part, x, memory, src_mask, tgt_mask):
    steps = [
        (part.norm1, lambda h: part.self_attention(h, h, tgt_mask)),
        (part.norm2, lambda h: part.cross_attention(h, memory, src_mask)),
        (part.norm3, part.feed_forward),
    ]
    for norm, step in steps:
        x = norm(x + step(x))
    return x


def keywords(part, x, memory, src_mask, tgt_mask):
    x = part.norm1(torch.add(part.self_attention(x, memory=x, mask=tgt_mask), x))
    x = part.norm2(part.cross_attention(x, mask=src_mask, memory=memory) + x)
    return part.norm3(part.feed_forward(x).add_(x))


def by_cells(logits_of, tgt_in):
    T = tgt_in.size(1)
    found = torch.zeros(T, T)
    for j in range(T):
        ids = tgt_in.index_fill(1, torch.tensor([j]), nmt.UNK)
        change = (logits_of(ids) - logits_of(tgt_in)).abs()
        for t in range(T):
            found[t, j] = change[:, t].max()
    return found


RIGHT = {
    "decoder_layer": [
        in_a_loop,
        keywords,
    ],
    "influence": [
        by_cells,
    ],
}
WRONG = {
    "decoder_layer": [
        lambda part, x, memory, s, t: in_a_loop(part, x, memory, s, ~t),
    ],
    "influence": [
        lambda logits_of, ids: table(logits_of, ids[:, :5]),
        lambda logits_of, ids: table(logits_of, ids).tril(),
    ],
}
