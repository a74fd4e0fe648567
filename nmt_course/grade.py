"""Marks a folder of submissions: ``make grade DIR=…`` writes marks as CSV and feedback as HTML.

``DIR`` holds a folder for each student (nbgrader's ``submitted/`` is one), one for each assignment, or a file for each
student, named ``ada_A1_tokenization.ipynb``.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import nbformat
import torch

from . import sandbox
from .marking import Assignment, Limits, Marker, Marks, Unreadable, read
from .remote import Gone
from .report import Report, Result, Submission, clean

FORK = sys.platform == "linux"  # a process that is forked has imported torch already
ROOT = Path(__file__).resolve().parent.parent
NOT_HANDED_IN = re.compile(r"\.ipynb_checkpoints|__MACOSX|__pycache__|\._.*|\.DS_Store|\.git|desktop\.ini|Thumbs\.db")
UNKNOWN = "it is not to be seen which assignment this is: name the file like the assignment"


@dataclass(frozen=True)
class Settings:
    course: dict[str, Path]  # assignment → its source
    limits: Limits
    trusted: bool = False
    private: tuple[Path, ...] = ()


# ----------------------------------------------------------------------- finding submissions


def find(folder: Path, settings: Settings) -> list[Submission]:
    """One for each student and assignment. What belongs to no assignment is listed too: nothing is lost silently."""
    found: dict[tuple[str, str], Submission] = {}
    beside: list[Submission] = []
    for path, problem in walk(folder):
        inside = path.relative_to(folder)
        notebook = path.suffix.lower() == ".ipynb"
        name = named(inside, settings.course)
        if notebook and not name and not problem:
            name = alone(identify, path, settings) or ""
        folders = [part for part in inside.parts[:-1] if not is_assignment(part, settings.course)]
        short = name.partition("_")[0]
        stem = re.sub(rf"(?i)^({name}|{short})[ _-]+|[ _-]+({name}|{short})$", "", path.stem) if name else path.stem
        submission = Submission((folders or [stem])[0], name, path, problem=problem)
        if not notebook and not problem:
            beside.append(submission)  # timestamps, pictures and other things
            continue
        before = found.get((submission.student, name))
        if before:
            best = path if path.stem == name or before.problem else before.path
            note = f"PLEASE LOOK: more than one file: {best.relative_to(folder)} was marked"
            submission = replace(before if best == before.path else submission, note=note)
        found[submission.student, name] = submission
    for submission in beside:
        if submission.student not in {student for student, _ in found}:
            found[submission.student, submission.assignment] = replace(submission, problem="this is no notebook")
    return list(found.values())


def walk(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files, and why one cannot be looked at. Links are not followed."""
    closed: list[str] = []
    for place, folders, files in os.walk(folder, onerror=lambda error: closed.append(error.filename)):
        folders[:] = sorted(name for name in folders if not NOT_HANDED_IN.fullmatch(name))
        for name in [name for name in folders if os.path.islink(os.path.join(place, name))]:
            yield Path(place, name), "this is a link to a folder, which is not followed"
        yield from ((Path(place, name), "") for name in sorted(files) if not NOT_HANDED_IN.fullmatch(name))
    yield from ((Path(name, "…"), "this folder cannot be read") for name in closed)


def named(inside: Path, course: dict[str, Path]) -> str:
    """The assignment by the number in the file's name, else in its folders'."""
    for text in reversed(inside.parts):
        for name in course:
            number = name.partition("_")[0]
            if re.search(rf"(?<![A-Za-z0-9]){number}(?![A-Za-z0-9])", text.replace("_", " "), re.IGNORECASE):
                return name
    return ""


def is_assignment(folder: str, course: dict[str, Path]) -> bool:
    return folder.lower() in {text.lower() for name in course for text in (name, name.partition("_")[0])}


def identify(path: Path, settings: Settings, report: Callable[[Any], Any]) -> None:
    """The assignment by the ids of the cells."""
    try:
        ids = {cell.grade_id for cell in read(path)} - {""}
    except Unreadable:
        ids = set()
    course = settings.course
    shared = {
        name: len(ids & {c.metadata.nbgrader.grade_id for c in nbformat.read(course[name], 4).cells}) for name in course
    }
    best = max(shared, key=shared.__getitem__)
    report(best if shared[best] or len(course) == 1 else "")


# ------------------------------------------------------- a process for each submission


class Job:
    """One submission, or one question about a file, in a process of its own, with limits from within and outside.

    Args:
        function: gets the arguments, and a function by which it reports: the last report is the result.
    """

    def __init__(self, function: Callable[..., None], *args: Any, limits: Limits) -> None:
        context: Any = get_context("fork" if FORK else "spawn")
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(function, args, limits.marking, theirs))
        self.process.start()
        theirs.close()
        self.watch = sandbox.Watch(self.process.pid, limits.together)
        self.until = time.monotonic() + 2 * limits.all + 60
        self.last: Any = None
        self.stopped: list[str] = []  # why, and what
        self.done = False

    def look(self) -> bool:
        """To be called several times a second; whether it has ended."""
        if said := self.watch.stop_if_too_much():
            self.stopped.append(f"PLEASE LOOK: {said}: they were ended")
        if time.monotonic() > self.until and not self.done:
            self.stopped.append("PLEASE LOOK: marking it took too long, and was ended")
            self.end()
        try:
            while self.pipe.poll():
                self.last = self.pipe.recv()
        except (EOFError, OSError):
            self.end()
        return self.done

    def end(self) -> None:
        if not self.done:
            self.done = True
            self.process.join(1)
            self.process.kill()
            self.process.join()
            self.pipe.close()


def _work(function: Callable[..., None], args: tuple[Any, ...], memory: int, pipe: Connection) -> None:
    """In the process of its own. Nothing of it is seen in the terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    if FORK:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with the process that started it
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    function(*args, pipe.send)


def alone(function: Callable[..., None], path: Path, settings: Settings) -> Any:
    """A question about one file, asked in a process of its own; None if that does not end well."""
    job = Job(function, path, settings, limits=replace(settings.limits, all=0))
    while not job.look():
        connection.wait([job.pipe], 0.2)
    return job.last


def mark_one(submission: Submission, settings: Settings, report: Callable[[Any], Any]) -> None:
    """In a process of its own: reports after each part, and at the end."""
    result = Result(submission, Marks([]))
    try:
        if submission.assignment:
            result.marks = unmarked(submission, settings)
        if submission.problem or not submission.assignment:
            raise Unreadable(submission.problem or UNKNOWN)
        cells = read(submission.path)
        result.handed_in([cell.source for cell in cells])
        assignment = assignment_of(settings.course[submission.assignment])

        def progress(marks: Marks) -> None:
            result.marks = marks
            report(result)

        with Marker(settings.limits, not settings.trusted, settings.private) as marker:
            result.marks = marker.mark(assignment, cells, progress)
        result.finished = True
    except Unreadable as error:
        result.stop(f"PLEASE LOOK: {error}")
    except (Exception, Gone) as error:
        result.stop(f"PLEASE LOOK: could not be marked ({type(error).__name__}: {error})"[:300])
    report(result)


@cache
def assignment_of(source: Path) -> Assignment:
    return Assignment(*(nbformat.read(path, as_version=4) for path in (source, released(source))))


def released(source: Path) -> Path:
    """The release that ``make class`` wrote with this source."""
    return source.parents[2] / "release" / source.parent.name / source.name


def unmarked(submission: Submission, settings: Settings) -> Marks:
    source = settings.course.get(submission.assignment)
    return Marks(assignment_of(source).parts() if source else [])


def mark_all(submissions: list[Submission], settings: Settings, jobs: int) -> Iterator[Result]:
    """Results as they come. Where a process has died by itself, the submission is tried once more."""
    waiting, again, running = deque(submissions), set[Submission](), dict[Submission, Job]()
    for name in {submission.assignment for submission in submissions} & set(settings.course):
        assignment_of(settings.course[name])  # once, before there are copies of this process
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                submission = waiting.popleft()
                running[submission] = Job(mark_one, submission, settings, limits=settings.limits)
            connection.wait([job.pipe for job in running.values()], 0.2)
            for submission, job in [(s, job) for s, job in running.items() if job.look()]:
                del running[submission]
                result: Result | None = job.last
                if not (result and result.finished) and not job.stopped and submission not in again:
                    again.add(submission)
                    waiting.append(submission)
                    continue
                result = result or Result(submission, unmarked(submission, settings))
                if not result.finished:
                    result.stop(*(job.stopped or ["PLEASE LOOK: the process that marks it ended by itself, twice"]))
                else:
                    result.marks.notes += dict.fromkeys(job.stopped)
                result.marks.megabytes = job.watch.peak >> 20
                yield result
    finally:
        for job in running.values():
            job.process.kill()


def show(result: Result) -> None:
    marks, submission = result.marks, result.submission
    rest = f" + {marks.open} written answer{'s' * (marks.open > 1)} to read" if marks.open else ""
    notes = f"; {len(marks.notes)} note{'s' * (len(marks.notes) > 1)}" if marks.notes else ""
    score = f"{marks.score:g}" if marks.parts else "not marked"
    line = f"{submission.student} {submission.assignment}: {score}{rest} ({marks.seconds:.1f} s{notes})"
    print(clean(line)[:300], flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--course", type=Path, default=ROOT / "build/class", help="what make class wrote")
    parser.add_argument("--out", type=Path, default=ROOT / "build/grades")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=Limits.part, help="for a cell, and for the tests of a part")
    parser.add_argument("--trusted", action="store_true", help="without a sandbox, for a class that you trust")
    options = parser.parse_args()
    course = {path.stem: path for path in sorted(options.course.resolve().glob("source/*/*.ipynb"))}
    course = {name: path for name, path in course.items() if released(path).exists()}
    if not course or not options.folder.is_dir():
        here = f"{options.course} has no assignment in source/ and release/: run make class first"
        print(f"error: {f'no folder {options.folder}' if course else here}", file=sys.stderr)
        return 2
    if not options.trusted and (reason := sandbox.unavailable()):
        print(f"error: {reason}; or say --trusted (make grade TRUSTED=1), for a class that you trust", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    limits = replace(Limits(), cell=options.seconds, part=options.seconds, all=6 * options.seconds)
    private = (options.course.resolve(), options.folder.resolve(), options.out.resolve(), ROOT / "notebooks")
    settings = Settings(course, limits, options.trusted, private)
    start = time.time()
    try:
        report = Report(options.out)
        submissions = find(options.folder.resolve(), settings)
        if not submissions:
            raise ValueError(f"no notebook below {options.folder}")
        report.start()
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        for result in mark_all(submissions, settings, max(1, options.jobs)):
            report.add(result)
            show(result)
    finally:
        report.finish()
    took = f"{len(report.results)} submissions in {time.time() - start:.0f} s"
    print(f"\n{took}: {options.out}/marks.csv, parts.csv, feedback/*.html")
    print(f"{report.open} written answers to read: put points into {options.out}/written.csv, then make grade again")
    print(f"{report.count('LOOK')} submissions ask for a look (PLEASE LOOK in the notes)")
    if others := report.count("another SEED"):
        print(f"{others} submissions belong to a class made with another SEED: make that class again before you grade")
    return 0


if __name__ == "__main__":
    sys.exit(main())
