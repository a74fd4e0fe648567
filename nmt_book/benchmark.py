"""Shared by what is measured for a table: dry runs, alternating measurements, and files
that name the machine, versions and command."""

from __future__ import annotations

import argparse
import atexit
import datetime
import os
import platform
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nmt_lib as nmt
from nmt_lib.training.run_folder import runs_folder

NAMED = os.environ.get("NMT_RESULTS")
RESULTS = Path(NAMED or Path(__file__).parents[1] / "benchmarks/results")
DRY = False  # set by --dry

# A dry run changes this in every config, as well as the corpus and the run's folder.
SMALL = {
    "data.vocab_size": 150,
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.n_layers": 1,
    "model.d_ff": 16,
    "train.max_steps": 2,
    "train.batch_tokens": 512,
    "train.validate_every": 2,
    "train.checkpoint_every": 1,
    "decode.max_extra_tokens": 2,
}


def parse(parser: argparse.ArgumentParser | None = None) -> argparse.Namespace:
    """The options of this process; ``--dry`` is one of every benchmark."""
    global DRY
    parser = parser or argparse.ArgumentParser()
    help = "run all of the code in seconds, at tiny sizes, and write nothing"
    parser.add_argument("--dry", action="store_true", help=help)
    options = parser.parse_args()
    DRY = options.dry
    return options


def seeds(*usual: int) -> list[int]:
    """The option ``--seeds`` of this process; a dry run has the first one only."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=usual)
    options = parse(parser)
    return list(options.seeds[:1] if DRY else options.seeds)


def home() -> Path:
    """The folder of the runs; a temporary one in a dry run."""
    return scratch() if DRY else runs_folder()


def load_config(config: str, /, **overrides: Any) -> nmt.Config:
    """Like ``nmt.load_config``; small in a dry run, with a temporary run folder."""
    if DRY:
        small = {"data.corpus": str(_small_corpus()), "run_dir": str(scratch())}
        overrides |= SMALL | small
    return nmt.load_config(config, **overrides)


def scratch() -> Path:
    """A folder that is deleted when the process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def _small_corpus() -> Path:
    """Some sentences of the tiny corpus as files, in three languages."""
    from nmt_lib.data.tiny.corpus import generate

    folder = scratch()
    for split, triples in generate().items():
        for lang in ("en", "de", "fr"):
            lines = [triple.text(lang) for triple in triples]
            sample = lines[: 100 if split == "train" else 8]
            (folder / f"{split}.{lang}").write_text("\n".join(sample), encoding="utf-8")
    return folder


def write_corpus(
    folder: Path, langs: Sequence[str], **parts: Sequence[nmt.Pair]
) -> None:
    """Writes ``train.en``, ``train.de`` …, which ``data.corpus`` takes as a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in parts.items():
        for lang, side in zip(langs, ("src", "tgt"), strict=True):
            lines = "".join(f"{getattr(pair, side)}\n" for pair in pairs)
            (folder / f"{name}.{lang}").write_text(lines, encoding="utf-8")


def alternate(
    runs: Mapping[Any, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Any, list[float]]:
    """Seconds of each run, taken in turns in one process, after one untimed turn each.

    If the machine slows down for a while, all of them slow down; compare the ratios
    within a round. If it also does other work, ``clock=time.process_time`` counts the
    CPU time of this process alone, with all its threads.
    """
    seconds: dict[Any, list[float]] = {name: [] for name in runs}
    for turn in range(2 if DRY else rounds + 1):
        for name, run in runs.items():
            start = clock()
            run()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            if turn:
                seconds[name].append(clock() - start)
    return seconds


def flops(call: Callable[[], object]) -> int:
    """Operations, as PyTorch counts them: 2 for a multiplication and an addition.

    Attention is written out, since the fused call of a CPU is not counted.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


def machine(*packages: str) -> str:
    """One line: the processor, the GPU if there is one, threads, versions of packages,
    date."""
    device = f"{_cpu()}, {os.cpu_count()} cores"
    if torch.cuda.is_available():
        device += f", {torch.cuda.get_device_name()}"
    names = [name for name in ("torch", *packages) if find_spec(name)]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    setting = f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}"
    return (
        f"{device}; {setting}, torch threads: {torch.get_num_threads()}; "
        f"Python {platform.python_version()}, {versions}; {datetime.date.today()}"
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = re.findall("model name.*: (.*)", info.read_text()) if info.exists() else []
    return names[0] if names else platform.processor()


def write_table(
    name: str,
    title: str,
    header: str,
    rows: Sequence[Sequence[object]],
    notes: str,
    *packages: str,
) -> None:
    """Prints a table and writes it to ``results/<name>.md``, with machine and command.

    Args:
        header: with a ``|`` between two columns.
        packages: whose versions are named, beside that of torch.
    """
    table = [[header], ["---"] * len(rows[0]), *rows]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in table]
    command = shlex.join(["python", *sys.orig_argv[1:]])
    notes = f"{notes} {machine(*packages)}. Made by `{command}`."
    text = f"# {title}\n\n" + "\n".join(lines) + f"\n\n{notes}\n"
    print(text)
    if not DRY and (NAMED or RESULTS.is_dir()):  # an installed wheel has none
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
