"""What a chapter calls that is no picture: the library's source, feedback on a reader's
answers and guesses, one line each, and what it compares or tries things with."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from torch import Tensor

from .exercises.values import difference, same, show
from .web import Html

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


def check_answer(
    answer: Callable[[], Any],
    expected: Any,
    mistakes: Mapping[str, Any] | None = None,
    right: str = "the library gives the same",
) -> None:
    """Prints whether ``answer()`` equals ``expected``, or which mistake it equals.

    ``mistakes`` maps a sentence to the value that the mistake gives. Values are
    tensors, numbers, texts, or sequences of these; with several cases in a sequence, a
    mistake is named only if all of its cases match. An answer that matches nothing is
    shown.
    """
    try:
        given = answer()
    except Exception as error:  # the reader's own code
        print(f"not yet: it raises {type(error).__name__}: {error}")
        return
    if given is None or _all_none(given):
        print("not written yet, or nothing is returned: it gives None")
    elif same(given, expected):
        print(f"right: {right}")
    else:
        for why, value in (mistakes or {}).items():
            if same(given, value):
                print(f"not yet: {why}")
                return
        print(f"not yet: {difference(given, expected)}")


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


def _all_none(given: Any) -> bool:
    several = isinstance(given, list | tuple) and len(given) > 0
    return several and all(part is None for part in given)
