"""What the page on recurrent translators measures."""

from __future__ import annotations

import copy
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count, islice
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.config import Config
from nmt_lib.data.batches import Example, make_batch, plan_epoch
from nmt_lib.training.loss import Objective
from nmt_lib.training.optim import build_optimizer, learning_rate

from ..benchmark import alternate
from ..loop import per_token, updates
from .recurrent import OneVector


def fit(
    make: Callable[[], Any],
    config: Config,
    examples: Sequence[Example],
    callback: Callable[[Any, int], object] = lambda model, step: None,
) -> Any:
    """Trains what ``make`` gives, by the batches and updates of ``nmt.train``.

    ``callback(model, step)`` is called after each update. The weights are the mean of
    the last ``train.keep_checkpoints`` checkpoints, as the config ``tiny`` selects
    them.
    """
    train = config.train
    torch.manual_seed(train.seed)
    model = make()
    torch.manual_seed(train.seed)
    losses = updates(
        build_optimizer(train, model.parameters()),
        per_token(Objective(model, train.label_smoothing)),
        (
            make_batch(examples, rows)
            for i in count()
            for rows in plan_epoch(examples, train, i)
        ),
        lambda step: learning_rate(step, train, config.model.d_model),
        train.clip_norm,
    )
    checkpoints: deque[dict[str, Tensor]] = deque(maxlen=train.keep_checkpoints)
    for step, _ in enumerate(islice(losses, train.max_steps), start=1):
        if step % train.checkpoint_every == 0 or step == train.max_steps:
            checkpoints.append(copy.deepcopy(model.state_dict()))
        callback(model, step)
    mean = {
        name: sum(checkpoint[name] for checkpoint in checkpoints) / len(checkpoints)
        for name in checkpoints[0]
    }
    model.load_state_dict(mean)
    return model.eval()


def gradient_by_word(model: Any, src: Tensor, tgt_in: Tensor) -> Tensor:
    """How much the loss of the last word depends on each source token, ``(S,)``.

    The norm of the gradient with respect to its embedding, the mean over the batch.
    Float64, since one vector loses more than float32 can hold.
    """
    model, outputs = copy.deepcopy(model).double().eval(), []

    def keep(module: nn.Module, args: Any, output: Tensor) -> None:
        output.retain_grad()
        outputs.append(output)  # (B, S, E)

    model.src_embedding.register_forward_hook(keep)
    with torch.enable_grad():
        logits = model(src, tgt_in[:, :-1])[:, -1]  # (B, V)
        nn.functional.cross_entropy(logits, tgt_in[:, -1]).backward()
    assert outputs[0].grad is not None
    return outputs[0].grad.norm(dim=-1).mean(0)  # (S,)


def recurrent(make: Any, config: nmt.Config, max_steps: int) -> nmt.Translator:
    """A recurrent translator, trained on the corpus of the config."""
    options = {"train.lr": 0.012, "train.clip_norm": 1.0, "train.max_steps": max_steps}
    config = nmt.load_config(config, **options)
    pairs = nmt.load_corpus(config.data).train
    tokenizers = nmt.build_tokenizers(config.data, pairs)
    examples = nmt.encode_pairs(pairs, tokenizers, config)
    threads = torch.get_num_threads()
    torch.set_num_threads(config.train.threads or threads)
    model = fit(lambda: make(*map(len, tokenizers)), config, examples)
    torch.set_num_threads(threads)
    return nmt.Translator(model, *tokenizers, config)


def by_length(
    translator: nmt.Translator,
    translations: Sequence[nmt.Translation],
    pairs: Sequence[nmt.Pair],
) -> dict[str, list[bool]]:
    """Whether each is exactly right, by the source's length, the full stop counted."""
    groups: dict[str, list[bool]] = {"up to 7": [], "8 to 10": [], "11 to 14": []}
    for translation, pair in zip(translations, pairs, strict=True):
        n = len(translator.src_tokenizer.tokenize(pair.src))
        name = "up to 7" if n <= 7 else "8 to 10" if n <= 10 else "11 to 14"
        groups[name].append(translation.text == pair.tgt)
    return {f"{name} words": right for name, right in groups.items()}


def gap_to_library(read: Any, translator: nmt.Translator, texts: list[str]) -> float:
    """Between the last states that ``read`` and ``nn.GRU`` give, trained."""
    model: Any = translator.model
    cell = nn.GRUCell(model.encoder.input_size, model.encoder.hidden_size)
    with torch.no_grad():
        for name, weight in model.encoder.named_parameters():
            getattr(cell, name.removesuffix("_l0")).copy_(weight)
        src = nmt.pad_batch([translator.encode(text) for text in texts])  # (B, S)
        state = read(cell, model.src_embedding(src), src != nmt.PAD)  # (B, H)
        return float((state - model.encode(src)[:, 0]).abs().max())


def gradients(
    translators: dict[str, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The gradient by source word, the largest 1: of untrained and trained models.

    The loss is that of the first word of the translation. Untrained models read 64
    random words, trained ones the pairs with 13 English words.
    """
    untrained, trained = dict[str, Tensor](), dict[str, Tensor]()
    for name, translator in translators.items():
        model: Any = translator.model
        tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
        sizes = len(tokenizers[0]), len(tokenizers[1])
        torch.manual_seed(0)
        if isinstance(model, OneVector):
            new: Any = type(model)(*sizes)
        else:
            new = nmt.Transformer(translator.config.model, *sizes)
        ids = torch.randint(4, min(sizes), (8, 66))  # (8, 66)
        examples = nmt.encode_pairs(pairs, tokenizers, translator.config)
        selection = [(s, t[:2]) for s, t in examples if len(s) == 15]
        src, tgt = (torch.tensor(side) for side in zip(*selection, strict=True))
        norms = gradient_by_word(new, ids[:, :64], ids[:, 64:])  # (64,)
        untrained[name] = norms / norms.max()
        norms = gradient_by_word(model, src, tgt)  # (15,)
        trained[name] = norms / norms.max()
    return untrained, trained


def plug_in(translator: nmt.Translator, attend: Any) -> None:
    """Puts a reader's ``additive`` in the place of the model's attention."""
    model: Any = translator.model
    W, U, v = model.W.weight, model.U.weight, model.v.weight[0]
    model.attend = lambda s, memory, keys, real: attend(s, memory, W, U, v, real)


def times_by_length(lengths: Sequence[int], width: int) -> dict[str, list[float]]:
    """CPU seconds of a training step of a GRU and of self-attention, one sentence."""
    gru, attention = nn.GRU(width, width), nmt.MultiHeadAttention(width, n_heads=8)
    threads, rows = torch.get_num_threads(), []
    torch.set_num_threads(1)
    for n in lengths:
        x = torch.randn(1, n, width, requires_grad=True)  # (1, n, D)
        steps = {
            "GRU": lambda x=x: gru(x.transpose(0, 1))[0].sum().backward(),
            "self-attention": lambda x=x: attention(x, x).sum().backward(),
        }
        rows.append(alternate(steps, 3, time.process_time))
    torch.set_num_threads(threads)
    return {name: [statistics.median(row[name]) for row in rows] for name in steps}
