"""Marks a folder of submissions: ``make grade DIR=…`` writes marks as CSV and feedback as HTML.

``DIR`` holds a folder for each student (nbgrader's ``submitted/`` is one), one for each assignment, or a file for each
student, named ``ada_A1_tokenization.ipynb``. Each submission is marked in a process of its own, with limits from within
and outside: it costs no other.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import nbformat
import torch

from . import sandbox
from .assignment import Assignment
from .marking import Private, mark
from .remote import Gone
from .report import Marks, Report, handed_in, letters
from .sandbox import Limits, Watch, address_space
from .submissions import Submission, Unreadable, contents, find, read

ROOT = Path(__file__).resolve().parent.parent
LINUX = sys.platform == "linux"  # a process that is forked has imported torch already
PROCESSES: Any = get_context("fork" if LINUX else "spawn")
UNKNOWN = "it is not to be seen which assignment this is: name the file like the assignment"
Course = dict[str, Assignment]


def load_course(folder: Path) -> Course:
    """What ``make class`` wrote: each source with its release."""
    pairs = [(p, folder / "release" / p.parent.name / p.name) for p in sorted(folder.glob("source/*/*.ipynb"))]
    return {source.stem: Assignment(*(nbformat.read(path, as_version=4) for path in (source, released)))
            for source, released in pairs if released.exists()}  # fmt: skip


def identify(path: Path, course: Course) -> str:
    """The assignment by the ids of the cells, which are looked for in the text: who knows what is in the file."""
    try:
        ids = set(re.findall(rb'"grade_id": *"([\w.-]+)"', contents(path)))
    except Unreadable:
        ids = set()
    shared = {n: sum(c.metadata.nbgrader.grade_id.encode() in ids for c in course[n].cells) for n in course}
    best = max(shared, key=shared.__getitem__)
    return best if shared[best] or len(course) == 1 else ""


def mark_file(submission: Submission, course: Course, limits: Limits, private: Private) -> Marks:
    """Whatever the file is, there are marks, or a note that says why not."""
    marks = unmarked(submission, course)
    try:
        if submission.problem or not submission.assignment:
            raise Unreadable(submission.problem or UNKNOWN)
        cells = read(submission.path)
        marks.work = handed_in([cell.source for cell in cells])
        return replace(mark(course[submission.assignment], cells, limits, private), work=marks.work)
    except Unreadable as error:
        marks.stop(f"{error}")
    except (Exception, Gone) as error:
        marks.stop(f"could not be marked ({type(error).__name__}: {error})"[:300])
    return marks


def unmarked(submission: Submission, course: Course) -> Marks:
    return Marks(course[submission.assignment].parts() if submission.assignment else [])


class Job:
    """A process that marks one submission; its ``marks`` stay None when it dies."""

    def __init__(self, submission: Submission, *args: Any, limits: Limits) -> None:
        self.submission = submission
        self.pipe, theirs = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=_work, args=(theirs, limits.marking, submission, *args))
        self.process.start()
        theirs.close()
        self.watch = Watch(self.process.pid, limits.together)
        self.until = time.monotonic() + 2 * limits.all + 60
        self.marks: Marks | None = None
        self.stopped = ""  # what was too much

    def ended(self) -> bool:
        """To be asked several times a second."""
        self.stopped = self.watch.stop_if_too_much() or self.stopped
        late = time.monotonic() > self.until
        if late:
            self.stopped = "marking it takes too long"
            self.watch.stop()
        elif not self.pipe.poll():
            return False
        with suppress(EOFError, OSError):
            self.marks = None if late else self.pipe.recv()
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return True


def _work(pipe: Connection, memory: int, *args: Any) -> None:
    """In the process of its own. Nothing of it is seen in the terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    if LINUX:
        resource.setrlimit(resource.RLIMIT_AS, (address_space(memory), resource.getrlimit(resource.RLIMIT_AS)[1]))
    pipe.send(mark_file(*args))


def mark_all(
    submissions: list[Submission], course: Course, limits: Limits, private: Private, jobs: int
) -> Iterator[tuple[Submission, Marks]]:
    """Marks as they come. Where a process has died by itself, the submission is tried once more."""
    waiting, again, running = deque(submissions), set[Submission](), list[Job]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Job(waiting.popleft(), course, limits, private, limits=limits))
            connection.wait([job.pipe for job in running], 0.2)
            for job in [job for job in running if job.ended()]:
                running.remove(job)
                if not (job.marks or job.stopped or job.submission in again):
                    again.add(job.submission)
                    waiting.append(job.submission)
                    continue
                marks = job.marks or unmarked(job.submission, course)
                if not job.marks:
                    marks.stop(job.stopped or "the process that marks it ended by itself, twice")
                elif job.stopped:
                    marks.notes.append(f"PLEASE LOOK: {job.stopped}: they were ended")
                marks.megabytes = job.watch.peak >> 20
                yield job.submission, marks
    finally:
        for job in running:
            job.process.kill()


def show(submission: Submission, marks: Marks) -> None:
    """A line in the terminal, without anything that a terminal would obey."""
    rest = f" + {marks.open} written answer{'s' * (marks.open > 1)} to read" if marks.open else ""
    notes = f"; {len(marks.notes)} note{'s' * (len(marks.notes) > 1)}" if marks.notes else ""
    score = f"{marks.score:g}" if marks.parts else "not marked"
    line = f"{submission.student} {submission.assignment}: {score}{rest} ({marks.seconds:.1f} s{notes})"
    print(" ".join(letters(line).split())[:300], flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--course", type=Path, default=ROOT / "build/class", help="what make class wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "build/grades")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for a cell, and for the tests of a part")
    parser.add_argument("--trusted", action="store_true", help="without a sandbox, for a class that you trust")
    options = parser.parse_args()
    try:
        report = grade(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    unread = sum(marks.open for _, marks in report.results)
    print(f"{unread} written answers to read: put points into {options.out}/written.csv, then make grade again")
    print(f"{report.count('LOOK')} submissions ask for a look (PLEASE LOOK in the notes)")
    if others := report.count("another SEED"):
        print(f"{others} submissions belong to a class made with another SEED: make that class again before you grade")
    return 0


def grade(options: argparse.Namespace) -> Report:
    """Finds, marks, writes.

    Raises:
        ValueError, OSError: why it does not, in one sentence.
    """
    start, folder, home = time.time(), options.folder.resolve(), options.course.resolve()
    torch.set_num_threads(1)
    course = load_course(home)
    if not course:
        raise ValueError(f"{options.course} has no assignment in source/ and release/: run make class first")
    if not folder.is_dir():
        raise ValueError(f"no folder {options.folder}")
    if not options.trusted and (reason := sandbox.unavailable()):
        raise ValueError(f"{reason}; or say --trusted (make grade TRUSTED=1), for a class that you trust")
    submissions = find(folder, course, lambda path: identify(path, course))
    if not submissions:
        raise ValueError(f"no notebook below {options.folder}")
    report = Report(options.out)
    report.write()
    limits = Limits(seconds=options.seconds, all=6 * options.seconds)
    private = None if options.trusted else (home, folder, options.out.resolve(), ROOT / "notebooks")
    for submission, marks in mark_all(submissions, course, limits, private, max(1, options.jobs)):
        report.add(submission, marks)
        show(submission, marks)
    took = f"{len(report.results)} submissions in {time.time() - start:.0f} s"
    print(f"\n{took}: {options.out}/marks.csv, parts.csv, feedback/*.html")
    return report


if __name__ == "__main__":
    sys.exit(main())
