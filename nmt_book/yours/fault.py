"""Find the fault: one function of the library is broken in this kernel, and the reader
finds out which by asking questions about a translator.

The function stays the same object; only its compiled code is exchanged. So models that
are loaded already, and names imported elsewhere, feel it at once, and its source still
shows the right text. Until it is healed, nothing is trained, saved or exported: what a
broken library makes would outlive the kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from nmt_lib.training import model_file
from nmt_lib.training.run_folder import RunFolder
from nmt_lib.translate.export import export_hugging_face
from nmt_lib.translate.translator import Translator

from .symptoms import QUESTIONS, puzzle_translator, refuse, right_texts
from .trials import training_batches


class Fault(NamedTuple):
    """A planted mistake: in a function, the text ``wrong`` in place of ``right``.

    Functions are named, not files, which may move.
    """

    function: str  # a public name of nmt_lib, with its class: "Residual.forward"
    right: str
    wrong: str
    decides: str = ""  # the question that leads to it
    hint: str = ""


PUZZLES = [
    Fault(
        "pad_batch",
        "[PAD] * (width",
        "[1] * (width",
        "alone",
        "neighbours change a sentence, and all that they bring is padding",
    ),
    Fault(
        "padding_mask",
        "(ids != pad)",
        "(ids == pad)",
        "map",
        "each row should sum to 1: who decides which keys are hidden?",
    ),
    Fault(
        "Translator._translation",
        "lookup_tokens([*best.ids, EOS])",
        "lookup_tokens([2, *best.ids])",
        "map",
        "the weights are right, but to which token does each row belong?",
    ),
    Fault(
        "beam_search",
        "[sorted(hypotheses, key=lambda h: -h.score)[:K] for",
        "[hypotheses[:K] for",
        "beam",
        "the best hypothesis is found, but another one comes first",
    ),
    Fault(
        "PositionalEncoding.forward",
        "return x + self.table[start:end]",
        "return x",
        "shuffle",
        "who tells the model in which order the words are?",
    ),
    Fault(
        "Embedding.forward",
        "self.lookup(ids) * self.factor",
        "self.lookup(ids)",
        "shuffle",
        "the words hardly matter: what drowns them?",
    ),
    Fault(
        "make_batch",
        "target[1:] for",
        "target[:-1] for",
        "map",
        "the model is in order: what is it asked to predict?",
    ),
    Fault(
        "causal_mask",
        ".tril()[",
        ".tril(1)[",
        "map",
        "something is visible that should not be",
    ),
    Fault(
        "KVCache.extend",
        "return self.keys[:, :, :end], self.values[:, :, :end]",
        "return self.keys, self.values",
        "cache",
        "what is in the tensors of a cache, apart from the past?",
    ),
    Fault(
        "Decoder.forward",
        "caches[i]",
        "caches[0]",
        "cache",
        "each layer has a cache of its own: who gives it to the layer?",
    ),
    Fault(
        "scaled_dot_product_attention",
        "scores.softmax(dim=-1)",
        "scores.softmax(dim=-2)",
        "map",
        "translations use the fused call, and maps do not",
    ),
    Fault(
        "MultiHeadAttention.join_heads",
        "heads.transpose(1, 2).flatten(2)",
        "heads.reshape(heads.size(0), heads.size(2), -1)",
        "cache",
        "it does least harm where each step has one position only",
    ),
]


class Case:
    """A fault to find in ``translator``: ``ask``, ``hint``, ``accuse``, ``heal``."""

    def __init__(self, number: int) -> None:
        self.number, self.fault = number, PUZZLES[number - 1]
        self.translator, self.hints = puzzle_translator(), 0
        self.asked: set[str] = set()
        self.accused: set[FunctionType] = set()  # wrongly
        self.function = function_of(self.fault.function)
        self.healthy = self.function.__code__

    def __repr__(self) -> str:
        return f"<case {self.number}>"

    @property
    def is_open(self) -> bool:
        return self.function.__code__ is not self.healthy

    def ask(self, question: str) -> None:
        """Prints the answer to one of ``QUESTIONS`` with the fault, and without it."""
        if question not in QUESTIONS:
            print(f"no question is {question!r}: ask one of {', '.join(QUESTIONS)}")
        elif not self.is_open:
            print(f"nothing is broken: book.plant({self.number}) breaks it again")
        else:
            self.asked.add(question)
            wrong = self.function.__code__
            try:
                exchange(self.function, self.healthy)
                healthy = answer(question, self.translator)
            finally:  # after Ctrl-C as well
                exchange(self.function, wrong)
            print(f"broken:  {answer(question, self.translator)}\nhealthy: {healthy}")

    def hint(self) -> None:
        """Prints the question to ask; when asked again, an idea, and then the file."""
        ask = f"case.ask({self.fault.decides!r})"
        file = f"it is in {file_of(self.function).name}"
        print((ask, self.fault.hint, file)[min(self.hints, 2)])
        self.hints += 1

    def accuse(self, name: str) -> None:
        """Says whether it is this function; if it is, heals it.

        A method has its class in front: ``"Residual.forward"``. Three wrong suspects
        are free, and each question asked allows three more.
        """
        try:
            suspect = function_of(name)
        except LookupError as error:
            return print(error)
        if not self.is_open:
            print(f"nothing is broken: book.plant({self.number}) breaks it again")
        elif len(self.accused - {suspect}) >= 3 * (1 + len(self.asked)):
            questions = [
                f'"{question}"' for question in QUESTIONS if question not in self.asked
            ]
            suggestion = ", ".join(questions) or "for case.hint()"
            print(f"no more suspects before you ask {suggestion}")
        elif suspect is self.function:
            print(f"yes: {self.fault.wrong}\nnot: {self.fault.right}")
            self.heal()
        else:
            self.accused.add(suspect)
            file = file_of(suspect)
            is_same_file = file == file_of(self.function)
            but = f"not {name}, but something else in {file.name}"
            print(but if is_same_file else f"no, it is not in {file.name}")

    def heal(self) -> None:
        """Repairs the library without revealing what was broken."""
        if self.is_open:
            exchange(self.function, self.healthy)
            for writer, code in WRITERS.items():
                writer.__code__ = code
            print(f"case {self.number} is healed")


def refuse_lock(*_: Any, **__: Any) -> Iterator[None]:
    """``refuse`` for a generator, whose code only a generator's may replace."""
    from nmt_book.yours.symptoms import refuse

    refuse()
    yield


# What writes models, with its code: a run locks its folder before it trains.
WRITERS: dict[Any, CodeType] = {
    function: function.__code__
    for function in (
        inspect.unwrap(RunFolder.lock),
        model_file.save,
        export_hugging_face,
    )
}
_planted: list[Case] = []  # the last one


def plant(number: int) -> Case:
    """Breaks one function of the library in this kernel, and prints a symptom.

    An earlier case is healed first. Each of ``PUZZLES`` has its number, from 1.
    """
    if number not in range(1, len(PUZZLES) + 1):
        raise ValueError(f"no case {number!r}: choose from 1 to {len(PUZZLES)}")
    heal()
    right_texts()  # while nothing is broken
    case = Case(int(number))
    _planted[:] = [case]
    try:
        exchange(case.function, wrong_code(case.fault))
        for writer in WRITERS:
            is_lock = inspect.isgeneratorfunction(writer)
            writer.__code__ = (refuse_lock if is_lock else refuse).__code__
        print(f"case {case.number}: one function of nmt_lib is broken in this kernel")
        for question in ("text", "loss"):
            print(answer(question, case.translator))
    except BaseException:  # Ctrl-C: the reader gets no case that she could heal
        case.heal()
        raise
    return case


def heal() -> None:
    """Repairs what is broken in this kernel, if anything is."""
    for case in _planted:
        case.heal()


def answer(question: str, translator: Translator) -> str:
    try:
        return QUESTIONS[question](translator)
    except Exception as error:  # the broken library may stop anywhere
        return f"it stops with {type(error).__name__}: {error}"


def exchange(function: FunctionType, code: CodeType) -> None:
    """Replaces the code of a function, and drops what the old code computed.

    ``torch.compile`` notices by itself.
    """
    function.__code__ = code
    training_batches.cache_clear()


def function_of(name: str) -> FunctionType:
    """A function of the library by its public name, without decorators around it.

    Raises:
        LookupError: there is no such function.
    """
    member: Any = import_module("nmt_lib")
    try:
        name_in_nmt, *attributes = name.split(".")
        member = getattr(member, name_in_nmt)
        for part in attributes:
            member = inspect.getattr_static(member, part)
        function = inspect.unwrap(member)
    except (AttributeError, ValueError):
        function = None
    if not isinstance(function, FunctionType):
        raise LookupError(
            f"nmt_lib has no function {name!r}: a function of nmt. is "
            f"{PUZZLES[0].function!r}, a method has its class, {PUZZLES[4].function!r}"
        )
    return function


def file_of(function: FunctionType) -> Path:
    """The file that a function is in."""
    return Path(function.__code__.co_filename)


def wrong_code(fault: Fault) -> CodeType:
    """The code of the function, compiled with the mistake in it."""
    file = file_of(function_of(fault.function))
    source = file.read_text(encoding="utf-8").replace(fault.right, fault.wrong)
    code = compile(source, file, "exec", dont_inherit=True)
    for name in fault.function.split("."):
        inner = [part for part in code.co_consts if isinstance(part, CodeType)]
        code = next(part for part in inner if part.co_name == name)
    return code


@contextmanager
def broken(fault: Fault | None) -> Iterator[None]:
    """The library with a mistake in it; with None, as it is."""
    if fault is None:
        yield
        return
    function = function_of(fault.function)
    code = function.__code__
    function.__code__ = wrong_code(fault)
    try:
        yield
    finally:
        function.__code__ = code
