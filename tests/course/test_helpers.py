"""What checks and grader build on, and what hides what is to be written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_book as book
import nmt_lib
from nmt_book.course import course, remote, sandbox
from nmt_book.course.check import kit

TO_WRITE = {
    "A1": "build_vocab_from_iterator Vocab WordTokenizer make_batch pad_batch",
    "A2": "sinusoids PositionalEncoding Embedding causal_mask padding_mask target_mask",
    "A3": "scaled_dot_product_attention MultiHeadAttention",
    "A4": "FeedForward Residual EncoderLayer Encoder DecoderLayer Decoder Transformer",
    "A5": "cross_entropy Objective learning_rate Trainer validation_loss perplexity",
    "A6": "greedy_search beam_search alignment_error_rate",
}


@pytest.mark.parametrize("name", course.names())
def test_what_is_to_be_written_is_hidden_wherever_it_is(name: str) -> None:
    """A name that moved to another module of the library needs that module among those
    blocked; of PyTorch, five names and the operators below them are."""
    blocked = course.load(name).metadata.nmt.blocked
    for public in TO_WRITE[name[:2]].split():
        home = getattr(nmt_lib, public).__module__
        assert home in blocked, f"{name}: {public} is in {home}, which is not blocked"
        file = Path(sys.modules[home].__file__ or "").resolve()
        assert file in sandbox.source_files(home), f"the file of {home} can be read"
    assert sum(name.startswith("torch.") for name in blocked) <= 5


def test_a_package_is_hidden_with_all_its_files() -> None:
    names = {path.name for path in sandbox.source_files("nmt_lib.configs")}
    assert "tiny.yaml" in names and not sandbox.source_files("torch.nn")


@pytest.mark.parametrize(
    ("got", "right", "near"),
    [
        ([[1, 1]], [[1, 1 + 9e-4]], True),
        ([[1, 1]], [[1, 1 + 2e-3]], False),
        ([[1, 1]], [1, 1], False),  # no broadcasting
        ([1], 1.0, True),  # but a plain number stands for all
        (float("nan"), float("nan"), False),
        ([1000.5, 0], [1000, 0], True),
        ([], [], True),
    ],
)
def test_near(got: Any, right: Any, near: bool) -> None:
    assert kit.near(got, right) is near


def test_an_example_shows_both_and_names_the_usual_mistake(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kit.gives(lambda x: 2 * x, [0.5], 1.0)
    assert "correct" in capsys.readouterr().out
    double = torch.tensor([2.0, 4.0]), "doubled"
    for gives, said in (([2.0, 4.0], "doubled"), ([1.0, 2.00049], "hint")):
        with pytest.raises(kit.Hint, match=rf"\[1, 3\]: {said}") as error:
            right = torch.tensor([1.0, 3.0])
            kit.gives(lambda g=gives: torch.tensor(g), [], right, "hint", double)
        assert "2.0004" not in str(error.value), "four digits"


@pytest.mark.parametrize("right", ["a", 0.5, torch.zeros(3)])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: torch.zeros(ord(x)), list])
def test_hidden_tests_quote_neither_arguments_nor_results(
    monkeypatch: pytest.MonkeyPatch, right: Any, wrap: Any
) -> None:
    """An answer that returns what it got would tell what hidden tests pass."""
    monkeypatch.setattr(kit, "quiet", True)
    for check in (
        lambda: kit.gives(wrap, ["é"], right),
        lambda: kit.match(wrap("é"), right, "f gives"),
        lambda: kit.tensor(wrap("é"), "x", (3,)),
        lambda: kit.two_tensors(wrap("é"), "x and y"),
        lambda: kit.number(wrap("é"), "x"),
    ):
        with pytest.raises(kit.Hint) as error:
            check()
        assert not {"é", "233"} & set(re.findall(r"\w+", str(error.value)))


def test_shapes_that_do_not_fit_are_told_in_words() -> None:
    with pytest.raises(kit.Hint, match="shapes do not fit together"):
        kit.ask(torch.add, torch.ones(2), torch.ones(3))


def test_changed_arguments_are_noticed() -> None:
    kit.spares(lambda rows: sorted(rows), [3, 1])
    for change, given in (
        (lambda x: x.zero_(), torch.ones(2)),
        (lambda rows: (rows.pop() for _ in range(1)), [3, 1]),  # when it is used up
    ):
        with pytest.raises(kit.Hint, match="changes its arguments"):
            kit.spares(change, given)


@pytest.mark.parametrize(
    "sent",
    [
        torch.tensor([[3, 5, 7]]).T[1],  # one element, and the stride of its table
        torch.ones(1, 6)[:, ::6].bfloat16(),
        torch.ones(4).expand(3, 4),
        torch.zeros(0, 2),
        torch.tensor(True),
    ],
)
def test_tensors_cross_the_wire_whatever_their_strides(sent: torch.Tensor) -> None:
    back = remote.restore(remote.plain(sent, None), None)
    assert back.dtype == sent.dtype and torch.equal(back, sent)


FORBIDDEN = """
import torch
from nmt_book.course import student

student.hide(["aten.native_layer_norm"])
x = torch.ones(2, 3, requires_grad=True)
x.softmax(-1).sum().backward()
for way in (
    lambda: torch.nn.functional.layer_norm(x, (3,)),
    lambda: torch.ops.aten.native_layer_norm(x, [3], None, None, 0.1),
    lambda: torch._C._VariableFunctions.layer_norm(x, [3]),
    lambda: torch.nn.LayerNorm(3)(x),
):
    try:
        way()
        print("computed")
    except ImportError:
        print("refused")
"""


def test_an_operator_is_taken_away_by_all_its_names() -> None:
    run = [sys.executable, "-c", FORBIDDEN]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 4


@pytest.mark.parametrize(
    ("suspect", "said"),
    [
        (None, "not written yet"),
        (("masks.py", "causal_mask"), "write the name as a text"),
        ("casual_mask", "nmt_lib has no function 'casual_mask'"),
        ("Residual.forward", "no, it is not in layers.py"),
        ("padding_mask", ""),
        ("causal_mask", ""),
    ],
)
def test_a_suspect_s_file_is_told_and_the_library_healed(
    suspect: Any, said: str
) -> None:
    """Healed also by an answer that is not written yet, for the page goes on."""
    case = book.plant(8)
    try:
        kit.fault(8).is_near(suspect)
        told = ""
    except kit.Hint as hint:
        told = str(hint)
    assert (said in told if said else told == "") and not case.is_open
    assert kit.fault(8).function == "causal_mask"
