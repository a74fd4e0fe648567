"""Things to touch, run in Node, compute what the library computes."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib.web.play import FOLDER, Thing

NAMES = sorted(path.stem for path in FOLDER.glob("*.js"))
STATES = 20
NODE = """
import { readFileSync } from "fs"
const { file, calls } = JSON.parse(readFileSync(0, "utf8"))
const thing = await import(file)
const answers = calls.map(([name, ...args]) => thing[name](...args))
process.stdout.write(JSON.stringify(answers))
"""
needs_node = pytest.mark.skipif(
    not shutil.which("node"), reason="no Node on this machine (apt-get install nodejs)"
)


def in_node(name: str, calls: Sequence[Sequence[Any]]) -> list[Any]:
    """What functions of a thing return: each call is its name and its arguments."""
    job = json.dumps({"file": str(FOLDER / f"{name}.js"), "calls": calls})
    command = ["node", "--input-type=module", "--eval", NODE]
    result = subprocess.run(command, input=job, capture_output=True, text=True)
    assert not result.returncode, result.stderr
    answers: list[Any] = json.loads(result.stdout)
    return answers


def numbers(rows: Any, within: float = 1e-6) -> Any:
    """The same numbers, or nearly."""
    return pytest.approx(rows, abs=within, rel=within)


@pytest.mark.parametrize("name", NAMES)
def test_an_output_is_small_and_the_same_each_time(name: str) -> None:
    page = nmt.play(name)._repr_html_()
    assert page == nmt.play(name)._repr_html_()
    assert len(page.encode()) <= 60_000
    assert "import " not in re.sub("(?m)//.*", "", page), "a module that is not there"


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_there_is_a_table_and_what_to_do(name: str) -> None:
    page = nmt.play(name)._repr_html_()
    shown = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page)
    assert "<td>" in shown and "run the cell" in shown


@pytest.mark.parametrize("name", NAMES)
def test_a_file_can_be_read(name: str) -> None:
    lines = (FOLDER / f"{name}.js").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 250
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize("name", NAMES)
def test_a_state_that_is_not_known_is_named(name: str) -> None:
    thing: type[Thing] = import_module(f"nmt_lib.web.things.{name}").THING
    first = next(iter(thing.model_fields))
    with pytest.raises(nmt.ConfigError, match=f"did you mean '{first}'"):
        nmt.play(name, **{f"{first}s": 1})


def test_an_unknown_thing_is_named() -> None:
    with pytest.raises(nmt.ConfigError, match="did you mean 'clock'"):
        nmt.play("clok")


def test_a_state_out_of_range_says_so() -> None:
    with pytest.raises(nmt.ConfigError, match=r"position: .* 300, got 301$"):
        nmt.play("clock", position=301)


# Each thing against the library, in twenty states.


@needs_node
def test_clock() -> None:
    draw = random.Random(1)
    states, positions, turns = [], [], []
    for i in range(STATES):
        # A base of 10000^(1/n) has the rates of a clock n times as wide.
        d_model, (base, wide) = (
            2 + i % 4 * 2,
            draw.choice([(10, 4), (100, 2), (10000, 1)]),
        )
        position, distance = draw.randrange(301), draw.randrange(21)
        state = {"position": position, "distance": distance}
        states.append(state | {"base": base, "d_model": d_model})
        table = nmt.sinusoids(position + distance + 1, wide * d_model)[:, :d_model]
        first, second = table[position], table[position + distance]  # (D,), (D,)
        positions.append(first.tolist())
        hands = zip(first.view(-1, 2), second.view(-1, 2), strict=True)
        dots = [float(a @ b) for a, b in hands]  # cos(ω_i k), for each hand
        turns.append(dots)
    found = in_node("clock", [["encoding", state] for state in states])
    assert found == [numbers(one) for one in positions]
    for one, dots in zip(
        in_node("clock", [["between", state] for state in states]), turns, strict=True
    ):
        assert [math.cos(angle) for angle in one["angles"]] == numbers(dots)
        assert one["dot"] == numbers(sum(dots))
