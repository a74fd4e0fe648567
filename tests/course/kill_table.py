"""``make kill-table``: every wrong answer alone, with the parts that fail and what the student is told; then the
right ones."""

from __future__ import annotations

import sys


def main() -> int:
    from tests.course import kit  # here: each student's process imports this file

    from nmt_course import course
    from nmt_course.assignment import Assignment

    chosen, marker, bad = sys.argv[1:], kit.Marker(seconds=100), 0
    for name, table in kit.tables().items():
        if chosen and name.split("_")[0] not in chosen:
            continue
        source = course.load(name)
        assignment = Assignment(source, course.release(source))
        print(
            f"\n## {name}: {len(table.WRONG)} wrong answers\n\n"
            "| wrong answer | fails in | the student is told |\n|---|---|---|"
        )
        for title, wrong in table.WRONG.items():
            marks = marker.mark(
                assignment,
                kit.cells(
                    kit.submission(source, {wrong.cell: kit.wrong_code(source, wrong)})
                ),
            )
            failed = kit.failed(marks)
            says = next(
                (part.says for part in marks.parts if part.name in failed), ""
            ).replace("|", "\\|")
            bad += failed != set(wrong.fails)
            mark = (
                ""
                if failed == set(wrong.fails)
                else f" **expected {', '.join(wrong.fails)}**"
            )
            print(
                f"| {title} | {', '.join(sorted(failed)) or 'nothing'}{mark} | {says[:110]} |",
                flush=True,
            )
        print(
            f"\n## {name}: other right answers\n\n| answer | variants that pass |\n|---|---|"
        )
        for cell, variants in table.RIGHT.items():
            passed = []
            for title, code in variants.items():
                failed = kit.failed(
                    marker.mark(
                        assignment, kit.cells(kit.submission(source, {cell: code}))
                    )
                )
                bad += bool(failed)
                passed.append(
                    title
                    + (f" **fails in {', '.join(sorted(failed))}**" if failed else "")
                )
            print(f"| {cell} | {len(passed)}: {'; '.join(passed)} |", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
