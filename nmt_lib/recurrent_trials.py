"""What is measured of translators with and without recurrence: a training on the same
batches, how far a gradient reaches, and what a layer or a written word takes."""

from __future__ import annotations

import copy
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .batching import Example, make_batch, plan_epoch
from .config import Config
from .decoder import LayerCache
from .losses import Objective
from .masks import padding_mask
from .recurrent import Bahdanau
from .schedules import build_optimizer, learning_rate
from .transformer import Transformer


def fit(
    make: Callable[[], Any],
    config: Config,
    examples: Sequence[Example],
    seen: Callable[[Any, int], object] = lambda model, step: None,
) -> Any:
    """Trains what ``make`` gives, by the batches and updates of ``nmt.train``.

    ``seen(model, step)`` is called after each update. The weights are the mean of the
    last ``train.keep_checkpoints`` checkpoints, as the config ``tiny`` selects them.
    """
    train, step, epoch = config.train, 0, 0
    torch.manual_seed(train.seed)
    model = make()
    torch.manual_seed(train.seed)
    objective = Objective(model, train.label_smoothing)
    optimizer = build_optimizer(train, model.parameters())
    kept: deque[dict[str, Tensor]] = deque(maxlen=train.keep_checkpoints)
    while step < train.max_steps:
        plan = plan_epoch(examples, train, epoch)
        for rows in plan[: train.max_steps - step]:
            step, batch = step + 1, make_batch(examples, rows)
            model.train()
            (objective(batch) / batch.n_tokens).backward()
            if train.clip_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), train.clip_norm)
            for options in optimizer.param_groups:
                options["lr"] = learning_rate(step, train, config.model.d_model)
            optimizer.step()
            optimizer.zero_grad()
            if step % train.checkpoint_every == 0 or step == train.max_steps:
                kept.append(copy.deepcopy(model.state_dict()))
            seen(model, step)
        epoch += 1
    mean = {name: sum(one[name] for one in kept) / len(kept) for name in kept[0]}
    model.load_state_dict(mean)
    return model.eval()


def gradient_by_word(model: Any, src: Tensor, tgt_in: Tensor) -> Tensor:
    """How much the loss of the last word depends on each source token, ``(S,)``.

    The norm of the gradient with respect to its embedding, the mean over the batch.
    Float64, since one vector loses more than float32 can hold.
    """
    model, found = copy.deepcopy(model).double().eval(), []

    def keep(module: nn.Module, args: Any, output: Tensor) -> None:
        output.retain_grad()
        found.append(output)  # (B, S, E)

    model.src_embedding.register_forward_hook(keep)
    with torch.enable_grad():
        logits = model(src, tgt_in[:, :-1])[:, -1]  # (B, V)
        nn.functional.cross_entropy(logits, tgt_in[:, -1]).backward()
    assert found[0].grad is not None
    return found[0].grad.norm(dim=-1).mean(0)  # (S,)


def training_step(layer: nn.Module, x: Tensor) -> Callable[[], None]:
    """Forward and backward of one layer on ``(B, n, D)``, as a function to be timed."""
    x = x.detach().requires_grad_()

    def step() -> None:
        output = layer(x)[0] if isinstance(layer, nn.GRU) else layer(x, x, None)
        output.sum().backward()

    return step


def seconds_of_step(layer: nn.Module, x: Tensor, rounds: int = 3) -> float:
    """The median of the CPU seconds of some training steps, after one for warm-up."""
    step, taken = training_step(layer, x), []
    for _ in range(rounds + 1):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return statistics.median(taken[1:])


class CellLoop(nn.Module):
    """What ``nn.GRU`` computes, by a loop in Python."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(width, width)

    def forward(self, x: Tensor, memory: Tensor, mask: None = None) -> Tensor:
        """``(B, n, D)`` to ``(B, n, D)``; it needs neither memory nor mask."""
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
            both = torch.cat([word, context], -1)
            self.state = model.decoder(both, self.state)  # (B, H)
            x = torch.cat([self.state, context], -1)
        else:
            word = model.tgt_embedding(token)  # (B, 1, E)
            states, last = model.decoder(word, self.state[None])
            self.state, x = last[0], states[:, 0]
        return model.output(x)

    def n_bytes(self) -> int:
        """What is kept for the next step."""
        kept = [self.state]
        if self.caches is not None:
            kept = [
                tensor
                for cache in self.caches
                for part in (cache.own, cache.source)
                for tensor in (part.keys, part.values)
            ]
        elif isinstance(self.model, Bahdanau):
            kept += [self.memory, self.keys]
        return sum(tensor.numel() * tensor.element_size() for tensor in kept)
