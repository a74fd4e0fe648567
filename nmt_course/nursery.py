"""Starts students' processes, by forking one that has imported torch already. It knows no test and no solution."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import Any

from . import sandbox
from .assignment import Assignment
from .limits import PROCESSES, Limits
from .remote import Died, Wire, within

Private = Iterable[Path] | None  # what a sandbox must not show; None: no sandbox


class Nursery:
    """The process that students' processes are copies of, in a sandbox without what an assignment asks to write."""

    def __init__(self, blocked: list[str], private: Private) -> None:
        self.control, theirs = Pipe()
        self.processes = 0 if private is None else PROCESSES
        command = [sys.executable, "-m", f"{__package__}.student", str(theirs.fileno())]
        with contextlib.ExitStack() as stack:
            handles = [stack.enter_context(theirs).fileno()]
            if private is not None:
                rules = stack.enter_context(sandbox.filters())
                handles.append(rules.fileno())
                command = [*sandbox.command(blocked, private, rules), *command]
            self.process = subprocess.Popen(
                command, pass_fds=handles, env=None if private is None else {"PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip

    def visit(self, assignment: Assignment, limits: Limits) -> Wire:
        """A fresh copy of the process, in place of the one before; what is said to it goes over the wire.

        Raises:
            Gone: there is none.
        """
        job: dict[str, Any] = {"blocked": assignment.blocked, "helpers": assignment.helpers, "warm": assignment.warm}
        job |= {"processes": self.processes, **asdict(limits)}
        ours, theirs = Pipe()
        with theirs:
            try:
                self.control.send_bytes(json.dumps(job).encode())
                send_handle(self.control, theirs.fileno(), self.process.pid)
            except OSError:
                raise Died() from None
        wire = Wire(ours)
        with within(300):
            wire.ask("call", len, ("",))  # the first answer says that everything is loaded
        return wire

    def close(self) -> str:
        """Ends it, and its copies; what it wrote to its standard error."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.communicate(timeout=5)[1].decode(errors="replace")
        return ""
