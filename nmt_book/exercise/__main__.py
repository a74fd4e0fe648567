"""Shows what one chapter's exercises say: ``python -m nmt_book.exercise chapter04``."""

from __future__ import annotations

import sys

from .exercise import chapter_of
from .progress import exercises, modules


def main() -> None:
    for module in modules():
        if not sys.argv[1:] or chapter_of(module.__name__) in sys.argv[1:]:
            for exercise in exercises(module):
                print(f"{exercise!r}\n")
                print(
                    *(f"  hint {i}: {h}" for i, h in enumerate(exercise.hints, 1)),
                    sep="\n",
                )
                print("  right answer:", exercise.verdict(exercise.right))
                for why, functions in exercise.mistakes.items():
                    for mistake in functions:
                        message = exercise.verdict(mistake)
                        is_meant = message == f"not yet: {why}"
                        remark = "" if is_meant else f"   <- meant: {why}"
                        print(f"  {message}{remark}")
                print()


if __name__ == "__main__":
    main()
