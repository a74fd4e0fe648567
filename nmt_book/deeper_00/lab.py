"""What the page on recurrent translators measures."""

from __future__ import annotations

import copy
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count, islice
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.config import Config
from nmt_lib.data.batches import Example, make_batch, plan_epoch
from nmt_lib.model.attention import padding_mask
from nmt_lib.model.layers import LayerCache
from nmt_lib.model.transformer import Transformer
from nmt_lib.training.loss import Objective
from nmt_lib.training.optim import build_optimizer, learning_rate

from ..benchmark import alternate
from ..loop import per_token, updates
from .recurrent import Bahdanau, OneVector


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


Layer = Callable[[Tensor], Tensor]  # (B, n, D) to (B, n, D)


def two_layers(width: int, n_heads: int) -> dict[str, Layer]:
    """A GRU and self-attention."""
    gru = nn.GRU(width, width, batch_first=True)
    attention = nmt.MultiHeadAttention(width, n_heads)
    return {"GRU": lambda x: gru(x)[0], "self-attention": lambda x: attention(x, x)}


def seconds_of_step(
    layers: Mapping[str, Layer], x: Tensor, rounds: int = 3
) -> dict[str, float]:
    """The median of the CPU seconds of forward and backward, taken in turns."""
    x = x.detach().requires_grad_()
    steps = {
        name: lambda layer=layer: layer(x).sum().backward()
        for name, layer in layers.items()
    }
    times = alternate(steps, rounds, time.process_time)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


class CellLoop(nn.Module):
    """What ``nn.GRU`` computes, by a loop in Python."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, n, D)`` to ``(B, n, D)``."""
        state, states = x.new_zeros(len(x), self.cell.hidden_size), []
        for word in x.unbind(1):  # (B, D)
            state = self.cell(word, state)
            states.append(state)
        return torch.stack(states, 1)


class Writer:
    """Writes on, one token a call, with whatever the model keeps from step to step."""

    def __init__(self, model: Any, src: Tensor) -> None:
        self.model, self.mask = model, padding_mask(src)  # (B, 1, 1, S)
        self.memory = model.encode(src, self.mask)
        self.caches: list[LayerCache] | None = None
        self.state = self.memory[:, 0]  # (B, H)
        if isinstance(model, Transformer):
            self.caches = model.decoder.make_caches(self.memory)
        elif isinstance(model, Bahdanau):
            self.real = self.mask[:, 0, 0]  # (B, S)
            self.keys = model.U(self.memory)  # (B, S, H)
            self.state = model.first_state(self.memory, self.real)

    def __call__(self, token: Tensor) -> Tensor:
        """Ids ``(B, 1)`` to logits ``(B, V)``."""
        model = self.model
        if isinstance(model, Transformer):
            x = model.decode(token, self.memory, self.mask, caches=self.caches)[:, -1]
        elif isinstance(model, Bahdanau):
            word = model.tgt_embedding(token)[:, 0]  # (B, E)
            context, _ = model.attend(self.state, self.memory, self.keys, self.real)
            inputs = torch.cat([word, context], -1)
            self.state = model.decoder(inputs, self.state)  # (B, H)
            x = torch.cat([self.state, context], -1)
        else:
            word = model.tgt_embedding(token)  # (B, 1, E)
            states, last = model.decoder(word, self.state[None])
            self.state, x = last[0], states[:, 0]
        return model.output(x)

    def n_bytes(self) -> int:
        """What is kept for the next step."""
        tensors = [self.state]
        if self.caches is not None:
            tensors = [
                tensor
                for cache in self.caches
                for part in (cache.own, cache.source)
                for tensor in (part.keys, part.values)
            ]
        elif isinstance(self.model, Bahdanau):
            tensors += [self.memory, self.keys]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


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


def right_by_length(*arguments: Any) -> dict[str, float]:
    """In percent; the arguments are those of ``by_length``."""
    return {
        name: 100 * sum(right) / max(1, len(right))
        for name, right in by_length(*arguments).items()
    }


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
) -> dict[str, dict[str, Tensor]]:
    """The gradient by source word, the largest 1: new and trained models.

    New ones read 64 random words, trained ones the pairs of 13 words on each side; the
    loss is that of the last word, which comes before the full stop.
    """
    tables: dict[str, dict[str, Tensor]] = {}
    for name, translator in translators.items():
        model: Any = translator.model
        sizes = len(translator.src_tokenizer), len(translator.tgt_tokenizer)
        torch.manual_seed(0)
        if isinstance(model, OneVector):
            new: Any = type(model)(*sizes)
        else:
            new = nmt.Transformer(translator.config.model, *sizes)
        ids = torch.randint(4, min(sizes), (8, 72))  # (8, 72)
        random = gradient_by_word(new, ids[:, :64], ids[:, 64:])  # (64,)
        tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
        examples = nmt.encode_pairs(pairs, tokenizers, translator.config)
        selection = [(s, t[:-2]) for s, t in examples if len(s) == len(t) == 15]
        src, tgt = (torch.tensor(side) for side in zip(*selection, strict=True))
        trained_norms = gradient_by_word(model, src, tgt)  # (15,)
        for title, norms in (
            ("random weights, 64 words", random),
            ("trained, 13 words", trained_norms),
        ):
            tables.setdefault(title, {})[name] = norms / norms.max()
    return tables


def plug_in(translator: nmt.Translator, attend: Any) -> None:
    """Puts a reader's ``additive`` in the place of the model's attention."""
    model: Any = translator.model
    W, U, v = model.W.weight, model.U.weight, model.v.weight[0]
    model.attend = lambda s, memory, keys, real: attend(s, memory, W, U, v, real)


def times_by_length(lengths: Sequence[int], width: int) -> dict[str, list[float]]:
    """CPU seconds of a training step of a GRU and of self-attention, one sentence."""
    layers = two_layers(width, n_heads=8)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rows = [seconds_of_step(layers, torch.randn(1, n, width)) for n in lengths]
    torch.set_num_threads(threads)
    return {name: [row[name] for row in rows] for name in layers}
