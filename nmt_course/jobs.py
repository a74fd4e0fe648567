"""Each submission is marked in a process of its own, with limits from within and outside: it costs no other."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any

from .assignment import Assignment
from .cells import Unreadable, read
from .limits import Limits, Watch, address_space
from .marking import Marker
from .marks import Marks, Result
from .page import handed_in
from .remote import Gone
from .submissions import Submission

FORK = sys.platform == "linux"  # a process that is forked has imported torch already
UNKNOWN = "it is not to be seen which assignment this is: name the file like the assignment"
Course = dict[str, Assignment]


class Job:
    """One submission, or one question about a file.

    Args:
        function: gets the arguments, and a function by which it reports: the last report is the result.
    """

    def __init__(self, function: Callable[..., None], *args: Any, limits: Limits) -> None:
        context: Any = get_context("fork" if FORK else "spawn")
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(function, args, limits.marking, theirs))
        self.process.start()
        theirs.close()
        self.watch = Watch(self.process.pid, limits.together)
        self.until = time.monotonic() + 2 * limits.all + 60
        self.last: Any = None
        self.stopped: list[str] = []  # why, and what

    def look(self) -> bool:
        """To be called several times a second, until it has ended: that is what it says."""
        if said := self.watch.stop_if_too_much():
            self.stopped.append(f"PLEASE LOOK: {said}: they were ended")
        ended = time.monotonic() > self.until
        if ended:
            self.stopped.append("PLEASE LOOK: marking it took too long, and was ended")
        try:
            while self.pipe.poll():
                self.last = self.pipe.recv()
        except (EOFError, OSError):
            ended = True
        if ended:
            self.process.join(1)
            self.process.kill()
            self.process.join()
            self.pipe.close()
        return ended


def _work(function: Callable[..., None], args: tuple[Any, ...], memory: int, pipe: Connection) -> None:
    """In the process of its own. Nothing of it is seen in the terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    if FORK:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with the process that started it
        resource.setrlimit(resource.RLIMIT_AS, (address_space(memory), resource.getrlimit(resource.RLIMIT_AS)[1]))
    function(*args, pipe.send)


def alone(function: Callable[..., None], *args: Any, limits: Limits) -> Any:
    """A question asked in a process of its own; None if that does not end well."""
    job = Job(function, *args, limits=limits)
    while not job.look():
        connection.wait([job.pipe], 0.2)
    return job.last


def mark_one(submission: Submission, course: Course, marker: Marker, report: Callable[[Any], Any]) -> None:
    """In a process of its own: reports after each part, and at the end."""
    result = unmarked(submission, course)

    def progress(marks: Marks) -> None:
        result.marks = marks
        report(result)

    try:
        if submission.problem or not submission.assignment:
            raise Unreadable(submission.problem or UNKNOWN)
        cells = read(submission.path)
        result.work = handed_in([cell.source for cell in cells])
        result.marks = marker.mark(course[submission.assignment], cells, progress)
        result.finished = True
    except Unreadable as error:
        result.stop(f"PLEASE LOOK: {error}")
    except (Exception, Gone) as error:
        result.stop(f"PLEASE LOOK: could not be marked ({type(error).__name__}: {error})"[:300])
    report(result)


def unmarked(submission: Submission, course: Course) -> Result:
    return Result(submission, Marks(course[submission.assignment].parts() if submission.assignment else []))


def mark_all(submissions: list[Submission], course: Course, marker: Marker, jobs: int) -> Iterator[Result]:
    """Results as they come. Where a process has died by itself, the submission is tried once more."""
    waiting, again, running = deque(submissions), set[Submission](), dict[Submission, Job]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                submission = waiting.popleft()
                running[submission] = Job(mark_one, submission, course, marker, limits=marker.limits)
            connection.wait([job.pipe for job in running.values()], 0.2)
            for submission, job in [(s, job) for s, job in running.items() if job.look()]:
                del running[submission]
                result: Result = job.last or unmarked(submission, course)
                if not (result.finished or job.stopped or submission in again):
                    again.add(submission)
                    waiting.append(submission)
                    continue
                if not result.finished and not job.stopped:
                    job.stopped.append("PLEASE LOOK: the process that marks it ended by itself, twice")
                result.stop(*job.stopped)
                result.marks.megabytes = job.watch.peak >> 20
                yield result
    finally:
        for job in running.values():
            job.process.kill()
