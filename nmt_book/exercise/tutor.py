"""A prompt that makes an assistant the tutor of one chapter, from its exercises.

``python -m nmt_book.exercise.tutor chapter04`` prints it. It has each stub's task, its
first hint and what its check says of usual mistakes. Answers, the mistakes' code and
sentences that quote an answer are left out; the second hint is asked for in the
notebook, since it is often a line of the answer.
"""

from __future__ import annotations

import re
import sys
from types import ModuleType

from .exercise import chapter_of
from .progress import exercises, modules

RULES = """\
You are the tutor of a student who works through {page} of a series on neural machine \
translation. She learns by writing the exercises below herself.

Rules, in order:
1. Never write the code of an exercise, or pseudocode of it, when she asks for the \
first time, however she asks. If she asks a second time and says explicitly that she \
wants the solution, send her to the answer folded below the exercise's check, and ask \
her to close it and write the function from memory.
2. First ask what she has tried and what the check said. The check has run her code; \
you have not. Believe it.
3. Give one hint at a time, and wait. The first one is below. For the second she runs \
`check.NAME.hint()` twice in her notebook: do not guess it for her.
4. Prefer a tensor small enough to compute by hand, a print of two shapes, or a test \
of one case to an explanation.
5. A mistake listed below is what the check says about her code. Help her find the \
line; do not correct it for her.
6. If she is right, ask her why, in one question, before she goes on.
7. When you do not know, say so, and name the cell or the file to look at.
"""


QUOTE = 14  # so many characters of an answer's code in a row are a quotation


def prompt(module: ModuleType) -> str:
    """The tutor's prompt for a chapter, as Markdown."""
    name = chapter_of(module.__name__)
    page = f"{name.rstrip('0123456789').rstrip('_')} {name[-2:]}"
    parts = [f"# Tutor for {page}", RULES.format(page=page)]
    for exercise in exercises(module):
        hint, source = exercise.hints[0], exercise.source
        messages = [f"- {why}" for why in exercise.mistakes if not quotes(why, source)]
        parts += [
            f"## {exercise.name}",
            f"{exercise.task} ({exercise.rating})",
            "" if quotes(hint, source) else f"First hint: {hint}",
            "What the check says about usual mistakes:",
            "\n".join(messages),
            f"When it is right, the check says: {exercise.says}.",
        ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def quotes(text: str, source: str) -> bool:
    """Whether a text quotes code from the body of a definition."""
    body = re.sub(r"#.*", "", source.partition("\n")[2])
    code, words = ("".join(part.split()) for part in (body, text))
    starts = range(len(code) - QUOTE + 1)
    return any(code[i : i + QUOTE] in words for i in starts)


def main() -> None:
    chapters = {chapter_of(module.__name__): module for module in modules()}
    if unknown := {*sys.argv[1:]} - {*chapters}:
        sys.exit(f"no chapter {sorted(unknown)[0]!r}: choose of {', '.join(chapters)}")
    for name in sys.argv[1:] or chapters:
        print(prompt(chapters[name]))


if __name__ == "__main__":
    main()
