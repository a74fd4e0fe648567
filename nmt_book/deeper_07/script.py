"""A learner's own script around a model, as right as it can be; ``lab.MISTAKES`` has
the wrong lines."""

import copy  # noqa: F401  for a wrong line

import torch
import torch.nn.functional as F

import nmt_lib as nmt
from nmt_lib import EOS, PAD, SOS


def read(pairs):
    sources, targets = [p.src for p in pairs], [p.tgt for p in pairs]
    return [nmt.Pair(*pair) for pair in zip(sources, targets, strict=True)]


def encode(pairs, tokenizers):
    src, tgt = tokenizers
    return [(src.encode(p.src), tgt.encode(p.tgt)) for p in pairs]


def pad(rows):
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])


def make_batch(examples):
    src, tgt = zip(*examples, strict=True)
    return pad(src), pad([ids[:-1] for ids in tgt]), pad([ids[1:] for ids in tgt])


def loss_of(logits, tgt_out):
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD)


def train(model, batches, steps, peak, warmup):
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    model.train()
    for step in range(1, steps + 1):
        src, tgt_in, tgt_out = make_batch(batches[step % len(batches)])
        loss = loss_of(model(src, tgt_in), tgt_out)
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = peak * min(step / warmup, (warmup / step) ** 0.5)
        optimizer.step()


def load(new_model, weights, pairs):
    new_model.load_state_dict(weights)
    return new_model.eval(), nmt.build_tokenizers(nmt.load_config("tiny").data, pairs)


@torch.no_grad()
def translate(model, texts, tokenizers):
    src = pad([tokenizers[0].encode(text) for text in texts])
    tgt = torch.full((len(src), 1), SOS)
    for _ in range(src.size(1) + 10):
        logits = model(src, tgt)  # (B, T, V)
        word = logits[:, -1].argmax(-1)  # (B,)
        tgt = torch.cat([tgt, word[:, None]], dim=1)
    ids = [row[: row.index(EOS)] if EOS in row else row for row in tgt[:, 1:].tolist()]
    return [tokenizers[1].decode(row) for row in ids]
