"""Scripts of the pages in Node: they read JSON, and print JSON."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from nmt_book import web

needs_node = pytest.mark.skipif(  # in CI, a skipped check is a failed one
    not shutil.which("node") and "CI" not in os.environ,
    reason="no Node on this machine (apt-get install nodejs)",
)
Case = tuple[list[Any], Any]  # a call, and the numbers that it should give
CALLS = """
import { readFileSync } from "fs"
const { file, calls } = JSON.parse(readFileSync(0, "utf8"))
const module = await import(file)
const answers = calls.map(([name, ...args]) => module[name](...args))
process.stdout.write(JSON.stringify(answers))
"""


def run_node(script: str, job: Any, kind: str = "module") -> Any:
    command = ["node", f"--input-type={kind}", "--eval", script]
    asked = json.dumps(job)
    result = subprocess.run(command, input=asked, capture_output=True, text=True)
    assert not result.returncode, result.stderr
    return json.loads(result.stdout)


def in_node(name: str, calls: Sequence[Sequence[Any]]) -> list[Any]:
    """What functions of a file of nmt_book/web return: each call is a function's name
    and its arguments."""
    file = str(web.FILES / f"{name}.js")
    answers: list[Any] = run_node(CALLS, {"file": file, "calls": calls})
    return answers


def agree(name: str, cases: Sequence[Case], atol: float, rtol: float = 1e-6) -> None:
    """They return these numbers, or nearly: see ``same``."""
    calls, wanted = zip(*cases, strict=True)
    for call, found, one in zip(calls, in_node(name, calls), wanted, strict=True):
        same(found, one, atol, rtol, str(call))


def same(
    found: Any, wanted: Any, atol: float, rtol: float = 1e-6, where: str = ""
) -> None:
    """The numbers of JSON are these, or nearly; of an object, those that are named."""
    if isinstance(wanted, dict):
        for name, one in wanted.items():
            same(found[name], one, atol, rtol, f"{where} {name}")
    else:
        numbers = [torch.as_tensor(one, dtype=torch.double) for one in (found, wanted)]
        torch.testing.assert_close(
            *numbers, atol=atol, rtol=rtol, msg=lambda reason: f"{where}: {reason}"
        )
