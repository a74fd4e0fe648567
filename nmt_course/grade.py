"""Marks a folder of submissions: ``make grade DIR=…`` writes marks as CSV and feedback
as HTML.

``DIR`` holds a folder for each student (nbgrader's ``submitted/`` is one), one for each
assignment, or a file for each
student, named ``ada_A1_tokenization.ipynb``. Each submission is marked in a process of
its own, with limits from within
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
import psutil
import torch

from . import sandbox
from .assignment import Assignment
from .marking import Private, mark
from .remote import Gone
from .report import WORK, Marks, Report, letters
from .sandbox import PROCESSES, address_space
from .submissions import Submission, Unreadable, contents, find, read

ROOT = Path(__file__).resolve().parent.parent
LINUX = sys.platform == "linux"  # a process that is forked has imported torch already
CONTEXT: Any = get_context("fork" if LINUX else "spawn")
TOGETHER = 3 << 30  # bytes of all processes of a submission, with what they have loaded
MARKING = 1 << 30  # bytes of the process that marks it, beyond what it has loaded
UNKNOWN = (
    "it is not to be seen which assignment this is: name the file like the assignment"
)
Course = dict[str, Assignment]


def load_course(folder: Path) -> Course:
    """What ``make class`` wrote: each source with its release."""
    pairs = [
        (p, folder / "release" / p.parent.name / p.name)
        for p in sorted(folder.glob("source/*/*.ipynb"))
    ]
    return {
        source.stem: Assignment(
            *(nbformat.read(path, as_version=4) for path in (source, released))
        )
        for source, released in pairs
        if released.exists()
    }


def identify(path: Path, course: Course) -> str:
    """The assignment by the ids of the cells, which are looked for in the text: who
    knows what is in the file."""
    try:
        ids = set(re.findall(rb'"grade_id": *"([\w.-]+)"', contents(path)))
    except Unreadable:
        ids = set()
    shared = {
        n: sum(c.metadata.nbgrader.grade_id.encode() in ids for c in course[n].cells)
        for n in course
    }
    best = max(shared, key=shared.__getitem__)
    return best if shared[best] or len(course) == 1 else ""


def mark_file(
    submission: Submission, course: Course, seconds: float, private: Private
) -> Marks:
    """Whatever the file is, there are marks, or a note that says why not."""
    marks = unmarked(submission, course)
    try:
        if submission.problem or not submission.assignment:
            raise Unreadable(submission.problem or UNKNOWN)
        cells = read(submission.path)
        marks.work = "\n\n".join(cell.source for cell in cells)[:WORK]
        return replace(
            mark(course[submission.assignment], cells, seconds, private),
            work=marks.work,
        )
    except Unreadable as error:
        marks.stop(f"{error}")
    except (Exception, Gone) as error:
        marks.stop(f"could not be marked ({type(error).__name__}: {error})"[:300])
    return marks


def unmarked(submission: Submission, course: Course) -> Marks:
    return Marks(course[submission.assignment].parts() if submission.assignment else [])


class Job:
    """A process that marks one submission. It is watched from outside, with all that it
    has started: limits of the
    kernel are one process's, and a process can start others."""

    def __init__(
        self, submission: Submission, course: Course, seconds: float, private: Private
    ) -> None:
        self.submission = submission
        self.pipe, theirs = CONTEXT.Pipe(duplex=False)
        self.process = CONTEXT.Process(
            target=_work, args=(theirs, submission, course, seconds, private)
        )
        self.process.start()
        theirs.close()
        self.until = time.monotonic() + 12 * seconds + 60
        self.peak, self.stopped = 0, ""  # bytes; why something was ended
        self.marks: Marks | None = None  # None: it has died

    def ended(self) -> bool:
        """To be asked several times a second."""
        late = time.monotonic() > self.until
        self.stopped = (
            "marking it takes too long"
            if late
            else self.stop_if_too_much() or self.stopped
        )
        if not (late or self.pipe.poll()):
            return False
        with suppress(EOFError, OSError):
            self.marks = None if late else self.pipe.recv()
        stop([*children(self.process.pid), self.process])
        self.process.join()
        self.pipe.close()
        return True

    def stop_if_too_much(self) -> str:
        """Ends the student's processes when they take too much, and says so."""
        started = children(self.process.pid)
        used = sum(map(memory, started))
        self.peak = max(self.peak, used)
        if used <= TOGETHER and len(started) <= PROCESSES:
            return ""
        stop(started)  # the first is bubblewrap: what it has started ends with it
        return (
            f"its processes take more than {TOGETHER >> 20} MB, or are more than "
            f"{PROCESSES}: they were ended"
        )


def children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def memory(process: psutil.Process) -> int:
    """Bytes; what several processes share is divided among them."""
    with suppress(psutil.Error):
        used = process.memory_full_info()
        return int(getattr(used, "pss", used.rss))
    return 0


def stop(processes: list[Any]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def _work(
    pipe: Connection,
    submission: Submission,
    course: Course,
    seconds: float,
    private: Private,
) -> None:
    """In the process of its own. Nothing of it is seen in the terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    if LINUX:
        resource.setrlimit(
            resource.RLIMIT_AS,
            (address_space(MARKING), resource.getrlimit(resource.RLIMIT_AS)[1]),
        )
    pipe.send(mark_file(submission, course, seconds, private))


def mark_all(
    submissions: list[Submission],
    course: Course,
    seconds: float,
    private: Private,
    jobs: int,
) -> Iterator[tuple[Submission, Marks]]:
    """Marks as they come. Where a process has died by itself, the submission is tried
    once more."""
    waiting, again, running = deque(submissions), set[Submission](), list[Job]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Job(waiting.popleft(), course, seconds, private))
            connection.wait([job.pipe for job in running], 0.2)
            for job in [job for job in running if job.ended()]:
                running.remove(job)
                if not (job.marks or job.stopped or job.submission in again):
                    again.add(job.submission)
                    waiting.append(job.submission)
                    continue
                marks = job.marks or unmarked(job.submission, course)
                if job.stopped or not job.marks:
                    marks.stop(
                        job.stopped
                        or "the process that marks it ended by itself, twice"
                    )
                marks.megabytes = job.peak >> 20
                yield job.submission, marks
    finally:
        stop([job.process for job in running])


def show(submission: Submission, marks: Marks) -> None:
    """A line in the terminal, without anything that a terminal would obey."""
    score = (
        f"{marks.score:g} of {marks.of:g}, {marks.open} answers to read"
        if marks.parts
        else "not marked"
    )
    line = (
        f"{submission.student} {submission.assignment}: {score}, "
        f"{len(marks.notes)} notes, {marks.seconds:.1f} s"
    )
    print(" ".join(letters(line).split())[:300], flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--course",
        type=Path,
        default=ROOT / "build/class",
        help="what make class wrote",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/grades")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="for a cell, and for the tests of a part",
    )
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="without a sandbox, for a class that you trust",
    )
    options = parser.parse_args()
    try:
        report = grade(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    unread = sum(marks.open for _, marks in report.results)
    print(
        
            f"{unread} written answers to read: put points into "
            f"{options.out}/written.csv, then make grade again"
        
    )
    look = sum("LOOK" in " ".join(marks.notes) for _, marks in report.results)
    print(f"{look} submissions ask for a look (PLEASE LOOK in the notes)")
    return 0


def grade(options: argparse.Namespace) -> Report:
    """Finds, marks, writes.

    Raises:
        ValueError, OSError: why it does not, in one sentence.
    """
    start, folder, home = (
        time.time(),
        options.folder.resolve(),
        options.course.resolve(),
    )
    torch.set_num_threads(1)
    course = load_course(home)
    if not course:
        raise ValueError(
            
                f"{options.course} has no assignment in source/ and release/: run "
                "make class first"
            
        )
    if not folder.is_dir():
        raise ValueError(f"no folder {options.folder}")
    if not options.trusted and (reason := sandbox.unavailable()):
        raise ValueError(
            
                f"{reason}; or say --trusted (make grade TRUSTED=1), for a class "
                "that you trust"
            
        )
    submissions = find(folder, course, lambda path: identify(path, course))
    if not submissions:
        raise ValueError(f"no notebook below {options.folder}")
    report = Report(options.out)
    report.write()
    private = (
        None
        if options.trusted
        else (home, folder, options.out.resolve(), ROOT / "notebooks")
    )
    for submission, marks in mark_all(
        submissions, course, options.seconds, private, max(1, options.jobs)
    ):
        report.add(submission, marks)
        show(submission, marks)
    took = f"{len(report.results)} submissions in {time.time() - start:.0f} s"
    print(f"\n{took}: {options.out}/marks.csv, parts.csv, feedback/*.html")
    return report


if __name__ == "__main__":
    sys.exit(main())
