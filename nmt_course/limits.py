"""What a submission may use: limits of the kernel for each process, and a watch over all of them together."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass

import psutil

PROCESSES = 64


@dataclass(frozen=True)
class Limits:
    """For one submission. Seconds are of the clock, unless it says otherwise."""

    cell: float = 10.0  # a cell of the student
    part: float = 10.0  # the tests of a part
    all: float = 60.0  # everything; parts that are not reached are failed
    processor: int = 90  # seconds of processor time of one process
    memory: int = 2 << 30  # bytes of one process, beyond what Python and torch take
    together: int = 3 << 30  # bytes of all processes of the submission, with what they have loaded
    marking: int = 1 << 30  # bytes of the process that marks it, beyond what it has loaded
    restarts: int = 3  # cells that may end the process, and are left out in another try


def address_space(memory: int) -> int:
    """The limit that leaves this process so many bytes beyond what is mapped already."""
    return psutil.Process().memory_info().vms + memory


def limit(memory: int, seconds: int, processes: int = 0) -> None:
    """Of this process and each that it starts: memory beyond what is mapped already, processor time, open files, size
    of a file; in a sandbox, processes of its user. Soft and hard limits, so that they cannot be raised again."""
    limits = {
        resource.RLIMIT_AS: address_space(memory),
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 64 << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 256,
    }
    if processes:
        limits[resource.RLIMIT_NPROC] = processes
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


class Watch:
    """Looks at all processes that one process has started, and at theirs: memory and number together.

    A limit of the kernel is one process's, and a process can start others.
    """

    def __init__(self, pid: int, memory: int) -> None:
        self.parent, self.memory, self.peak = psutil.Process(pid), memory, 0

    def stop_if_too_much(self) -> str:
        """Ends them all when they take too much, and says so. To be called several times a second."""
        try:
            processes = self.parent.children(recursive=True)
        except psutil.Error:
            return ""
        used = sum(map(_memory, processes))
        self.peak = max(self.peak, used)
        if used <= self.memory and len(processes) <= PROCESSES:
            return ""
        for process in processes:  # the first is bubblewrap: what it has started ends with it
            with contextlib.suppress(psutil.Error):
                process.kill()
        if len(processes) > PROCESSES:
            return f"its cells start more than {PROCESSES} processes"
        return f"its processes take more than {self.memory >> 20} MB together"


def _memory(process: psutil.Process) -> int:
    """Bytes; what several processes share is divided among them."""
    try:
        used = process.memory_full_info()
        return int(getattr(used, "pss", used.rss))
    except psutil.Error:
        return 0
