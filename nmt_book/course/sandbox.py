"""What a submission may see and use: bubblewrap isolates the process; rlimits and a
watchdog bound its resources.

A sandbox holds Python, its packages and an empty folder. It has processes, users and
IPC of its own, and no network. It dies with the process that started it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import psutil

import nmt_lib

HERE, LIBRARY = Path(__file__).resolve().parent, Path(nmt_lib.__path__[0]).resolve()
SPACE = 256 << 20  # bytes of the temporary folder
MEMORY = 2 << 30  # bytes of one process, in addition to Python and torch
PROCESSES = 16
# Not the other checks and the chapters', which hold right answers.
OURS = ["__init__.py", "remote.py", "sandbox.py", "standins", "student.py"]
OURS += ["check/__init__.py", "check/kit.py"]
BOOK = ("__init__.py", "__init__.pyi")  # of the package that the course is in
# Right answers, in a copy of the book that is installed among the packages.
ANSWERS = ["*/check.py", "*/__pycache__/check.*"]
ANSWERS += ["course/check/a*", "course/check/__pycache__/a*"]
SYSTEM = [
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/share/fonts",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/fonts",
    "/etc/alternatives",
    "/sys/devices/system/cpu",
]
ROOTS = sorted({str(HERE.parents[1]), str(LIBRARY.parent)})
PACKAGES = {"PYTHONPATH": os.pathsep.join(ROOTS)}
ENVIRONMENT = {
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "student",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    **PACKAGES,
}
# Where systemd gives users control groups, the processes of a submission are limited
# together, including kernel memory and files in memory.
GROUP = f"""systemd-run --user --scope --quiet --collect
-p MemoryMax=3G -p MemorySwapMax=0 -p TasksMax={PROCESSES}""".split()


@cache
def unavailable() -> str:
    """Why a sandbox cannot be made here, in one sentence; empty if it can."""
    reason = _tried([*command([], []), sys.executable, "-c", ""])
    if not reason:
        return ""
    install = "submissions run in bubblewrap 0.8 (apt install bubblewrap)"
    return f"{install}, which fails here ({reason}): see the guide"


@cache
def grouped() -> bool:
    """Whether a submission gets a control group of its own here; otherwise each process
    is limited separately (``limit``)."""
    return not _tried([*GROUP, "true"])


def _tried(run: Sequence[str]) -> str:
    try:
        subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        lines = str(getattr(error, "stderr", None) or "").strip().splitlines()
        return [str(error), *lines][-1]
    return ""


def command(blocked: Sequence[str], private: Iterable[Path]) -> list[str]:
    """The beginning of a command line; the command that follows runs in a sandbox.

    Args:
        blocked: dotted names; the files of those that are modules of nmt_lib are empty.
        private: folders that must be hidden, wherever they are: tests, submissions,
            marks.
    """
    shown = _shown()
    alone = "--unshare-all --unshare-user --disable-userns --die-with-parent"
    user = "--new-session --cap-drop ALL --uid 1000 --gid 1000 --hostname grading"
    folders = f"--size {SPACE} --tmpfs /tmp --size {SPACE // 4} --tmpfs /dev/shm"
    line = f"bwrap {alone} {user} --clearenv --proc /proc --dev /dev {folders}".split()
    # Where the grader is root, it could write to these.
    for path in ("sys", "irq", "bus", "fs", "acpi"):
        line += ["--ro-bind-try", f"/proc/{path}", f"/proc/{path}"]
    for path in shown:
        line += ["--ro-bind", path, path]
    hidden = [folder.resolve() for folder in private if folder.exists()]
    # An environment may be a link.
    roots = [(Path(root), Path(root).resolve()) for root in shown]
    inside = {
        str(top / folder.relative_to(real))
        for top, real in roots
        for folder in hidden
        if folder.is_relative_to(real)
    }
    for place in sorted(inside):
        line += ["--tmpfs", place, "--remount-ro", place]
    empty = [file for name in blocked for file in source_files(name)]
    for root, pattern in product(shown, ANSWERS):
        empty += Path(root).glob(f"nmt_book/{pattern}")
    for file in empty:
        line += ["--ro-bind", "/dev/null", str(file)]
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]
    return [*(GROUP if grouped() else []), *line]


def _shown() -> list[str]:
    """What may be read: the system's programs and libraries, Python, its packages, our
    library, the public checks."""
    python = {sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}
    wanted = [
        *SYSTEM,
        *(
            f"{prefix}/{name}"
            for prefix in python
            for name in ("bin", "lib", "lib64", "pyvenv.cfg")
        ),
    ]
    wanted += [path for path in sys.path if path.endswith("-packages")]
    wanted += [str(LIBRARY), *(str(HERE / name) for name in OURS)]
    wanted += [str(HERE.parent / name) for name in BOOK]
    return sorted(
        {path for path in wanted if os.path.exists(path)}
    )  # a folder comes before what is in it


def source_files(name: str) -> list[Path]:
    """The files of a module or package of nmt_lib; none for other names."""
    stem = LIBRARY.parent.joinpath(*name.split("."))
    if LIBRARY not in stem.parents:
        return []
    compiled = stem.parent.glob(f"__pycache__/{stem.name}.*.pyc")
    return [
        path
        for path in (stem.with_suffix(".py"), *compiled, *stem.rglob("*"))
        if path.is_file()
    ]


def limit(seconds: float, processes: int) -> None:
    """Limits this process and each that it starts: memory beyond what is mapped now,
    processor time, open files and their size, locked memory; in a sandbox, processes.
    These are hard limits, so they cannot be raised again."""
    limits = {
        resource.RLIMIT_AS: psutil.Process().memory_info().vms + MEMORY,
        resource.RLIMIT_CPU: int(seconds),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 32 << 20,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if processes:
        limits[resource.RLIMIT_NPROC] = processes
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
