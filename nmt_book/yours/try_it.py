"""A reader's own function in a trained translator: what becomes of the translations?

Her function is put into a copy of the model's modules that shares the weights. The
translator itself never changes, so there is nothing to restore after an error, and no
other thread or compiled model notices anything.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from nmt_lib.data.pairs import Pair
from nmt_lib.errors import TrainingError
from nmt_lib.model.attention import copy_modules
from nmt_lib.translate.evaluate import perplexity
from nmt_lib.translate.translator import Translator

from ..exercise.saved import remember
from .parts import BEAM, PARTS, Hers, NotWritten
from .trials import TRIALS, captions


def try_it(
    translator: Translator | str,
    texts: Sequence[str] | Sequence[Pair] | None = None,
    use_cache: bool = False,
    **parts: Hers,
) -> None:
    """Translates with a reader's functions in the model, and prints what changes.

    That is how many translations are as the library's, and the perplexity of the
    references, since many mistakes translate as well as the right answer. What
    translates as the library does is kept for chapter 08 (``exercises.json`` beside the
    runs).

    A function that no translation calls is tried elsewhere: in twelve updates of a
    training, in the model's subwords, in batches (``trials.py``).

    Args:
        translator: or the name of a model that comes with the library.
        texts: pairs, or texts, for which the library's translations are the references;
            default: fifty captions that come with the library.
        use_cache: off, because with it no mask is needed, and some mistakes are hidden.
        parts: her functions by the names in ``PARTS``, as in ``attention=attention``.
    """
    known = [*PARTS, *TRIALS]
    if unknown := sorted(set(parts) - set(known)):
        raise TypeError(f"no part is called {unknown[0]}; there are {', '.join(known)}")
    if isinstance(translator, str):
        translator = loaded(translator)
    own = {name: hers for name, hers in parts.items() if name in PARTS}
    try:
        alike = [translate(translator, texts, use_cache, own)] if own else []
        for name in parts.keys() - own.keys():
            alike.append(TRIALS[name](parts[name], translator))
    except NotWritten:
        return print("not written yet, so there is nothing to try")
    except TrainingError:
        return print("with yours the scores become nan: is an exp infinite, or 0 / 0?")
    except Exception as error:  # the reader's own code
        return print(f"yours stops it: {type(error).__name__}: {error}"[:200])
    if all(alike):
        keep(parts)


def translate(
    translator: Translator,
    texts: Sequence[str] | Sequence[Pair] | None,
    use_cache: bool,
    parts: dict[str, Hers],
) -> bool:
    """Prints what changes in translations; whether nothing does."""
    theirs = quick(translator, BEAM if "beam_step" in parts else 1)
    yours = replaced(theirs, **parts)
    given: list[Any] = captions() if texts is None else list(texts)
    sources = [item.src if isinstance(item, Pair) else item for item in given]
    found = yours.translate(sources, use_cache=use_cache)
    expected = theirs.translate(sources)
    pairs = [
        item if isinstance(item, Pair) else Pair(item, translation.text)
        for item, translation in zip(given, expected, strict=True)
    ]
    surprise, usual = perplexity(yours, pairs), perplexity(theirs, pairs)
    both = list(zip(expected, found, strict=True))
    odd = [pair for pair in both if pair[0].text != pair[1].text]
    alike = f"{len(both) - len(odd)} of {len(both)}"
    print(f"with yours, {alike} translations are as the library's")
    print(f"perplexity of the references: {surprise:.4g} (the library's: {usual:.4g})")
    for one, other in odd[:1]:
        print(f"  {one.source}\n  library: {one.text}\n  yours:   {other.text[:80]}")
    return not odd and abs(surprise - usual) < 1e-3 * usual


def replaced(translator: Translator, **parts: Hers) -> Translator:
    """A translator with the same weights and these parts."""
    new = copy.copy(translator)
    new.model = copy_modules(translator.model)
    for name, hers in parts.items():
        owner, method, adapter = PARTS[name]
        for one in [new, *new.model.modules()]:
            if isinstance(one, owner):
                setattr(one, method, partial(adapter, hers, one))
    return new


def quick(translator: Translator, beam_size: int) -> Translator:
    """The same translator, with a search that soon gives up, for any length."""
    new, few = copy.copy(translator), {"beam_size": beam_size, "length_penalty": 0.0}
    few["max_extra_tokens"] = 10
    decode = new.config.decode.model_copy(update=few)
    new.config = new.config.model_copy(update={"decode": decode})
    return new


@lru_cache(maxsize=1)
def loaded(name: str) -> Translator:
    return Translator.load(name)


def keep(parts: dict[str, Hers]) -> None:
    """Keeps the text of functions that translate as the library's."""
    texts = {name: source_of(hers) for name, hers in parts.items()}
    remember(written={name: text for name, text in texts.items() if text})


def source_of(thing: Any) -> str:
    """The text of a function or class, cut out of its file or cell.

    ``inspect.getsource`` does not find a class that a notebook defines.
    """
    methods = [thing] if inspect.isfunction(thing) else vars(thing).values()
    files = [m.__code__.co_filename for m in methods if inspect.isfunction(m)]
    cell = "".join(linecache.getlines(files[0])) if files else ""
    found = [
        ast.get_source_segment(cell, node)
        for node in ast.parse(cell).body
        if getattr(node, "name", "") == thing.__name__
    ]
    return f"{found[-1]}\n" if found else ""
