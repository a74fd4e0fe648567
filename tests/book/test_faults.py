"""Each fault shows when it is planted, and leaves no trace when it is healed."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import nmt_book as book
import nmt_lib as nmt
from nmt_book.yours.fault import (
    PUZZLES,
    Fault,
    answer,
    file_of,
    function_of,
    wrong_code,
)
from nmt_book.yours.symptoms import QUESTIONS, puzzle_translator
from nmt_lib.model.attention import padding_mask
from tests.book.conftest import Said

NUMBERS = range(1, len(PUZZLES) + 1)
IDS = torch.tensor([[5, 6, 0]])  # (B, S)


@pytest.fixture(scope="module")
def healthy() -> dict[str, str]:
    return {question: answer(question, puzzle_translator()) for question in QUESTIONS}


@pytest.fixture(autouse=True)
def healed() -> Iterator[None]:
    functions = [function_of(fault.function) for fault in PUZZLES]
    before = [function.__code__ for function in functions]
    yield
    for function, code in zip(functions, before, strict=True):
        assert function.__code__ is code


@pytest.mark.parametrize("number", NUMBERS)
def test_a_fault_is_felt_at_once_and_healed_without_a_trace(
    number: int, healthy: dict[str, str], said: Said
) -> None:
    fault = PUZZLES[number - 1]
    function = function_of(fault.function)
    code, source = function.__code__, inspect.getsource(function)
    case = book.plant(number)
    symptom = said()
    assert function_of(fault.function) is function and function.__code__ is not code
    assert inspect.getsource(function) == source and fault.right in source
    case.ask(fault.decides)
    now, before = said().splitlines()
    assert before == f"healthy: {healthy[fault.decides]}"
    if fault.function == "make_batch":  # the map says that the model is in order
        assert now == f"broken:  {healthy['map']}" and healthy["loss"] not in symptom
    else:
        assert now != f"broken:  {healthy[fault.decides]}" and "stops" not in now
    for told in (fault.function, fault.right):
        assert told not in symptom
    case.accuse(fault.function)
    assert said().startswith(f"yes: {fault.wrong}")
    assert answer(fault.decides, case.translator) == healthy[fault.decides]


@pytest.mark.parametrize("fault", PUZZLES, ids=lambda fault: fault.function)
def test_the_text_is_there_once_and_lines_and_free_variables_stay(fault: Fault) -> None:
    text = file_of(function_of(fault.function)).read_text(encoding="utf-8")
    assert text.count(fault.right) == 1
    old, new = function_of(fault.function).__code__, wrong_code(fault)
    assert old != new and old.co_name == new.co_name
    assert old.co_firstlineno == new.co_firstlineno
    assert old.co_freevars == new.co_freevars


def test_names_imported_elsewhere_and_compiled_functions_feel_it_and_its_end() -> None:
    compiled = torch.compile(lambda ids: padding_mask(ids), backend="eager")
    right = padding_mask(IDS)
    assert compiled(IDS).equal(right)
    case = book.plant(2)
    assert padding_mask(IDS).equal(~right) and compiled(IDS).equal(~right)
    case.heal()
    assert padding_mask(IDS).equal(right) and compiled(IDS).equal(right)


def test_what_try_it_keeps_is_of_the_healthy_library() -> None:
    from nmt_book.yours.trials import training_batches

    case = book.plant(1)
    assert (training_batches(case.translator)[0][0] == nmt.PAD).sum() == 0
    case.heal()
    assert (training_batches(case.translator)[0][0] == nmt.PAD).sum() > 0


def test_another_case_heals_the_first_and_says_so(
    said: Said,
) -> None:
    first = book.plant(8.0)  # type: ignore[arg-type]
    assert said().startswith("case 8: ")
    second = book.plant(2)
    assert said().startswith("case 8 is healed\ncase 2: ")
    first.ask("map")
    assert said() == "nothing is broken: book.plant(8) breaks it again\n"
    first.accuse("causal_mask")
    assert said() == "nothing is broken: book.plant(8) breaks it again\n"
    first.heal()
    assert said() == "" and not padding_mask(IDS).equal(IDS[None, None] != 0)
    second.heal()
    assert said() == "case 2 is healed\n"


def test_nothing_is_trained_or_stored_while_a_fault_is_planted(tmp_path: Path) -> None:
    done, other = ({"run_dir": str(tmp_path / name)} for name in ("done", "other"))
    translator = nmt.load_or_train("toy", **done)
    case = book.plant(7)
    for write in (
        lambda: nmt.train("toy", **other),
        lambda: nmt.load_or_train("toy", **other),
        lambda: translator.save(tmp_path / "saved"),
        lambda: nmt.export_hugging_face(translator, tmp_path / "exported"),
    ):
        with pytest.raises(nmt.CheckpointError, match=r"broken in .*case\.heal\(\)"):
            write()
    nmt.load_or_train("toy", **done)  # which was trained before
    assert [path.name for path in tmp_path.iterdir()] == ["done"]
    case.heal()
    translator.save(tmp_path / "saved")


def test_after_an_interrupt_the_library_is_what_is_said(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    case, broken = book.plant(2), padding_mask(IDS)
    for last in (False, True):  # while it is healthy, and while it is broken again
        answers = ["before it"] * last

        def stop(_: object, answers: list[str] = answers) -> str:
            if not answers:
                raise KeyboardInterrupt
            return answers.pop()

        monkeypatch.setitem(QUESTIONS, "loss", stop)
        with pytest.raises(KeyboardInterrupt):
            case.ask("loss")
        assert case.is_open and padding_mask(IDS).equal(broken)
    with pytest.raises(KeyboardInterrupt):
        book.plant(8)
    assert said().endswith("case 8 is healed\n")
    assert nmt.causal_mask(2).sum() == 3 and padding_mask(IDS).equal(~broken)


def test_guessing_costs_questions(said: Said) -> None:
    """Each question that was not asked before buys three wrong suspects."""
    suspects = [
        f"{name}.forward"
        for name in ("FeedForward", "Residual", "EncoderLayer", "Encoder", "Decoder")
    ]
    case = book.plant(8)
    for accused in [*suspects[:3], *suspects[:3]]:  # again is no new guess
        case.accuse(accused)
    assert said().count("no, it is not in layers.py") == 6
    for accused in [*suspects[3:], "causal_mask"]:
        case.accuse(accused)
        assert said().startswith('no more suspects before you ask "text", ')
    case.ask("map")
    case.ask("map")
    said()
    case.accuse(suspects[3])
    case.accuse("causal_mask")
    assert "case 8 is healed" in said()


def test_accusations_and_hints_lead_on_and_give_nothing_away(
    said: Said,
) -> None:
    case = book.plant(8)
    said()
    for accused, answered in {
        "padding_mask": "not padding_mask, but something else in attention.py",
        "casual_mask": "nmt_lib has no function 'casual_mask': a function of nmt. is ",
        "PAD": "nmt_lib has no function 'PAD': ",
        "make_batch": "no, it is not in batches.py",
    }.items():
        case.accuse(accused)
        assert said().startswith(answered)
    case.ask("mpa")
    assert said().startswith("no question is 'mpa': ask one of text, loss, cache")
    for hint in ("case.ask('map')", PUZZLES[7].hint, *["it is in attention.py"] * 2):
        case.hint()
        assert said() == f"{hint}\n"
    assert repr(case) == "<case 8>"
    case.heal()
    assert "attention" not in said()


@pytest.mark.parametrize("number", [0, 13, "3"])
def test_a_number_without_a_case_is_one_sentence(number: object) -> None:
    with pytest.raises(ValueError, match=r"no case .*: choose from 1 to 12$"):
        book.plant(number)  # type: ignore[arg-type]


def test_a_broken_library_that_stops_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setitem(QUESTIONS, "text", lambda translator: 1 / 0)
    book.plant(3).heal()
    assert "it stops with ZeroDivisionError: division by zero" in said()
