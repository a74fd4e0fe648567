"""What a submission may see and use: bubblewrap shuts its process in, limits of the
kernel and a watch bound it.

In a sandbox are Python, its packages and an empty folder, own processes, users and IPC,
and no network. It dies with
the process that started it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import IO

import psutil

import nmt_lib

HERE, LIBRARY = Path(__file__).resolve().parent, Path(nmt_lib.__path__[0]).resolve()
SPACE = 256 << 20  # bytes of the temporary folder
MEMORY = 2 << 30  # bytes of one process, beyond what Python and torch take
PROCESSES = 64
OURS = ("__init__.py", "check", "remote.py", "sandbox.py", "standins", "student.py")
SYSTEM = [
    f"/{name}"
    for name in (
        "bin",
        "lib",
        "lib32",
        "lib64",
        "usr/bin",
        "usr/lib",
        "usr/lib32",
        "usr/lib64",
        "usr/share/fonts",
        "usr/share/zoneinfo",
        "etc/ld.so.cache",
        "etc/fonts",
        "etc/alternatives",
        "sys/devices/system/cpu",
    )
]
ENVIRONMENT = {
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "student",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": os.pathsep.join(sorted({str(HERE.parent), str(LIBRARY.parent)})),
}
# Memory that belongs to no process and no folder, and doors of the kernel that no
# assignment needs.
FORBIDDEN = (
    "memfd_create",
    "memfd_secret",
    "shmget",
    "mq_open",
    "add_key",
    "keyctl",
    "request_key",
    "io_uring_setup",
    "userfaultfd",
    "bpf",
    "perf_event_open",
)


@cache
def unavailable() -> str:
    """Why no sandbox can be made here, in one sentence; nothing if it can. Tried
    once."""
    try:
        with filters() as rules:
            run = [*command([], [], rules), sys.executable, "-c", ""]
            subprocess.run(
                run,
                pass_fds=[rules.fileno()],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        return ""
    except (OSError, subprocess.SubprocessError) as error:
        said = [
            str(error),
            *str(getattr(error, "stderr", None) or "").strip().splitlines(),
        ][-1]
    return (
        "submissions are run by bubblewrap 0.8 (apt install bubblewrap), which "
        f"fails here ({said}): see the guide"
    )


def command(
    blocked: Sequence[str], private: Iterable[Path], rules: IO[bytes]
) -> list[str]:
    """The start of a command line: what follows it runs shut in.

    Args:
        blocked: dotted names; those that are modules of nmt_lib are not to be read
        either.
        private: folders that must not be seen, wherever they are: tests, submissions,
        marks.
        rules: what ``filters`` gives; its handle has to be passed on.
    """
    shown = _shown()
    line = [
        "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--hostname",
        "grading",
        "--clearenv",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        str(SPACE),
        "--tmpfs",
        "/tmp",
        "--size",
        str(SPACE // 4),
        "--tmpfs",
        "/dev/shm",
    ]
    for path in (
        "/proc/sys",
        "/proc/irq",
        "/proc/bus",
        "/proc/fs",
        "/proc/acpi",
    ):  # a grader that is root owns these
        line += ["--ro-bind-try", path, path]
    for path in shown:
        line += ["--ro-bind", path, path]
    folders = [folder.resolve() for folder in private if folder.exists()]
    roots = [
        (Path(root), Path(root).resolve()) for root in shown
    ]  # an environment may be a link
    inside = [
        (top, f.relative_to(real))
        for top, real in roots
        for f in folders
        if f.is_relative_to(real)
    ]
    for place in sorted({str(top / below) for top, below in inside}):
        line += ["--tmpfs", place, "--remount-ro", place]
    for file in (file for name in blocked for file in source_files(name)):
        line += ["--ro-bind", "/dev/null", str(file)]
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    line += [
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/tmp",
        "--seccomp",
        str(rules.fileno()),
    ]
    return [*line, "--"]


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
    return sorted(
        {path for path in wanted if os.path.exists(path)}
    )  # a folder comes before what is in it


def source_files(name: str) -> list[Path]:
    """The files of a module or package of nmt_lib; nothing for other names."""
    stem = LIBRARY.parent.joinpath(*name.split("."))
    if LIBRARY not in stem.parents:
        return []
    compiled = stem.parent.glob(f"__pycache__/{stem.name}.*.pyc")
    return [
        path
        for path in (stem.with_suffix(".py"), *compiled, *stem.rglob("*"))
        if path.is_file()
    ]


def filters() -> IO[bytes]:
    """seccomp rules for bubblewrap, from libseccomp, which knows the calls' numbers:
    ``FORBIDDEN`` fails.

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


def address_space(memory: int) -> int:
    """The limit that leaves this process so many bytes beyond what is mapped
    already."""
    return psutil.Process().memory_info().vms + memory


def limit(seconds: float, processes: int) -> None:
    """Of this process and each that it starts: memory beyond what is mapped already,
    processor time, open files, size
    of a file; in a sandbox, processes of its user. Soft and hard limits, so that they
    cannot be raised again."""
    limits = {
        resource.RLIMIT_AS: address_space(MEMORY),
        resource.RLIMIT_CPU: int(seconds),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 64 << 20,
        resource.RLIMIT_NOFILE: 256,
    }
    if processes:
        limits[resource.RLIMIT_NPROC] = processes
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
