"""What the benchmarks share: real batches, alternating measurement, and tables that say where they come from."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import torch

import nmt_lib as nmt

RESULTS = Path(os.environ.get("NMT_RESULTS", Path(__file__).parent / "results"))


def alternate(
    runs: dict[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each run, taken in turns in one process, after one untimed turn each.

    A machine that slows down for a while then slows down all of them; compare the ratios within a round. Where it does
    other work besides, ``clock=time.process_time`` counts the processor's time for this process alone, all its threads.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = clock()
            run()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            if turn:
                seconds[name].append(clock() - start)
    return seconds


def ratio(seconds: dict[str, list[float]], slow: str, fast: str) -> float:
    """How many times as long ``slow`` took as ``fast``: the median over the rounds."""
    return statistics.median(
        a / b for a, b in zip(seconds[slow], seconds[fast], strict=True)
    )


def machine(*packages: str, gpu: bool = False) -> str:
    """One line: device (of what uses the GPU where there is one: that), threads, versions, date."""
    gpu = gpu and torch.cuda.is_available()
    device = (
        torch.cuda.get_device_name() if gpu else f"{_cpu()}, {os.cpu_count()} cores"
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", *packages))
    threads = f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}, {torch.get_num_threads()} torch threads"
    return f"{device}; {threads}; Python {platform.python_version()}, {versions}; {datetime.date.today()}"


def command() -> str:
    """That of this process."""
    return shlex.join([f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":")[1].strip()
            for line in lines
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def write_table(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    notes: str,
) -> None:
    """Writes ``results/<name>.md``, with the command of this process, and prints it."""
    table = [header, ["---"] * len(header), *rows]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in table]
    text = f"# {title}\n\n" + "\n".join(lines) + f"\n\n{notes} Made by `{command()}`.\n"
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)


def multi30k(
    config_name: str = "multi30k", **overrides: object
) -> tuple[nmt.Config, nmt.Corpus, tuple]:
    """A config with its corpus and tokenizers."""
    config = nmt.load_config(config_name, **overrides)
    corpus = nmt.load_corpus(config.data)
    return config, corpus, nmt.build_tokenizers(config.data, corpus.train)
