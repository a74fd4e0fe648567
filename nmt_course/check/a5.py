"""A5: loss, schedule, training loop. One public check for each graded part, and what hidden tests use as well."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from . import kit
from .kit import CUT, alike, ask, beside_answer, done, expect, match, near, slopes_of, tensor, two_tensors

Batch = tuple[Tensor, Tensor, Tensor]  # src (B, S), tgt_in (B, T), tgt_out (B, T)
SOS, EOS = 2, 3


def shift(function: Any, pad: int) -> None:
    tgt = torch.tensor([[SOS, 21, 22, 23, EOS], [SOS, 24, EOS, pad, pad]])
    read, said = pair(function, tgt)
    for name, got in (("tgt_in", read), ("tgt_out", said)):
        tensor(got, f"tgt (2, 5): {name}", (2, 4), "(B, L − 1)")
    wanted = (
        (read, [[SOS, 21, 22, 23], [SOS, 24, pad, pad]], "tgt_in", "all but the last token, and <eos> is never read"),
        (said, [[21, 22, 23, EOS], [24, EOS, pad, pad]], "tgt_out", "under each word that is read, the next one"),
    )
    for got, right, name, hint in wanted:
        for i in (0, 1):
            shown = f"tgt {tgt[i].tolist()} gives {name} {got[i].tolist()}"
            expect(got[i].tolist() == right[i], f"{shown}, not {right[i]}: {hint}")
    done("the shift")


def value(function: Any, pad: int) -> None:
    """A place where the right token has the probability 1/2, and one where it is certain."""
    n = pad + 9
    got, twice = number(function, *half(n)), math.log(math.exp(0.5) + (n - 1) * math.exp(0.5 / (n - 1))) - 0.5
    mistakes = [
        (1.0, "this is the logarithm to base 2"),
        (-math.log(2), "the minus is missing"),
        (math.log10(2), "this is the logarithm to base 10"),
        (0.5, "the logarithm is missing"),
        (twice, "softmax is taken twice"),
        (-math.log(n - 1), "this is the score itself: where is the sum over all tokens?"),
    ]
    shown = f"the right one of {n} tokens has probability 1/2, and the loss is {got:.4f}"
    match(got, math.log(2), shown, mistakes, "−log 1/2 = 0.6931 is wanted")
    got = number(function, torch.cat([half(n)[0], sure(n)[0]], 1), torch.tensor([[5, 5]]))  # two places, one sentence
    mistakes = [(math.log(2), "this is the sum, the mean is wanted")]
    shown = f"two places, with probabilities 1/2 and 1, give {got:.4f}, not 0.3466"
    match(got, math.log(2) / 2, shown, mistakes, "each place has a softmax of its own, over the tokens")
    done("the loss of a place")


def large(function: Any, pad: int) -> None:
    """Scores that no exponential survives, and the gradient."""
    scores, n = torch.zeros(1, 1, pad + 9), pad + 9
    scores[..., 5] = 1000.0
    tiny = "a probability below 1e−38 is 0 for the computer: never take its logarithm, stay with scores"
    for case, right, wanted, why in (
        (scores, 5, 0.0, "exp(1000) is inf: take the largest score away from all of them first"),
        (scores, 6, 1000.0, tiny),
        (scores * 0 - 1000.0, 6, math.log(n), f"equal scores are {n} equal chances"),
    ):
        got = number(function, case, torch.tensor([[right]]))
        shown = f"scores from {case.min():g} to {case.max():g}, the right one has {case[0, 0, right]:g}"
        match(got, wanted, f"{shown}: the loss is {got:.4g}, not {wanted:.4g}", otherwise=why)
    found = _beside(slope, function, *half(n))
    expect(found.abs().max() > 0, f"no gradient reaches the scores: {CUT}")
    shown = f"the right token has 1/2 and should have 1; it is pulled by {found[0, 0, 5]:.4f}"
    match(found[0, 0, 5], -0.5, shown, otherwise="by −1/2 is wanted")
    done("large scores")


def tokens(function: Any, pad: int) -> None:
    """Three tokens in one sentence, one in the other."""
    n, right = pad + 9, torch.tensor([[5, 5, 5], [5, pad, pad]])
    one, none = number(function, *half(n)), number(function, *sure(n))
    scores = sure(n)[0].expand(2, 3, n).clone()
    scores[1, 0], scores[1, 1:] = half(n)[0][0, 0], 0.0
    low, high = f"{abs(none):.3f}", f"{one:.3f}"
    got = number(function, scores[:, :1], right[:, :1])
    match(got, (one + none) / 2, f"two tokens with losses {low} and {high} give {got:.4f}", otherwise="take the mean")
    mistakes = [
        (3 * none + one, "this is the sum"),
        ((none + one) / 2, "this is the mean over the two sentences, and a token of the short one weighs three times"),
        ((3 * none + one) / 6, "divided by all 6 places: only 4 hold a token"),
        ((3 * none + one + 2 * math.log(n)) / 6, "<pad> is counted as a token to be said"),
    ]
    got = number(function, scores, right)
    shown = f"tokens with losses {low}, {low}, {low} | {high}, <pad>, <pad> give {got:.4f}"
    match(
        got, (3 * none + one) / 4, shown, mistakes, f"take the mean over the four tokens that are no <pad> (id {pad})"
    )
    done("padding and mean")


def smooth(function: Any, pad: int, eps: float) -> None:
    """The goal, read off the loss, and padding once more."""
    n = pad + 9
    total, goal = goals(function, n, right=5)
    shown = ", ".join(f"{name} {goal[i]:.4f}" for name, i in (("right", 5), ("<pad>", pad), ("another", 6)))
    expect(near(total, 1.0, 2e-3), f"the goal of a place ({shown}, …) sums to {total:.4f}, not 1")
    match(goal[pad], 0.0, shown, otherwise="<pad> is never to be said; its goal is 0, and the others share ε")
    both = f"with V = {n}, the right token and {n - 2} others share ε = {eps} evenly"
    match(goal[6], eps / (n - 1), shown, [(0.0, "nothing is spread over the other tokens")], both)
    match(goal[5], 1 - eps + eps / (n - 1), shown, otherwise=f"{both}, and the right one has 1 − ε more")
    scores, right = torch.zeros(1, 4, n), torch.tensor([[5, 5, pad, pad]])
    scores[0, 1:, 6] = 4.0
    short, long = number(function, scores[:, :2], right[:, :2]), number(function, scores, right)
    shown = f"a sentence has the loss {short:.4f}, with two <pad> behind it {long:.4f}"
    match(short, long, shown, otherwise="mask both terms")
    done("label smoothing")


def rate(function: Any, warmup: int) -> None:
    first, second, last = (_rate(function, step, 64) for step in (1, 2, warmup))
    later, wide = _rate(function, 4 * warmup, 64), _rate(function, 5, 256)
    expect(first > 0, f"the first update has step 1, and its rate is {first}: do not count from 0")
    swapped = "is min and max the wrong way round?"
    expect(last > first, f"step 1 has the rate {first:.3g}, step {warmup} only {last:.3g}: {swapped}")
    shown = f"step 1, d_model 64: {first:.4g} is not 1/8 · {warmup}^−1.5"
    match(second / first, 2.0, f"step 2 has {second / first:.3f} times the rate of step 1", otherwise="a straight line")
    match(first * 8 * warmup**1.5, 1.0, shown, otherwise="look at the exponents")
    shown = f"step {4 * warmup} has {later / last:.3f} times the rate of step {warmup}"
    match(later / last, 0.5, shown, otherwise="after the warm-up it falls as 1/√step")
    wide /= _rate(function, 5, 64)
    match(wide, 0.5, f"four times the width gives {wide:.3f} times the rate", otherwise="the factor is d_model^−0.5")
    done("the schedule")


def top(function: Any, warmup: int) -> None:
    for d_model, highest in ((64, 0.004), (100, 0.001)):
        got, plain = _rate(function, warmup, d_model, highest), _rate(function, warmup, d_model)
        at = f"d_model {d_model}, top={highest}: at step {warmup}, where the curve is highest, the rate is {got:.4g}"
        factor = "by what must the paper's curve be multiplied?"
        match(got / highest, 1.0, at, [(plain / highest, "top is not used")], factor)
    changes = torch.tensor([_rate(function, s, 64, 0.004) / _rate(function, s, 64) for s in (1, 9, warmup, 3 * warmup)])
    shown = f"top multiplies the curve by {kit.show(changes)}"
    match(changes / changes[0], 1.0, shown, otherwise="one factor for all steps is wanted")
    done("the highest rate")


def step(function: Any, pad: int) -> None:
    """One batch, twice, with a rate of 0: the gradient at the step tells what was done before it."""
    one = batch([4, 2], pad, 1)
    rows = _watched(function, toy_weights(1), [[one], [one]], pad, training=False)
    first, second, sums = rows[0]["steps"][0], rows[1]["steps"][0], rows[0]["sum"]
    expect(first.abs().max() > 0, "at the first optimizer.step() there is no gradient yet: backward comes first")
    expect(all(rows[0]["modes"]), "the loss is computed in evaluation mode: without model.train() there is no dropout")
    expect(not alike(second, 2 * first), "the second update has the gradient of the first one in it: zero_grad()")
    mistakes = [
        (sums, "it is divided by nothing"),
        (sums / 8, "the sum is divided by 8 places: two of them are <pad>"),
        (sums / 2, "the sum is divided by the sentences"),
    ]
    shown = "a batch of 6 tokens: at optimizer.step() the gradient is not that of their mean loss"
    match(first, sums / 6, shown, mistakes, "look at what stands before it", same=alike)
    _mean_back(rows[0], 6)
    done("one update")


def group(function: Any, pad: int) -> None:
    """Two batches of unlike size make one update."""
    two = [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    (row,) = _watched(function, toy_weights(1), [two], pad)
    (a, b), last = row["sums"], "only the last batch is in the gradient"
    mistakes = [
        (a + b / 9, "each batch is divided by its own tokens, so the one token of the first weighs as much as nine"),
        ((a + b / 9) / 2, "this is the mean of the batch means: the one token of the first weighs as much as nine"),
        (b / 10, last),
        (b / 9, last),
        (a + b, "the sum of the losses is not divided"),
        ((a + b) / 2, "divided by the number of batches, not of tokens"),
        ((a + b) / 13, "divided by 13 places: 10 of them hold a token"),
    ]
    wanted = "the gradient is not that of the mean over all 10 tokens"
    match(row["steps"][0], (a + b) / 10, "batches of 1 and 9 tokens", mistakes, wanted, same=alike)
    _mean_back(row, 10)
    done("a group of batches")


def clip(function: Any, pad: int, limit: float) -> None:
    for size in (100, 1):
        (row,) = _watched(function, toy_weights(size), [[batch([4, 3], pad, 4)]], pad)
        got, was = row["steps"][0].norm().item(), row["sum"].norm().item() / 7
        shown = f"a gradient of norm {was:.3f} reaches optimizer.step() with {got:.3f}"
        wanted = f"the limit is {limit}, for all parameters together" if was > limit else "below the limit leave it"
        match(got, min(was, limit), shown, otherwise=wanted, same=alike)
    done("clipping")


def mean(function: Any, pad: int) -> None:
    batches = [batch([1], pad, 2), batch([4, 3, 2], pad, 3)]
    seen = _beside(observe, function, toy_weights(10), batches, pad, training=False)
    loss, perplexity = result(seen)
    a, b = seen["sums"]
    mistakes = [
        ((a + b / 9) / 2, "this is the mean of the batch means"),
        (a + b, "this is the sum"),
        (math.exp((a + b) / 10), "this is the perplexity, but the loss comes first"),
        ((a + b) / 13, "divided by 13 places, 10 of them hold a token"),
    ]
    shown = f"1 token with a loss of {a:.3f} and 9 tokens with {b:.3f} in all give {loss:.4f}"
    match(loss, (a + b) / 10, shown, mistakes, "wanted is the mean over the 10 tokens")
    mistakes = [((math.exp(a) + math.exp(b / 9)) / 2, "this is the mean of the batches' perplexities")]
    shown = f"mean loss {loss:.4f}, perplexity {perplexity:.4f}"
    match(perplexity, math.exp(loss), shown, mistakes, f"exp of the loss is wanted, {math.exp(loss):.4f}")
    done("the validation loss")


def mode(function: Any, pad: int) -> None:
    for training in (True, False):
        seen = _beside(observe, function, toy_weights(3), [batch([2, 1], pad, 5)], pad, training)
        name = "training" if training else "evaluation"
        expect(seen["modes"], "validate never calls loss_of")
        expect(not any(seen["modes"]), "the loss is computed in training mode: dropout is on, so call model.eval()")
        expect(not any(seen["gradients"]), "what a gradient would need is kept, for nothing: torch.no_grad()")
        expect(seen["after"] == training, f"the model came in {name} mode and is left in the other one")
    done("mode and gradients")


def overfit(function: Any, pad: int) -> None:
    losses, _ = learn(function, *sentences([4, 2, 3, 4], pad, 1), pad, 1)
    expect(1 < len(losses) <= 200, f"{len(losses)} losses: one for each update is wanted, and at most 200 updates")
    shown = f"the loss begins at {losses[0]:.3f} and ends at {losses[-1]:.3f} after {len(losses)} updates"
    expect(losses[0] > 1, f"{shown}: even guessing has about {math.log(pad + 30):.1f}, so the first one is too good")
    expect(losses[-1] < 0.1, f"{shown}; below 0.1 is wanted: look at the order of the calls, the rate, the loss")
    done("over-fitting")


def choose(function: Any) -> None:
    rows = [(100, 4.0, 4.2), (200, 3.0, 3.1), (300, 2.5, 3.3), (400, 2.0, 3.2), (500, 1.5, 3.0), (600, 1.0, 3.4)]
    history = [dict(zip(("step", "train_loss", "valid_loss"), row, strict=True)) for row in rows]
    got, shown = ask(function, history, 9), f"validation losses {[row[2] for row in rows]}"
    expect(got != 600, "step 600 has the lowest training loss, or is the last: what counts is the validation loss")
    expect(got not in range(6), f"{got} is the number of a row: the step of that row is wanted")
    expect(got == 500, f"{shown}: step 500 has the lowest, you keep {got!r}")
    got = ask(function, history, 2)
    expect(got == 200, f"{shown}, patience 2: the run stops after steps 300 and 400, so keep 200, not {got!r}")
    done("the choice")


def picture(axes: Any, vocabulary: int, seed: int) -> None:
    """What the written answer is about: a run of two losses, and a batch over-fitted by three programs."""
    draw, steps, updates = random.Random(seed), range(0, 2001, 50), range(0, 101)
    first = math.log(vocabulary)
    floor = 0.1 * math.log(vocabulary / 0.1) + 0.9 * math.log(1 / 0.9)
    turn = draw.choice(range(600, 1001, 100))
    training = [floor + 0.25 + (first - floor) * math.exp(-s / 330) - 0.00008 * s + draw.gauss(0, 0.02) for s in steps]
    depth = (first - 0.9) / (1 - math.exp(-turn / 170))
    falls = [first - depth * (1 - math.exp(-min(s, turn) / 170)) + 0.0006 * max(0, s - turn) for s in steps]
    validation = [loss + draw.gauss(0, 0.008) for loss in falls]
    for curve, name, colour in zip(
        draw.sample([training, validation], 2), "AB", ("tab:blue", "tab:orange"), strict=True
    ):
        axes[0].plot(steps, curve, label=name, color=colour)
    lowest = math.log(math.e + vocabulary - 1) - 1
    programs = [
        [low + (first - low) / (1 + math.exp((u - middle) / width)) * (1 + math.exp(-middle / width)) for u in updates]
        for low, middle, width in ((0.01, 22, 9), (floor, 22, 9), (lowest, 40, 12))
    ]
    for curve, name, style in zip(draw.sample(programs, 3), "PQR", ("-", "--", "-."), strict=True):
        axes[1].plot(updates, curve, style, label=name)
    for axis, title in zip(axes, ("a) a run on a corpus", "b) sixteen sentences, over and over"), strict=True):
        axis.set(title=title, xlabel="update", ylabel="loss (nats a token)", ylim=(0, first + 0.4))
        axis.grid(color="0.9")
        axis.legend(frameon=False)


# ------------------------------------------------------------ what public and hidden tests share


def number(function: Any, *args: Any) -> float:
    """A loss as a plain number."""
    return kit.number(ask(function, *args), f"what {_name(function)} gives")


def pair(function: Any, tgt: Tensor) -> tuple[Tensor, Tensor]:
    return two_tensors(ask(function, tgt), "tgt_in and tgt_out")


def half(n: int) -> tuple[Tensor, Tensor]:
    """Scores ``(1, 1, n)`` and ids ``(1, 1)``: the right token, 5, has a probability of 1/2."""
    scores = torch.zeros(1, 1, n)
    scores[..., 5] = math.log(n - 1)
    return scores, torch.tensor([[5]])


def sure(n: int) -> tuple[Tensor, Tensor]:
    """The same with a probability of nearly 1."""
    scores, right = half(n)
    return scores + 20.0 * (scores > 0), right


def goals(function: Any, n: int, right: int) -> tuple[float, list[float]]:
    """The goal that a loss of the kind −Σ goal · log p has for each of n tokens, and their sum."""
    big, ids = 20.0, torch.tensor([[right]])
    total = number(function, torch.zeros(1, 1, n), ids) / math.log(n)
    peak = math.log(math.exp(big) + n - 1)
    return total, [(total * peak - number(function, big * torch.eye(n)[v].view(1, 1, n), ids)) / big for v in range(n)]


def batch(lengths: Sequence[int], pad: int, seed: int) -> Batch:
    """A batch whose sentences have so many tokens in ``tgt_out``; one more place than the longest needs."""
    draw = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths) + (len(lengths) > 1 and min(lengths) == max(lengths)))
    src, read, said = (torch.randint(20, 30, shape, generator=draw) for _ in range(3))
    empty = torch.arange(shape[1]) >= torch.tensor(lengths)[:, None]
    return src, read.masked_fill(empty, pad), said.masked_fill(empty, pad)


def sentences(lengths: Sequence[int], pad: int, seed: int) -> tuple[Tensor, Tensor]:
    """src ``(B, S)`` and tgt ``(B, L)`` with <sos> and <eos>, filled up with <pad>."""
    draw = torch.Generator().manual_seed(seed)
    rows = [[SOS, *torch.randint(20, pad + 30, (n,), generator=draw).tolist(), EOS] for n in lengths]
    width = max(map(len, rows))
    tgt = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    return torch.randint(20, pad + 30, (len(rows), 5), generator=draw), tgt


class Toy(nn.Module):
    """Not a language model: what counts here is how it is trained. In training mode it gives something else."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.factor = nn.Parameter(torch.zeros(30)), nn.Parameter(torch.ones(()))

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        found = self.table[tgt_in] * self.factor + 0.3 * self.table[src]  # (B, T)
        return 1.5 * found if self.training else found


def toy_loss(model: nn.Module, batch: Batch, pad: int) -> Tensor:
    """The sum over all tokens that are no padding."""
    src, tgt_in, tgt_out = batch
    away = model(src, tgt_in) - 0.1 * (tgt_out - 25)
    return 0.05 * (away**2)[tgt_out != pad].sum()


def toy_weights(size: float, seed: int = 0) -> dict[str, Tensor]:
    """The parameters of a toy."""
    draw = torch.Generator().manual_seed(seed)
    return {"table": 0.3 * size * torch.randn(30, generator=draw), "factor": torch.tensor(1.2)}


def toy(weights: dict[str, Tensor], training: bool) -> Toy:
    """A toy with these parameters."""
    model = Toy().train(training)
    model.load_state_dict(weights)
    return model


@beside_answer
def watch(
    function: Any, weights: dict[str, Tensor], groups: list[list[Batch]], pad: int, rate: float, training: bool = True
) -> list[dict[str, Any]]:
    """Updates of a toy with plain gradient descent: each step's gradient, what comes back, and the weights after it."""
    model = toy(weights, training)
    optimizer, rows = _Watched(model.parameters(), rate), []
    for batches in groups:
        sums = [_flat(torch.autograd.grad(toy_loss(model.train(), b, pad), list(model.parameters()))) for b in batches]
        loss = sum(toy_loss(model, b, pad).item() for b in batches)
        model.train(training)
        loss_of, modes, _ = _spy(pad)
        optimizer.seen = []
        value = function(model, optimizer, batches, loss_of)
        after = {name: p.detach().clone() for name, p in model.named_parameters()}
        rows.append({"value": value, "steps": optimizer.seen, "modes": modes, "after": after})
        rows[-1].update(sums=sums, sum=torch.stack(sums).sum(0), loss=loss)
    return rows


@beside_answer
def observe(
    function: Any, weights: dict[str, Tensor], batches: list[Batch], pad: int, training: bool
) -> dict[str, Any]:
    """A validation of a toy: what comes back, in which mode losses were computed, and which mode is left."""
    model = toy(weights, training)
    loss_of, modes, gradients = _spy(pad)
    value = function(model, batches, loss_of)
    after = model.training
    sums = [toy_loss(model.eval(), b, pad).item() for b in batches]
    return {"value": value, "modes": modes, "gradients": gradients, "after": after, "sums": sums}


def result(seen: dict[str, Any]) -> tuple[float, float]:
    """Mean loss and perplexity."""
    got = seen["value"]
    two = isinstance(got, (tuple, list)) and len(got) == 2
    expect(two, f"validate gives two numbers, the mean loss and the perplexity, not {kit.kind(got)}")
    return float(got[0]), float(got[1])


class Small(nn.Module):
    """A small model that learns in the blink of an eye: it knows the mean of the source, one word, and its place."""

    def __init__(self, vocabulary: int, width: int = 24) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.place, self.output = nn.Embedding(40, width), nn.Linear(width, vocabulary)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src ``(B, S)``, tgt_in ``(B, T)`` → logits ``(B, T, V)``"""
        x = self.source(src).mean(1, keepdim=True) + self.target(tgt_in) + self.place.weight[: tgt_in.size(1)]
        return self.output(x.tanh())  # type: ignore[no-any-return]


def small_model(vocabulary: int, seed: int) -> Small:
    """A model with fresh weights; other random numbers stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Small(vocabulary)


@beside_answer
def trained(function: Any, src: Tensor, tgt: Tensor, vocabulary: int, seed: int) -> list[Any]:
    """A fresh small model through the student's hands: what comes back, and the weights."""
    model = small_model(vocabulary, seed)
    losses = function(model, src, tgt)
    return [losses, {name: p.detach().clone() for name, p in model.named_parameters()}]


def learn(function: Any, src: Tensor, tgt: Tensor, pad: int, seed: int) -> tuple[list[float], Small]:
    """The losses as numbers, and the model that has learnt."""
    losses, weights = _beside(trained, function, src, tgt, pad + 30, seed)
    expect(isinstance(losses, (list, tuple, Tensor)), f"a list of losses is wanted, not {kit.kind(losses)}")
    model = small_model(pad + 30, seed)
    model.load_state_dict(weights)
    return [float(loss) for loss in losses], model


@beside_answer
def slope(function: Any, logits: Tensor, tgt_out: Tensor) -> Tensor:
    """The gradient of a loss with respect to the scores; zeros where there is none."""
    leaf = logits.clone().requires_grad_()
    return slopes_of(function(leaf, tgt_out), {"logits": leaf}, torch.ones(()))["logits"]


class _Watched(torch.optim.SGD):
    """Plain gradient descent that keeps the gradient of each step."""

    seen: list[Tensor]

    def step(self, closure: Any = None) -> Any:  # type: ignore[override]
        parameters = [p for options in self.param_groups for p in options["params"]]
        self.seen.append(_flat([torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]))
        return super().step(closure)


def _spy(pad: int) -> tuple[Callable[[nn.Module, Batch], Tensor], list[bool], list[bool]]:
    """A ``loss_of`` that notes the mode of the model, and whether a gradient could be computed."""
    modes: list[bool] = []
    gradients: list[bool] = []

    def loss_of(model: nn.Module, batch: Batch) -> Tensor:
        loss = toy_loss(model, batch, pad)
        modes.append(model.training)
        gradients.append(loss.requires_grad)
        return loss

    return loss_of, modes, gradients


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "the function"))


def _beside(helper: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
    """A helper's result; an error in the student's function is told under its own name."""

    def call() -> Any:
        return helper(function, *args, **kwargs)

    call.__name__ = _name(function)
    return ask(call)


def _watched(function: Any, weights: dict[str, Tensor], groups: list[list[Batch]], pad: int, **kwargs: Any) -> Any:
    """Updates with a rate of 0."""
    rows = _beside(watch, function, weights, groups, pad, rate=0.0, **kwargs)
    for row in rows:
        n = len(row["steps"])
        expect(row["modes"], "update never calls loss_of")
        expect(n == 1, f"optimizer.step() is called {n} times: a group of batches makes one update")
    return rows


def _mean_back(row: dict[str, Any], n: int) -> None:
    got, right = kit.number(row["value"], "what update returns"), row["loss"] / n
    match(
        got,
        right,
        f"update returns {got:.4f}",
        otherwise=f"the mean loss of the {n} tokens was {right:.4f}",
        same=alike,
    )


def _rate(function: Any, step: int, *args: Any) -> float:
    return kit.number(ask(function, step, *args), "the rate")


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([t.detach().flatten() for t in tensors])
