"""The beam, step by step, on sentences that a model has translated, chapter 08."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Annotated, Any, ClassVar

import torch
from pydantic import Field

from nmt_lib.data.tokens import EOS, SOS
from nmt_lib.translate.search import Candidate, Scorer, beam_search, length_limits
from nmt_lib.translate.translator import Translator

from ..play import Thing, one_of, table

TEXTS = (
    "The boy is throwing a ball to his dog.",
    "A group of people is standing in front of a church.",
)
WIDEST = 5  # the largest K
ALPHAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
LIKELY = 6  # next tokens that are shown
TEMPERATURES = (0.5, 1.0, 1.5, 2.0)


class Beam(Thing):
    """A search with a bundled model, or with one of your own."""

    needs: ClassVar = ("beam_search", "tree")

    title: ClassVar = "The beam as a tree"
    tries: ClassVar = (
        "Go step by step with K = 1 and then with K = 3; let the search end and change "
        "α; make the temperature lower and higher."
    )
    shows: ClassVar = (
        "A beam keeps prefixes that greedy search would have given up, and one of them "
        "may win in the end; α decides between finished translations of different "
        "lengths, and a larger one makes the search go on for longer. Temperature "
        "changes no order, only how far apart the probabilities are."
    )
    text: str = Field("", max_length=200)
    """a sentence of your own; empty: two that show something"""
    model: str = "multi30k-en-de"
    K: int = Field(3, ge=1, le=WIDEST)
    alpha: Annotated[float, one_of(*ALPHAS)] = 0.6
    step: int = Field(4, ge=0, le=100)
    temperature: Annotated[float, one_of(*TEMPERATURES)] = 1.0

    def texts(self) -> list[str]:
        return [self.text] if self.text.strip() else [*TEXTS]

    def given(self) -> dict[str, Any]:
        lattices = [lattice(self.model, text) for text in self.texts()]
        longest = max(tree.pop("steps") for tree in lattices)
        return {
            "lattices": lattices,
            "temperatures": TEMPERATURES,
            "longest": max(longest, self.step),
        }

    def picture(self) -> str:
        translator, text = loaded(self.model), self.texts()[0]
        (translation,) = translator.translate([text], self.K, self.alpha)
        rows = {output: [f"{score:.2f}"] for output, score in translation.n_best}
        caption = (
            f"“{text}”, translated with K = {self.K} and α = {self.alpha}; "
            "run the cell to see the search"
        )
        return table(caption, ("translation", "score"), rows)


@cache
def loaded(model: str) -> Translator:
    return Translator.load(model, device="cpu")


@torch.inference_mode()
def lattice(model: str, text: str) -> dict[str, Any]:
    """All prefixes that a search with K ≤ 5 and α ≤ 1.4 opens, with their next tokens.

    ``nodes`` are prefixes, the first of them empty. Each has ``next``, the tokens that
    a search may add, as [token, −log P · 10⁴, node that it leads to or −1]. The most
    likely prefix of a step has its most likely tokens, too, and ``sums``: of all
    probabilities to the power of 1 / temperature.
    """
    translator = loaded(model)
    src = torch.tensor([translator.encode(text)])  # (1, S)
    children: dict[tuple[int, ...], set[int]] = {(): set()}  # a prefix → tokens
    leaders: set[tuple[int, ...]] = {()}
    longest = 0
    for K in range(1, WIDEST + 1):  # a smaller α only ends sooner
        trace: list[Candidate] = []
        beam_search(translator.model, src, K, ALPHAS[-1], trace=trace)
        longest = max(longest, trace[-1].step)
        for _, step in groupby(trace, lambda candidate: candidate.step):
            candidates = list(step)  # the most likely first
            prefixes = [(*c.prefix, c.token) for c in candidates if c.fate == "kept"]
            leaders |= {*prefixes[:1]}
            children |= {prefix: children.get(prefix, set()) for prefix in prefixes}
            for candidate in candidates:
                children[candidate.prefix].add(candidate.token)
    number = {prefix: i for i, prefix in enumerate(children)}
    scorer, codes, nodes = Scorer(translator.model, src, False), {EOS: 0}, []
    for prefix, tokens in children.items():
        log_probs = scorer(torch.tensor([[SOS, *prefix]]))[0]  # (V,)
        likely = log_probs.topk(LIKELY).indices.tolist() if prefix in leaders else []
        successors = [
            (
                codes.setdefault(token, len(codes)),
                round(-10_000 * log_probs[token].item()),
                number.get((*prefix, token), -1),
            )
            for token in sorted({*likely, *tokens}, key=lambda token: -log_probs[token])
        ]
        node: dict[str, Any] = {"next": successors}
        if prefix in leaders:
            sums = [float((log_probs / tau).exp().sum()) for tau in TEMPERATURES]
            node["sums"] = [float(f"{total:.4g}") for total in sums]
        nodes.append(node)
    return {
        "text": text,
        "tokens": translator.tgt_tokenizer.lookup_tokens(list(codes)),
        "eos": 0,
        "limit": int(length_limits(src, 50)),
        "nodes": nodes,
        "steps": longest,
    }


THING = Beam
