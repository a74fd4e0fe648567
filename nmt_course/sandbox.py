"""Shuts a student's process in: bubblewrap shows it Python, its packages and an empty folder, and nothing else.

It has its own processes, users, IPC and no network, and dies with the process that started it. What its processes may
use together is watched from outside (``Watch``). ``hide`` takes away what an assignment asks to write.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib.abc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

import psutil

WRITE_IT = "is what this assignment asks you to write, so it is not there while it is graded"
HERE = Path(__file__).resolve().parent
SPACE = 256 << 20  # bytes of the temporary folder
PROCESSES = 64
# Memory that belongs to no process and no folder, and doors of the kernel that no assignment needs.
FORBIDDEN = ("memfd_create", "memfd_secret", "shmget", "mq_open", "add_key", "keyctl", "request_key", "io_uring_setup",
             "userfaultfd", "bpf", "perf_event_open")  # fmt: skip


# ------------------------------------------------------------------------------- bubblewrap


@cache
def unavailable() -> str:
    """Why no sandbox can be made here, in one sentence; nothing if it can. Tried once."""
    if not shutil.which("bwrap"):
        return "submissions are run by bubblewrap, which is missing: install it (apt install bubblewrap; Linux only)"
    try:
        with filters() as rules:
            run = [*command([], [], rules), sys.executable, "-c", ""]
            done = subprocess.run(run, pass_fds=[rules.fileno()], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return f"submissions are run by bubblewrap and libseccomp, which do not work here ({error})"
    if done.returncode == 0:
        return ""
    said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"submissions are run by bubblewrap (0.8 or newer), which this system does not allow ({said}): see the guide"


def command(blocked: Sequence[str], private: Iterable[Path], rules: IO[bytes]) -> list[str]:
    """The start of a command line: what follows it runs shut in.

    Args:
        blocked: dotted names; those that are modules of nmt_lib are not to be read either.
        private: folders that must not be seen, wherever they are: tests, submissions, marks.
        rules: what ``filters`` gives; its handle has to be passed on.
    """
    shown = _shown()
    line = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
            "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "grading", "--clearenv",
            "--proc", "/proc", "--dev", "/dev", "--size", str(SPACE), "--tmpfs", "/tmp"]  # fmt: skip
    line += ["--size", str(SPACE // 4), "--tmpfs", "/dev/shm"]
    for path in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"):  # a grader that is root owns these
        line += ["--ro-bind-try", path, path]
    for path in shown:
        line += ["--ro-bind", path, path]
    for folder in sorted({path.resolve() for path in private}):
        if folder.exists() and any(folder.is_relative_to(root) for root in shown):
            line += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    for file in (file for name in blocked for file in source_files(name)):
        line += ["--ro-bind", "/dev/null", str(file)]
    environment = {"HOME": "/tmp", "TMPDIR": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "student",
                   "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
                   "PYTHONPATH": os.pathsep.join(sorted({str(HERE.parent), str(_library().parent)}))}  # fmt: skip
    for name, value in environment.items():
        line += ["--setenv", name, value]
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--seccomp", str(rules.fileno())]
    return [*line, "--"]


def _shown() -> list[str]:
    """What may be read: the system's programs and libraries, Python, its packages, our library, the public checks."""
    wanted = [f"/{name}" for name in ("bin", "lib", "lib32", "lib64", "usr/bin", "usr/lib", "usr/lib32", "usr/lib64")]
    wanted += ["/usr/share/fonts", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives"]
    wanted += ["/sys/devices/system/cpu"]
    wanted += [f"{prefix}/{name}" for prefix in (sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix))
               for name in ("bin", "lib", "lib64", "pyvenv.cfg")]  # fmt: skip
    wanted += [path for path in sys.path if path.endswith("-packages")]
    names = ("__init__.py", "remote.py", "sandbox.py", "student.py", "check", "standins")
    wanted += [str(_library()), *(str(HERE / name) for name in names)]
    return sorted({path for path in wanted if os.path.exists(path)})  # a folder comes before what is in it


def _library() -> Path:
    import nmt_lib

    return Path(nmt_lib.__path__[0]).resolve()


def filters() -> IO[bytes]:
    """seccomp rules for bubblewrap, from libseccomp, which knows the calls' numbers: ``FORBIDDEN`` fails.

    Raises:
        OSError: there is no libseccomp.
    """
    library = ctypes.CDLL("libseccomp.so.2")
    file = tempfile.TemporaryFile()  # noqa: SIM115
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(0x7FFF0000))  # allow
    for name in FORBIDDEN:
        number = library.seccomp_syscall_resolve_name(name.encode())
        library.seccomp_rule_add(context, 0x00050000 | errno.EPERM, number, 0)
    library.seccomp_export_bpf(context, file.fileno())
    library.seccomp_release(context)
    file.seek(0)
    return file


# ----------------------------------------------------------------------------------- limits


def limit(memory: int, seconds: int, processes: int = 0) -> None:
    """Of this process and each that it starts: memory beyond what is mapped already, processor time, open files, size
    of a file; in a sandbox, processes of its user. Soft and hard limits, so that they cannot be raised again."""
    mapped = 0
    if sys.platform == "linux":
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {
        resource.RLIMIT_AS: mapped + memory,
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
            used = sum(map(_memory, processes))
        except psutil.Error:
            return ""
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


# --------------------------------------------------- what an assignment asks to write


def hide(blocked: Sequence[str]) -> None:
    """Takes modules and functions away."""
    modules = []
    for name in blocked:
        package, _, last = name.rpartition(".")
        holder = None if source_files(name) else _found(package)
        if hasattr(holder, last):
            setattr(holder, last, _refuse(name))
        else:
            modules.append(name)
    for name in [m for m in sys.modules if any(m == b or m.startswith(b + ".") for b in modules)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(modules))


def _found(name: str) -> Any:
    """What a dotted name stands for, if it is imported: a module, or something inside one (``torch.ops.aten``)."""
    first, *rest = name.split(".")
    thing = sys.modules.get(first)
    for step in rest:
        thing = getattr(thing, step, None)
    return thing


def source_files(name: str) -> list[Path]:
    """The files of a module or package of nmt_lib, wherever in its folder they are; nothing for other names."""
    first, *rest = name.split(".")
    if first != "nmt_lib" or not rest:
        return []
    folder = _library().joinpath(*rest[:-1])
    found = [*folder.glob(f"{rest[-1]}.py"), *folder.glob(f"__pycache__/{rest[-1]}.*.pyc")]
    return found + [path for path in folder.glob(f"{rest[-1]}/**/*") if path.is_file()]


def _refuse(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(f"{name} {WRITE_IT}")

    return refuse


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, modules: list[str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if any(name == module or name.startswith(module + ".") for module in self.modules):
            raise ImportError(f"{name} {WRITE_IT}")
