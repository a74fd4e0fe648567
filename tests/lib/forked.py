"""Processes without seconds of loading: copies of one that has loaded the library."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["pytest", "tests.lib.small", "nmt_lib.cli", "nmt_lib.run", "torch._dynamo"]
)


def start(function: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """Calls a function of a module in a process."""
    process = FORKS.Process(target=function, args=arguments)
    process.start()
    return process


def exit_codes(*processes: BaseProcess) -> list[int | None]:
    """Waits ten minutes for them at most: a machine may be busy."""
    for process in processes:
        process.join(600)
    return [process.exitcode for process in processes]
