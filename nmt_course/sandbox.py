"""Shuts a student's process in, before any of the student's code runs: memory, files, network, other processes.

On Linux the kernel does it (Landlock for files, seccomp for sockets, processes and signals; no root needed); an audit
hook of Python says it in friendlier words, and is all there is elsewhere. Nothing of this can be undone from within.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.abc
import os
import platform
import resource
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NETWORK = "there is no network while an assignment is graded"
PROCESSES = "no other programs can be started while an assignment is graded"
FILES = "this file cannot be opened while an assignment is graded"
WRITE_IT = "is what this assignment asks you to write, so it is not there while it is graded"

# System calls by number, x86_64 and aarch64: those of sockets, processes, signals, limits, and ways around them.
_NUMBERS = {
    "x86_64": (0xC000003E, 56, [41, 57, 58, 59, 62, 101, 160, 200, 234, 298, 302, 310, 311, 321, 322, 424, 425, 434,
                                438]),
    "aarch64": (0xC00000B7, 220, [198, 221, 129, 117, 164, 130, 131, 241, 261, 270, 271, 280, 281, 424, 425, 434, 438]),
}  # fmt: skip
_CLONE3, _CLONE_THREAD = 435, 0x10000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_NO_NEW_PRIVS, _SET_SECCOMP = 38, 22


def shut_in(folder: Path, memory: int, seconds: int, blocked: Sequence[str]) -> list[str]:
    """Everything below, in the order in which it has to happen; gives the names of what this machine does not have.

    Args:
        folder: the one place where files may be written.
        memory: bytes beyond what the process has mapped already.
        seconds: of processor time.
        blocked: dotted names, modules or attributes, that the assignment asks to write.
    """
    blocked_files = hide(blocked)
    roots, files = readable(folder, blocked_files)
    limit(memory, seconds)
    missing = [] if allow_files(folder, roots, files) else ["Landlock"]
    missing += [] if forbid_calls() else ["seccomp"]
    sys.addaudithook(_Auditor(folder, roots, set(files), {str(path) for path in blocked_files}))
    return missing


def limit(memory: int, seconds: int) -> None:
    """Memory, processor time, size of files: soft and hard limits, so that they cannot be raised again."""
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
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def hide(blocked: Sequence[str]) -> list[Path]:
    """Takes modules and functions away; gives the modules' files, so that they cannot be read either."""
    modules, files = [], []
    for name in blocked:
        package, _, last = name.rpartition(".")
        found = _source(name)
        if found:
            modules.append(name)
            files += found
        elif package in sys.modules and hasattr(sys.modules[package], last):
            setattr(sys.modules[package], last, _refuse(name))
        else:
            modules.append(name)
    for name in [m for m in sys.modules if any(m == b or m.startswith(b + ".") for b in modules)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(modules))
    return files


def _source(name: str) -> list[Path]:
    """The files of a module or package of nmt_lib, wherever in its folder they are; nothing for other names."""
    first, *rest = name.split(".")
    if first != "nmt_lib" or not rest:
        return []
    folder = Path(sys.modules[first].__path__[0]).joinpath(*rest[:-1])
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


def readable(folder: Path, blocked_files: list[Path]) -> tuple[list[str], list[str]]:
    """Folders and single files that may be read: Python, its packages, the system's libraries, the public checks,
    the rest of nmt_lib."""
    roots = {sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/System", "/etc/fonts", str(folder)}
    roots |= {path for path in sys.path if path.endswith(("-packages", "lib-dynload"))}
    roots = {str(Path(root).resolve()) for root in roots if root and os.path.isdir(root)}
    hidden = {path.resolve() for path in blocked_files}
    files = [path for package in _packages() for path in package.rglob("*") if path.is_file()]
    return sorted(roots), [str(path) for path in files if path.resolve() not in hidden]


def _packages() -> list[Path]:
    """Our packages that a student's cells may import: all their folders are listed, not all their files opened."""
    names = ("nmt_lib", "nmt_course.check", "nmt_course.standins")
    return [Path(sys.modules[name].__path__[0]).resolve() for name in names]


def allow_files(folder: Path, roots: Sequence[str], files: Sequence[str]) -> bool:
    """Landlock: from here on only these can be opened, and only ``folder`` can be written. False: not to be had."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return False
    handled = (1 << (13 + (version >= 2) + (version >= 3))) - 1
    attributes = struct.pack("QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_LANDLOCK_CREATE, attributes[:size], size, 0)
    rules = [(root, _READ | _LIST | _EXECUTE) for root in roots] + [(file, _READ) for file in files]
    rules += [(str(package), _LIST) for package in _packages()]  # an import looks into the folder first
    rules += [(device, _READ | _WRITE) for device in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")]
    for path, access in [*rules, (str(folder), handled)]:
        if os.path.exists(path):
            handle = os.open(path, os.O_PATH)
            libc.syscall(_LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", access, handle), 0)
            os.close(handle)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    done = libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return done


def forbid_calls() -> bool:
    """seccomp: sockets, new processes, signals and tracing fail with "not permitted"; threads stay allowed."""
    if sys.platform != "linux" or platform.machine() not in _NUMBERS:
        return False
    arch, clone, numbers = _NUMBERS[platform.machine()]
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, deny, absent = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    program = [(load, 0, 0, 4), (equal, 1, 0, arch), (give, 0, 0, deny), (load, 0, 0, 0)]
    program += [(at_least, 0, 1, 0x40000000), (give, 0, 0, deny), (equal, 0, 1, _CLONE3), (give, 0, 0, absent)]
    for number in numbers:
        program += [(equal, 0, 1, number), (give, 0, 0, deny)]
    program += [(equal, 0, 3, clone), (load, 0, 0, 16), (any_bit, 1, 0, _CLONE_THREAD), (give, 0, 0, deny)]
    program += [(give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    # struct sock_fprog: a length, padding, a pointer.
    filters = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    return libc.prctl(_SET_SECCOMP, 2, filters, 0, 0) == 0


class _Auditor:
    """Python's own events: it cannot be taken out again, and names the reason."""

    def __init__(self, folder: Path, roots: Sequence[str], files: set[str], blocked: set[str]) -> None:
        self.roots = (*(root + os.sep for root in roots), "/dev/")
        self.folder, self.files, self.blocked = str(folder.resolve()) + os.sep, files, blocked

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(args[0]))
            if path in self.blocked:
                raise PermissionError(f"{os.path.basename(path)} {WRITE_IT}")
            if path not in self.files and not path.startswith(self.roots):
                raise PermissionError(f"{path}: {FILES}")
        elif event.startswith("socket."):
            raise PermissionError(NETWORK)
        elif event in ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.kill", "subprocess.Popen", "pty.spawn"):
            raise PermissionError(PROCESSES)
