"""What a chapter calls that is no picture: the library's source, the answer to a guess,
and what its experiments are made of."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from torch import Tensor

from .exercises.values import show
from .special import SPECIALS
from .vocab import build_vocab_from_iterator
from .web import Html
from .words import spacy_words

STYLE = (
    "font-family: monospace; font-size: 13px; line-height: 1.35; "
    "background: #f8f8f8; color: #222; padding: 6px"
)

UNDER_TORCH = {  # our names of layers, and those of torch.nn.Transformer
    "around_self_attention.norm": "norm1",
    "around_cross_attention.norm": "norm2",
    "around_attention.norm": "norm1",
    "around_feed_forward.norm": "norm3",
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "feed_forward.W_": "linear",
    "W_o": "out_proj",
    "W_q.": "in_proj_",
    "W_k.": "in_proj_",
    "W_v.": "in_proj_",
}
Ids = tuple[list[int], list[int]]  # of a source and its target
# Of Multi30k's 29,000 captions: how many have 4, 5, 6 … English words, and how many
# German words more: −12, −11 …
# fmt: off
ENGLISH_WORDS = (
    8, 32, 211, 772, 1705, 2427, 3049, 3330, 3193, 2849, 2522, 2117, 1558, 1326,
    981, 793, 586, 445, 297, 211, 172, 111, 91, 53, 43, 31, 24, 12, 11, 9, 8, 10, 3,
    1, 4, 2, 2, 1,
)
GERMAN_MINUS_ENGLISH = (
    5, 4, 13, 21, 59, 113, 235, 612, 1293, 2601, 4646, 6260, 5742, 3450, 1922, 1048,
    511, 249, 120, 44, 27, 11, 9, 2, 2, 1,
)
# fmt: on


def show_source(thing: Any) -> Html:
    """The source of a function, method or class, with syntax highlighting.

    Docstrings are left out, because the chapter explains the same in other words.
    """
    source = without_docstrings(textwrap.dedent(inspect.getsource(thing)))
    look = HtmlFormatter(noclasses=True, nobackground=True, prestyles=STYLE)
    return Html(highlight(source, PythonLexer(), look))


def without_docstrings(source: str) -> str:
    """Python source without the docstrings of its functions and classes."""
    lines, hidden = source.splitlines(), set[int]()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or len(node.body) < 2:
            continue
        if ast.get_docstring(node):
            end = node.body[0].end_lineno or 0
            blank = end < len(lines) and not lines[end].strip()  # below the docstring
            hidden |= set(range(node.body[0].lineno - 1, end + blank))
    return "\n".join(line for i, line in enumerate(lines) if i not in hidden)


def caption_lengths() -> torch.Tensor:
    """``(29000, 2)``: the ids of an English and a German caption of Multi30k.

    The source has <sos> and <eos>, ``tgt_in`` one of them. Which difference goes with
    which length is drawn by chance: that hardly changes the shares of padding.
    """
    english, more = (
        torch.arange(first, first + len(counts)).repeat_interleave(torch.tensor(counts))
        for first, counts in ((4, ENGLISH_WORDS), (-12, GERMAN_MINUS_ENGLISH))
    )
    draw = torch.Generator().manual_seed(0)
    more = more[torch.randperm(len(more), generator=draw)]
    return torch.stack([english + 2, (english + more).clamp(min=1) + 1], dim=1)


def padding_share(lengths: torch.Tensor, plan: Any, width: int = 0) -> float:
    """The share of all ids in the batches of a plan that are padding.

    Args:
        lengths: ``(n, 2)``, of sources and of targets.
        plan: batches, each a list of indices.
        width: to which all are padded; 0 for the longest of each batch.
    """
    sides = [lengths[list(rows)] for rows in plan]  # (B, 2) each
    room = sum(len(one) * (2 * width or int(one.amax(0).sum())) for one in sides)
    return 1 - sum(int(one.sum()) for one in sides) / room


def lost_words(train: list[str], test: list[str], lang: str, min_freq: int = 1) -> str:
    """How large the vocabulary of a text is, and how many words of another it lacks."""
    cut = spacy_words(lang)
    vocab = build_vocab_from_iterator(map(cut, train), min_freq, SPECIALS)
    words = [word for line in test for word in cut(line)]
    share = sum(word not in vocab for word in words) / len(words)
    return f"{len(vocab):>3} ids, {share:5.1%} of the test words unknown"


def note_differences(encoder: torch.nn.Module) -> list[float]:
    """A list that gets longer with each pass: what differs between the words.

    That is the share of chapter 05, over all positions of the batch: 0 if the encoder
    gives the same vector for each.
    """
    shares: list[float] = []

    def note(_module: torch.nn.Module, _given: Any, memory: Tensor) -> None:
        x = memory.detach()  # (B, S, D)
        shares.append(((x - x.mean((0, 1))).norm() / x.norm()).item())

    encoder.register_forward_hook(note)
    return shares


def compare_guess(guess: Any, measured: Any, unit: str = "") -> None:
    """Prints what was measured beside the reader's guess; None is no guess."""
    said = f"measured: {show(measured)}{unit}"
    print(said if guess is None else f"{said}   your guess: {show(guess)}{unit}")


def under_torch_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Encoder and decoder as ``torch.nn.Transformer`` names and keeps them.

    ``W_q``, ``W_k`` and ``W_v`` become one tensor.
    """
    parts: dict[str, list[Tensor]] = {}
    for name, tensor in tensors.items():
        for ours, theirs in UNDER_TORCH.items():
            name = name.replace(ours, theirs)
        if name.startswith("encoder"):
            name = name.replace("norm3", "norm2")
        if name.startswith(("encoder", "decoder")):
            parts.setdefault(name, []).append(tensor)
    return {name: torch.cat(tensors) for name, tensors in parts.items()}


def long_and_short(pairs: Sequence[Ids]) -> tuple[Ids, Ids]:
    """A pair that is longer than the shortest on both sides, of unequal lengths."""
    by_length = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))
    short = by_length[0]
    longer = [
        (src, tgt)
        for src, tgt in by_length
        if len(src) > len(short[0]) + 2 and len(short[1]) + 1 < len(tgt) < len(src)
    ]
    return longer[0] if longer else by_length[-1], short
