"""Each wrong answer, where it fails, and what the student is told: ``python -m
tests.course.kill_table A1``, or all of them by ``make test-class``."""

from __future__ import annotations

import sys

from tests.course import kit


def main() -> int:
    bad = 0
    for name in kit.NAMES:
        if sys.argv[1:] and name.partition("_")[0] not in sys.argv[1:]:
            continue
        of = kit.assignment(name)
        print(
            f"\n## {name}\n\n| answer | fails in | the student is told |\n|---|---|---|"
        )
        for title, (cell, code, fails) in kit.tries(name).items():
            marks = kit.mark(of, kit.submission(of, {cell: code}))
            wanted = "" if marks.failed() == set(fails) else f" **not {fails}**"
            bad += bool(wanted)
            told = next((said for said in marks.says.values() if said), "")
            where = ", ".join(sorted(marks.failed()))
            told = told.replace("|", "\\|")[:110]
            print(f"| {title} | {where}{wanted} | {told} |", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
