"""A6: greedy, beam and cached decoding, reading attention. One public check for each graded part."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt_lib import EOS, PAD, SOS

from .kit import ask, beside_answer, done, expect, kind, match, near, number, random_numbers, tensor, write_numbers

SPECIAL = (PAD, SOS, EOS)


class Model:
    """Random numbers in place of a trained Transformer: ``model(src, prefix)`` gives the scores of each next token.

    Whatever stands in the source (``<pad>`` apart) and in the prefix up to a place changes the scores of that place.
    """

    __name__ = "model"  # for hints

    def __init__(self, seed: int, size: int = 24, favour: dict[int, float] | None = None, longest: int = 1000) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.size, self.longest, self.calls = size, longest, list[tuple[int, int]]()
        self.words, self.turn = torch.randn(size, 16, generator=draw), 0.3 * torch.randn(16, 16, generator=draw)
        self.out, self.favour = torch.randn(16, size, generator=draw), torch.zeros(size)
        for token, extra in (favour or {}).items():
            self.favour[token] = extra

    def __call__(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, S)`` and ``(B, t)`` ids to ``(B, t, V)`` scores (logits: the softmax is not taken yet)."""
        for name, ids in (("src", src), ("the prefix", prefix)):
            if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
                raise ValueError(f"{name} has to be a tensor of whole numbers, (rows, ids); here it is {kind(ids)}")
        if len(src) != len(prefix):
            raise ValueError(f"{len(src)} rows of src, but {len(prefix)} of the prefix: as many are needed")
        if not len(prefix) or not prefix.size(1) or (prefix[:, :1] != SOS).any():
            raise ValueError("each prefix begins with <sos>")
        if prefix.size(1) > 120:
            raise RuntimeError("the prefix has more than 120 ids: when does the search stop?")
        self.calls.append((len(prefix), prefix.size(1)))
        return self.scores(src, prefix)

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        """``(B, t, V)``."""
        state = (self.words[src] * (src != PAD).unsqueeze(-1)).sum(1).tanh()  # (B, 16)
        places: list[Tensor] = []
        for token in prefix.T:  # (B,)
            state = (state @ self.turn + self.words[token]).tanh()
            scores = state @ self.out + self.favour  # (B, V)
            scores[:, EOS] += 100.0 * (len(places) >= self.longest)
            places.append(scores)
        return torch.stack(places, dim=1)


class Toy(Model):
    """Probabilities made by hand. ``table[6, 9, 8]`` are those of the next token, by id, where 6 is the first word of
    the source, and 9 and 8 are written already. Where the table says nothing, the next token is 4: it talks on."""

    def __init__(self, table: dict[Any, dict[int, float]], size: int = 24) -> None:
        super().__init__(0, size)
        self.table = table

    def scores(self, src: Tensor, prefix: Tensor) -> Tensor:
        logits = torch.full((*prefix.shape, self.size), -30.0)
        for row, (source, read) in enumerate(zip(src.tolist(), prefix.tolist(), strict=True)):
            for t in range(len(read)):
                for token, p in self.table.get((source[1], *read[1 : t + 1]), {4: 1.0}).items():
                    logits[row, t, token] = math.log(p)
        return logits + 2.0  # scores, no log-probabilities


class Heads(nn.Module):
    """Attention in small steps."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.seen = n_heads, 0
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def query(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def key(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        self.seen += x.shape[1]  # how many places were computed, for the checks
        return self.W_k(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def value(self, x: Tensor) -> Tensor:  # (B, n, D) → (B, H, n, d_k)
        return self.W_v(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def mix(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = query @ key.mT / math.sqrt(query.size(-1))  # (B, H, n, m)
        scores = scores if mask is None else scores.masked_fill(~mask, -1e9)  # True = may be attended to
        return self.W_o((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))  # (B, n, D)


class Layer(nn.Module):
    """The attention of one decoder layer, without a cache."""

    def __init__(self, seed: int, size: int = 24, d_model: int = 12, n_heads: int = 3, places: float = 1.0) -> None:
        super().__init__()
        self.own, self.cross = Heads(d_model, n_heads), Heads(d_model, n_heads)
        draw = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw)
        self.words = torch.randn(size, d_model, generator=draw)
        self.places = places * torch.randn(64, d_model, generator=draw)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:  # (B, n) → (B, n, D) at places start, start + 1, …
        return self.words[tokens] + self.places[start : start + tokens.size(1)]

    def forward(self, tokens: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:  # (B, t), (B, S, D), (B, 1, 1, S)
        x = self.embed(tokens)  # (B, t, D)
        causal = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()  # (t, t)
        x = x + self.own.mix(self.own.query(x), self.own.key(x), self.own.value(x), causal)
        return x + self.cross.mix(self.cross.query(x), self.cross.key(memory), self.cross.value(memory), src_mask)


def words(function: Any, banned: int) -> None:
    toy = Toy({(6,): {banned: 0.5, SOS: 0.2, 9: 0.2, 8: 0.1}, (6, 9): {8: 0.6, 9: 0.4}, (6, 9, 8): {EOS: 1.0}})
    got = cut(greedy_rows(function, toy, _ONE)[0])
    expect(banned not in got, f"{got} is written: the rules say that {banned} never is, however likely")
    expect(got[:1] != [SOS] and PAD not in got, f"{got} is written: <sos> and <pad> are never chosen, however likely")
    expect(got[:1] == [9], f"{got} is written: among those allowed, 9 is the likeliest first token")
    expect(
        got == [9, 8], f"{got} is written: after 9, 8 is likeliest, then <eos>. Ask for the last place, with all so far"
    )
    done("the words")


def ends(function: Any) -> None:
    """Two sentences, one shorter than the other: what is returned."""
    toy = Toy({(6,): {9: 1.0}, (6, 9): {EOS: 1.0}, (7, 8, 9, 8): {EOS: 1.0},
               (7,): {8: 1.0}, (7, 8): {9: 1.0}, (7, 8, 9): {8: 1.0}})  # fmt: skip
    got = greedy_rows(function, toy, torch.tensor([[SOS, 6, EOS], [SOS, 7, EOS]]))
    shown = f"[9, <eos>] and [8, 9, 8, <eos>] are written, {got} is returned"
    for special, name in ((SOS, "<sos>"), (EOS, "<eos>")):
        expect(not any(special in row for row in got), f"{shown}: {name} ({special}) is not part of a translation")
    expect(cut(got[1]) == [8, 9, 8], f"{shown}: row 1 is not done when row 0 is")
    expect(cut(got[0]) == [9], f"{shown}: row 0 ended after 9; behind that comes only <pad> ({PAD})")
    expect(all(len(row) == 3 for row in got), f"{shown}: as many columns as the longest has words, 3")
    done("the ends")


def stop(function: Any, extra: int) -> None:
    """A model that talks on, then one that ends at once."""
    src = torch.tensor([[SOS, 6, EOS, PAD, PAD], [SOS, 6, 6, 6, EOS]])
    lengths = [len(cut(row)) for row in greedy_rows(function, Toy({}), src)]
    rule = f"at most {extra} words more than ids in its row of src, <pad> not counted"
    for n, got in zip((5, 3), reversed(lengths), strict=True):
        expect(got == n + extra, f"{n} ids (and {5 - n} <pad>), no <eos> comes: {got} words, not {n + extra}: {rule}")
    asked = ask(steps, function, Toy({(6,): {9: 1.0}, (6, 9): {EOS: 1.0}}), src)
    expect(asked < 4, f"every row has said <eos> in step 2, but the model is asked {asked} times: stop then")
    done("the stop")


def cache(cached_class: Any) -> None:
    """Three steps with a cache, and the same without."""
    layer, stuck, alone, tokens = Layer(1), Layer(1), Layer(1), torch.tensor([[5, 7, 6], [4, 4, 9]])
    stuck.places = stuck.places[:1].expand(64, 12)  # as if each place were place 0
    memory, seen = random_numbers(2, 4, 12), torch.ones(2, 1, 1, 4, dtype=torch.bool)
    cached = ask(cached_class, layer, memory, seen)
    whole, unmoved = layer(tokens, memory, seen), stuck(tokens, memory, seen)
    for t in range(3):
        got = tensor(advance(cached, tokens[:, t]), "what two tokens give", (2, 12), "(B, D)")
        alone.places = layer.places[t:]
        mistakes = [
            (unmoved[:, t], "the new token is embedded at place 0 in each step; layer.embed needs to know its place"),
            (alone(tokens[:, t : t + 1], memory, seen)[:, 0], "the new place attends to itself only"),
        ]
        otherwise = "compare with Layer.forward: the new place, and what the own attention sees"
        match(got, whole[:, t], f"step {t} differs from place {t} without a cache", mistakes, otherwise)
    done("the steps with a cache")


def source(cached_class: Any) -> None:
    """Padding of the source is hidden, with a cache as without."""
    layer, memory, tokens = Layer(2), random_numbers(2, 4, 12), torch.tensor([5, 7])
    seen = torch.tensor([[True, True, True, True], [True, True, False, False]]).view(2, 1, 1, 4)
    got = advance(ask(cached_class, layer, memory, seen), tokens)
    all_seen, wanted = (layer(tokens[:, None], memory, mask)[:, 0] for mask in (torch.ones_like(seen), seen))
    mistakes = [(all_seen[1], "it looks at them: pass src_mask on")]
    shown = "row 1 has two <pad> in its source, and comes out wrong"
    match(got[1], wanted[1], shown, mistakes, "src_mask belongs to the cross-attention")
    expect(near(got[0], wanted[0]), "row 0, without <pad>: the cross-attention's keys and values are those of memory")
    done("the source")


def work(cached_class: Any) -> None:
    own, cross = ask(places, cached_class, Layer(3), random_numbers(1, 4, 12), torch.tensor([[5, 7, 6, 4, 8]]))
    expect(own == 5, f"5 steps make 5 places; here {own} keys of the own attention are computed: keep the old ones")
    expect(cross == 4, f"memory has 4 places; here {cross} of its keys are computed: once for all steps is enough")
    done("the work")


def select(cached_class: Any) -> None:
    """Rows change places: everything goes with them."""
    layer, memory = Layer(4, places=0.0), random_numbers(2, 4, 12)
    seen = torch.tensor([[True, True, True, True], [True, True, False, False]]).view(2, 1, 1, 4)
    for before, rows in ((1, [1, 0]), (0, [1, 1, 0])):
        moved, still = followed(cached_class, layer, memory, seen, torch.tensor([[5], [7]])[:, :before], rows, 6)
        shown = f"after {before} step{'s' * (before != 1)} and select({rows})"
        expect(moved.shape == still.shape, f"{shown} there should be {len(rows)} rows, not {len(moved)}")
        what = "the own keys and values, those of memory, src_mask" if before else "memory's keys and values, src_mask"
        expect(near(moved, still), f"{shown}, new row 0 is old row {rows[0]}: {what} all go with it")
    done("the choice of rows")


def sums(function: Any) -> None:
    """Log-probabilities are added, that of <eos> too."""
    toy = Toy({(6,): {7: 0.6, 8: 0.4}, (6, 7): {9: 0.55, 8: 0.45}, (6, 7, 9): {EOS: 0.5, 8: 0.3, 7: 0.2}})
    found = hypotheses(function, toy, _ONE, 1, 5)
    expect(found, "K = 1, 5 steps: 7, 9, <eos> are the likeliest, so one finished hypothesis is expected, not none")
    ids, total = cut(found[0][0]), found[0][1]
    right = math.log(0.165)
    mistakes = [
        (0.165, "this is the probability, not its logarithm"),
        (1.65, "these are probabilities, added: add their logarithms"),
        (math.log(0.33), "the log-probability of <eos> counts too"),
        (right + 6, "the model's scores are added: make log-probabilities of them first"),
        (right / 3, "this is the mean of the log-probabilities, not the sum"),
    ]
    shown = f"0.6 · 0.55 · 0.5 = 0.165, ln 0.165 = {right:.3f}; here {total:.4g}, for {ids}"
    match(total, right, shown, mistakes, "a sum of log-probabilities, that of <eos> too")
    expect(ids == [7, 9], f"K = 1: {ids} is returned, not [7, 9]")
    done("the sums")


def kept(function: Any) -> None:
    """Seven sentences: which are found, in which order."""
    ends = {(6, first, second): {EOS: 1.0} for first in (4, 5, 6) for second in (7, 8)}
    toy = Toy({(6,): {4: 0.55, 5: 0.37, 6: 0.05, EOS: 0.03}, (6, 4): {7: 0.55, 8: 0.45}, (6, 5): {7: 0.1, 8: 0.9},
               (6, 6): {7: 0.5, 8: 0.5}, **ends})  # fmt: skip
    ranked = [[5, 8], [4, 7], [4, 8], [5, 7]]  # with the probabilities 0.333, 0.3025, 0.2475, 0.037
    for K, wanted in ((1, [[4, 7]]), (2, ranked[:2]), (4, ranked)):
        got = [list(ids) for ids, _ in hypotheses(function, toy, _ONE, K, 3)]
        shown = f"K = {K}: {got}"
        expect(not any(set(ids) & set(SPECIAL) for ids in got), f"{shown}: <sos>, <eos> and <pad> are not returned")
        expect(len({*map(tuple, got)}) == len(got), f"{shown}: one twice. At first there is one prefix, not {K} alike")
        expect(sorted(got) != sorted(wanted) or got == wanted, f"{shown}: all found, now the likeliest first")
        expect(got != [[]], f"{shown}: open hypotheses are likelier, so the search goes on after the first <eos>")
        expect(got == wanted, f"{shown}, not {wanted}: keep the {K} best of all extensions, each with its own history")
    done("the beam")


def finished(function: Any) -> None:
    """An early end: it stays, as it is."""
    toy = Toy({(6,): {EOS: 0.4, 4: 0.6}, (6, 4): {5: 0.9, EOS: 0.1}, (6, 4, 5): {EOS: 0.55, 6: 0.45},
               (6, EOS): {4: 0.6, EOS: 0.4}})  # fmt: skip
    found = {tuple(cut(ids)): total for ids, total in hypotheses(function, toy, _ONE, 2, 3)}
    shown = f"K = 2, 3 steps: {list(map(list, found))}"
    expect(not any(ids[2:] for ids in found), f"{shown}: was something returned that has not ended, or grew after it?")
    expect((4, 5) in found, f"{shown}: [4, 5] ends in step 3, so the search has to go on after the first end")
    expect(() in found, f"{shown}: [] ends in step 1 with probability 0.4, stays, and is still among the best two")
    shown = f"[] has probability 0.4, ln 0.4 = {math.log(0.4):.3f}, in each step; here it is {found[()]:.3f}"
    match(found[()], math.log(0.4), shown, otherwise="a finished one stays as it is")
    done("the finished ones")


def rank(function: Any, k: int) -> None:
    """Three hypotheses; the length penalty changes their order."""
    given = [([4, 5, 6], -4.0), ([4, 5, 6, 7, 8, 9, 4, 5], -4.4), ([9], -4.1)]
    got = ranking(function, given, 1.0)
    expect(sorted(i for i, _ in got) == sorted(i for i, _ in given), f"the three come back as they are, not {got}")
    scores = {len(ids): score for ids, score in got}
    wanted = {len(ids): total * (k + 1) / (k + len(ids) + 1) for ids, total in given}
    shown = f"α = 1, log-probability -4.4, 8 ids and <eos>: {scores[8]:.4g}"
    expect(-4.4 < scores[8] <= 0, f"{shown}: the longer, the nearer to 0: divide the log-probability by the penalty")
    mistakes = [
        (-4.4 * (k + 1) / (k + 8), "L counts <eos>, so it is 9 here"),
        (-4.4 * 6 / (5 + 9), f"5 and 6 are the numbers of the paper; here k is {k}"),
    ]
    match(scores[8], wanted[8], shown, mistakes, f"not {wanted[8]:.4f}: see the formula")
    expect(all(near(scores[n], wanted[n]) for n in wanted), f"scores {scores}, but {wanted} are wanted (by length)")
    order = sorted(given, key=lambda item: -wanted[len(item[0])])
    expect([i for i, _ in got] == [i for i, _ in order], "the scores are right: now the best, nearest to 0, first")
    done("the n-best list")


def links(function: Any, threshold: float) -> None:
    """Two heads, three words of the source, three written."""
    low, high = threshold - 0.05, threshold + 0.05
    mean = torch.tensor([[0.1, 0.2, 0.0, 0.5, 0.2, 0], [0.5, high, 0.05, 0.05, 0.4 - high, 0],
                         [0.6, 0.05, low, 0.05, 0.3 - low, 0], [0.0, 0.9, 0.1, 0.0, 0.0, 0]])  # fmt: skip
    sway = torch.zeros(4, 6)
    sway[0, 1], sway[0, 3] = 0.2, -0.2  # how the two heads differ
    got = pairs(function, torch.stack([mean + sway, mean - sway]), torch.tensor([SOS, 8, 9, 7, EOS, PAD]))
    shown = f"{sorted(got)} (source word, target word)"
    usual = (
        ({(0, 2), (1, 0)}, "the source word stands first in a pair"),
        ({(3, 0), (1, 1)}, "the first word is 0; <sos> is no word"),
        ({(0, 0), (2, -1)}, "row 0 belongs to the first word that is written, so its number is 0"),
        ({(0, 0), (0, 1)}, "word 0 is first in row 0 of one head only; take the mean of all heads"),
    )
    for wrong, hint in usual:
        expect(got != wrong, f"{shown}: {hint}")
    expect(not any(t == 3 for _, t in got), f"{shown}: row 3 is the one that writes <eos>; it has no link")
    expect(all(s in (0, 1, 2) for s, _ in got), f"{shown}: the source has the words 0, 1, 2; the rest is special")
    expect(not any(t == 2 for _, t in got), f"{shown}: row 2 has at most {low:.2f} for a word: too little for a link")
    enough = f"row 0 has its largest mean, 0.5, at word 2; row 1 has {high:.2f} for word 0, which is enough"
    expect(got == {(2, 0), (0, 1)}, f"{shown}: (2, 0) and (0, 1) are expected: {enough}")
    done("the links")


def error_rate(function: Any) -> None:
    """Four links found, two of them sure, one possible."""
    found, sure, possible = [(0, 0), (1, 1), (2, 3), (3, 2)], [(0, 0), (1, 1), (2, 2)], [(3, 2)]
    got = number(ask(function, found, sure, possible), "the error rate")
    mistakes = [
        (4 / 7, "a sure link is possible, too, whether or not it is listed among them"),
        (3 / 7, "the possible links do not count here: |found ∩ sure| is 2, |found ∩ possible| is 3"),
        (5 / 7, "this is 1 minus the error rate"),
    ]
    shown = f"4 found, 3 sure, 1 possible besides, 2 + 1 of them found: {got:.4g}"
    match(got, 1 - 5 / 7, shown, mistakes, "the formula gives 1 - (2 + 3) / (4 + 3) = 0.2857")
    done("the error rate")


def picture(axes: Any, seed: int) -> None:
    """What the last questions are about: one translation, drawn by three programs; one of them is right."""
    from nmt_lib import draw_grid  # not there while this is graded

    right, unmasked = torch.tensor(_MAP), torch.tensor(_MAP)
    share = torch.tensor([0.22, 0.28, 0.18, 0.3, 0.24, 0.26])  # of each row, for the two <pad>
    unmasked[:, 7], unmasked[:, 8] = 0.6 * share, 0.4 * share
    unmasked[:, :7] *= 1 - share[:, None]
    src = ["<sos>", "the", "red", "car", "is", "new", "<eos>", "<pad>", "<pad>"]
    tgt = ["la", "voiture", "rouge", "est", "neuve", "<eos>"]
    programs = [(right, tgt), (unmasked, tgt), (right, ["<sos>", *tgt[:-1]])]
    order = torch.randperm(3, generator=torch.Generator().manual_seed(seed)).tolist()
    for axis, name, i in zip(axes, "ABC", order, strict=True):
        table, rows = programs[i]
        draw_grid(axis, table, rows, src)
        axis.set_title(name, fontsize=9)
        write_numbers(axis, table, lambda weight: f"{weight:.2f}"[1:] if weight else "0", 7, 0.6)


@beside_answer
def steps(function: Any, model: Model, src: Tensor) -> int:
    """How often a search asks the model."""
    function(model, src)
    return len(model.calls)


@beside_answer
def places(cached_class: Any, layer: Layer, memory: Tensor, tokens: Tensor) -> tuple[int, int]:
    """How many keys of the own attention and of the memory are computed for all tokens, one step each."""
    cached = cached_class(layer, memory, torch.ones(len(memory), 1, 1, memory.size(1), dtype=torch.bool))
    for token in tokens.T:
        cached.step(token)
    return layer.own.seen, layer.cross.seen


def greedy_rows(function: Any, model: Model, src: Tensor) -> list[list[int]]:
    """The rows that a greedy search returns."""
    got = ask(function, model, src)
    good = isinstance(got, Tensor) and got.dim() == 2 and len(got) == len(src)
    expect(good, f"{len(src)} sentences: a tensor ({len(src)}, L) of ids is expected, not {kind(got)}")
    return got.tolist()  # type: ignore[no-any-return]


def cut(ids: Iterable[int]) -> list[int]:
    """The words of a translation, whatever was forgotten: without ``<sos>`` before, ``<eos>`` and the rest behind."""
    row = [int(i) for i in ids]
    row = row[1:] if row[:1] == [SOS] else row
    row = row[: row.index(EOS)] if EOS in row else row
    while row[-1:] == [PAD]:
        row.pop()
    return row


def advance(cached: Any, tokens: Tensor) -> Tensor:
    """One step."""

    def step(tokens: Tensor) -> Any:
        return cached.step(tokens)

    got = ask(step, tokens)
    expect(isinstance(got, Tensor), f"step gives a tensor (B, D), not {kind(got)}")
    return got  # type: ignore[no-any-return]


def followed(
    cached_class: Any, layer: Layer, memory: Tensor, seen: Tensor, tokens: Tensor, rows: list[int], last: int
) -> tuple[Tensor, Tensor]:
    """A step after ``select(rows)``, and the same where these rows stood there from the start."""

    def select(rows: list[int]) -> str:
        moved.select(torch.tensor(rows))
        return "done"

    moved, still = ask(cached_class, layer, memory, seen), ask(cached_class, layer, memory[rows], seen[rows])
    for token in tokens.T:
        advance(moved, token)
        advance(still, token[rows])
    ask(select, rows)
    new = (last + torch.arange(len(rows))) % 20 + 4  # another token in each row
    return advance(moved, new), advance(still, new)


def hypotheses(function: Any, model: Model, src: Tensor, K: int, limit: int) -> list[tuple[list[int], float]]:
    """What a beam search returns, as ids and log-probability."""
    return _pairs_of(ask(function, model, src, K, limit), "log-probability", K)


def ranking(function: Any, given: list[tuple[list[int], float]], alpha: float) -> list[tuple[list[int], float]]:
    """What comes back ranked, as ids and score."""
    return _pairs_of(ask(function, given, alpha), "score", len(given))


def pairs(function: Any, weights: Tensor, src: Tensor) -> set[tuple[int, int]]:
    """The links that an answer finds."""
    got = ask(function, weights, src)
    got = got.tolist() if isinstance(got, Tensor) else got
    good = isinstance(got, (list, tuple, set, frozenset)) and all(_two(item) for item in got)
    expect(good, f"a list or set of pairs (source word, target word) is expected, not {kind(got)}")
    return {(int(s), int(t)) for s, t in got}


_ONE = torch.tensor([[SOS, 6, EOS]])
_MAP = [
    [0.02, 0.34, 0.06, 0.55, 0.01, 0.00, 0.02, 0.00, 0.00],
    [0.01, 0.05, 0.08, 0.81, 0.03, 0.01, 0.01, 0.00, 0.00],
    [0.00, 0.02, 0.85, 0.09, 0.01, 0.02, 0.01, 0.00, 0.00],
    [0.03, 0.01, 0.02, 0.06, 0.78, 0.08, 0.02, 0.00, 0.00],
    [0.01, 0.00, 0.03, 0.11, 0.05, 0.77, 0.03, 0.00, 0.00],
    [0.12, 0.01, 0.01, 0.02, 0.02, 0.10, 0.72, 0.00, 0.00],
]


def _pairs_of(got: Any, name: str, most: int) -> list[tuple[list[int], float]]:
    good = isinstance(got, (list, tuple)) and all(_two(item) for item in got)
    good = good and all(isinstance(ids, (list, tuple, Tensor)) for ids, _ in got)
    expect(good, f"a list of pairs (ids, {name}) is expected; here it is {kind(got)}")
    expect(len(got) <= most, f"{len(got)} hypotheses are returned; at most {most} are wanted")
    return [([int(i) for i in ids], number(value, f"the {name}")) for ids, value in got]


def _two(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2
