"""A reader's own function in a trained translator: what becomes of the translations?

Her function is put into a copy of the model's modules that shares the weights. The
translator itself never changes, so there is nothing to restore after an error, and no
other thread or compiled model notices anything.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import lru_cache, partial
from typing import Any

from nmt_lib.data.pairs import Pair
from nmt_lib.errors import TrainingError, check_kind
from nmt_lib.model.attention import copy_modules
from nmt_lib.translate.evaluate import perplexity
from nmt_lib.translate.translator import Translator

from ..exercise.exercise import VERDICTS, explain
from ..exercise.saved import remember
from ..exercise.shown import show_printed
from .parts import BEAM, PARTS, PRE_LN, Function, NotWritten
from .source import NotKept, full_source
from .trials import TRIALS, captions


def try_it(
    translator: Translator | str,
    texts: Sequence[str] | Sequence[Pair] | None = None,
    use_cache: bool = False,
    **parts: Function,
) -> None:
    """Translates with a reader's functions in the model, and prints what changes.

    That is how many translations are as the library's, and the perplexity of the
    references, since many mistakes translate as well as the right answer. What its
    check has called right, and what translates as the library does, is kept for chapter
    08 (``exercises.json`` beside the runs). What her functions print comes last.

    A function that no translation calls is tried elsewhere: in twelve updates of a
    training, in the model's subwords, in batches (``trials.py``).

    Args:
        translator: or the name of a model that comes with the library.
        texts: pairs, or texts, for which the library's translations are the references;
            default: fifty captions that come with the library.
        use_cache: off, because with it no mask is needed, and some mistakes are hidden.
        parts: her functions by the names in ``PARTS``, as in ``attention=attention``.
    """
    names = [*PARTS, *TRIALS]
    if unknown := sorted(set(parts) - set(names)):
        raise TypeError(f"no part is called {unknown[0]}; there are {', '.join(names)}")
    if not parts:
        return print(f"nothing here is yours: give one of {', '.join(names)}")
    if isinstance(translator, str):
        translator = load_cached(translator)
    check_kind(translator, Translator)
    texts = captions() if texts is None else texts
    texts = [texts] if isinstance(texts, str) else texts
    if not len(texts):
        return print("there is no text to translate: give some, or leave out `texts`")
    layers = {"encoder_layer", "decoder_layer"} & parts.keys()
    if layers and translator.config.model.norm == "pre":
        return print(PRE_LN)
    in_model = {name: function for name, function in parts.items() if name in PARTS}
    results = list[tuple[bool, str]]()
    with redirect_stdout(io.StringIO()) as printed:
        try:
            if in_model:
                results.append(compare(translator, texts, use_cache, in_model))
            for name in parts.keys() - in_model.keys():
                results.append(TRIALS[name](parts[name], translator))
        except NotWritten:
            results = [(False, "not written yet, so there is nothing to try")]
        except TrainingError:
            why = "with yours the scores become nan: is an exp infinite, or 0 / 0?"
            results = [(False, why)]
        except Exception as error:  # the reader's own code
            why = f"yours stops it: {explain(error, *parts.values())}"[:400]
            results = [(False, why)]
    for _, message in results:
        print(message)
    if all(same for same, _ in results):
        save_functions(parts)
    show_printed(printed.getvalue())


def compare(
    translator: Translator,
    texts: Sequence[str] | Sequence[Pair],
    use_cache: bool,
    parts: dict[str, Function],
) -> tuple[bool, str]:
    """Whether nothing changes in the translations, and what does."""
    library = limit_search(translator, BEAM if "beam_step" in parts else 1)
    reader = replace_parts(library, **parts)
    items: list[Any] = list(texts)
    sources = [item.src if isinstance(item, Pair) else item for item in items]
    translations = reader.translate(sources, use_cache=use_cache)
    expected = library.translate(sources)
    pairs = [
        item if isinstance(item, Pair) else Pair(item, translation.text)
        for item, translation in zip(items, expected, strict=True)
    ]
    couples = list(zip(expected, translations, strict=True))
    differences = [pair for pair in couples if pair[0].text != pair[1].text]
    counts = f"{len(couples) - len(differences)} of {len(couples)}"
    lines = [f"with yours, {counts} translations are as the library's"]
    same = not differences
    if any(PARTS[name].method != "_search" for name in parts):  # else it is the same
        result, reference = perplexity(reader, pairs), perplexity(library, pairs)
        given = isinstance(items[0], Pair)
        target = "the references" if given else "the library's translations"
        lines.append(
            f"perplexity of {target}: {result:.4g} (the library's: {reference:.4g})"
        )
        same = same and abs(result - reference) < 1e-3 * reference
    for reading, translation in differences[:1]:
        lines += [f"  {reading.source}", f"  library: {reading.text}"]
        lines.append(f"  yours:   {translation.text[:80]}")
    return same, "\n".join(lines)


def replace_parts(translator: Translator, **parts: Function) -> Translator:
    """A translator with the same weights and a reader's functions as its parts."""
    clone = copy.copy(translator)
    clone.model = copy_modules(translator.model)
    for name, function in parts.items():
        owner, method, adapter = PARTS[name]
        for module in [clone, *clone.model.modules()]:
            if isinstance(module, owner):
                setattr(module, method, partial(adapter, function, module))
    return clone


def limit_search(translator: Translator, beam_size: int) -> Translator:
    """The same translator with a short search, since a broken model may never stop."""
    clone, limits = copy.copy(translator), {"beam_size": beam_size}
    limits |= {"length_penalty": 0, "max_extra_tokens": 10}
    decode = clone.config.decode.model_copy(update=limits)
    clone.config = clone.config.model_copy(update={"decode": decode})
    return clone


@lru_cache(maxsize=1)
def load_cached(name: str) -> Translator:
    return Translator.load(name)


def save_functions(parts: dict[str, Function]) -> None:
    """Saves the text of functions that translate as the library's and are right."""
    for name, function in parts.items():
        answer, is_right = VERDICTS.get(name, (None, False))
        if answer is not function:
            continue
        if not is_right:
            print("this does not show the mistake that the check has found")
            continue
        try:
            remember(written={name: full_source(function)})
        except NotKept as reason:
            print(f"not kept for chapter 08: {reason}")
