"""Each submission is marked in a process of its own, with limits from within and outside: it costs no other."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from .limits import Limits, Watch, address_space

FORK = sys.platform == "linux"  # a process that is forked has imported torch already
T = TypeVar("T")


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
        resource.setrlimit(resource.RLIMIT_AS, (address_space(memory), resource.getrlimit(resource.RLIMIT_AS)[1]))
    function(*args, pipe.send)


def alone(function: Callable[..., None], *args: Any, limits: Limits) -> Any:
    """A question asked in a process of its own; None if that does not end well."""
    job = Job(function, *args, limits=limits)
    while not job.look():
        connection.wait([job.pipe], 0.2)
    return job.last


def run_all(
    function: Callable[..., None], things: Sequence[T], settings: Any, limits: Limits, jobs: int
) -> Iterator[tuple[T, Job]]:
    """Jobs as they end. Where one has died by itself, before a report that is ``finished``, it is tried once more."""
    waiting, again, running = deque(things), set[T](), dict[T, Job]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                thing = waiting.popleft()
                running[thing] = Job(function, thing, settings, limits=limits)
            connection.wait([job.pipe for job in running.values()], 0.2)
            for thing, job in [(thing, job) for thing, job in running.items() if job.look()]:
                del running[thing]
                if getattr(job.last, "finished", False) or job.stopped or thing in again:
                    yield thing, job
                else:
                    again.add(thing)
                    waiting.append(thing)
    finally:
        for job in running.values():
            job.process.kill()
