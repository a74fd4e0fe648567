"""``make grade``: what is collected, what nbgrader keeps, what is written and
noticed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from nmt_book.course import course, grade, remote, sandbox
from nmt_book.course.assignment import LOOK
from nmt_book.course.marking import run_tests, started
from tests.course import kit
from tests.course.hostile import FILES

NAME = "A1_tokenization"
# Half a character, a sum nested 3,000 deep, brackets nested 100 deep.
ODD = ("# \ud800", "+".join(["1"] * 3000), "(" * 100 + "1" + ")" * 100)
OF = kit.assignment(NAME)


# ----------------------------------------------------------------------------
# collecting


def found(folder: Path, *files: str) -> set[str]:
    for file in files:
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + file.encode("latin-1")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return {f"{who}/{name[:2]}" for who, name, _ in grade.find(folder, kit.NAMES)}


def test_folders_in_every_usual_order(tmp_path: Path) -> None:
    files = [
        "ada/A1_tokenization.ipynb",
        "bob/A1_tokenization/A1_tokenization.ipynb",
        "A2/carl.ipynb",
        "A2/dora_A2.ipynb",
        "A3_attention/emil/A3.ipynb",
        "fred_a1.ipynb",
        "A1 - gina.ipynb",
    ]
    junk = ["ada/.ipynb_checkpoints/A1-checkpoint.ipynb", "__MACOSX/ada/._A1.ipynb"]
    wanted = "ada/A1 bob/A1 carl/A2 dora/A2 emil/A3 fred/A1 gina/A1"
    assert found(tmp_path, *files, *junk, "ada/timestamp.txt") == set(wanted.split())


def test_names_are_safe_and_stay_different() -> None:
    names = ["a b", "a_b", "A,B", "é", "caf\udce9", "x" * 99, "x" * 98, "../up", "=1+1"]
    names += ["a;=1+1", "@ada", "\x1b[31mred", "con\n", "-2", "+3", "."]
    safe = list(map(grade.safe, names))
    assert len(set(safe)) == len(names)
    for name in safe:
        assert name.isprintable() and name[0] not in "=+-@." and len(name) < 80
        assert not set(name) & set(",;/\"'\t ="), name
    assert grade.safe("ada.lovelace") == "ada.lovelace"


# ------------------------------------------------------------------ a class, graded


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders, one after the other, in the second of which bob hands in again.
    Between them, ada's answer is read, and the teacher makes a list of times."""
    folder = tmp_path_factory.mktemp("graded")
    course.make("", "", folder / "class")
    hand_in(folder / "1/ada/A1.ipynb", answers="mine")
    hand_in(folder / "1/=cmd;x/A1.ipynb", answers="mine")
    hand_in(folder / "1/bob/A1.ipynb", blank=True)
    hand_in(folder / "1/abe/A1.ipynb", answers="abe's", own=ODD)
    (folder / "1/abe/timestamp.txt").touch()
    os.truncate(folder / "1/abe/timestamp.txt", 40 << 30)  # sparse: it takes no space
    hand_in(folder / "1/fay/A1.ipynb", blank=True)
    (folder / "class/feedback").mkdir()
    (folder / "class/feedback/fay").touch()  # in place of a folder
    for title, (data, _) in FILES.items():
        (folder / "1" / f"{title[:3]}_A1.ipynb").write_bytes(data)
    hand_in(folder / "2/bob/A1.ipynb", answers="bob's")
    hand_in(folder / "2/eve/A1.ipynb", part="tokenize")
    (folder / "2/eve/timestamp.txt").write_text("1999-01-02 10:00:00 UTC")
    times = "student,assignment,time\neve,a1,2030-01-02 11:00:00+01:00\n"
    for number in "12":
        (folder / f"said{number}").write_text(make_grade(folder, number))
        if number == "1":
            read_by_hand(folder / "class", "ada", 3.5)
            (folder / "class/times.csv").write_text(times)
    (folder / "said3").write_text(make_grade(folder, "2"))
    return folder


def hand_in(
    path: Path,
    answers: str = "",
    blank: bool = False,
    part: str = "",
    own: Sequence[str] = (),
) -> None:
    alone = {part: kit.solution(OF.source, part)} if part else None
    notebook = kit.submission(OF, alone, blank=blank or bool(part))
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and answers and cell.metadata.nbgrader.solution:
            cell.source = f"By {answers} hand: {cell.metadata.nbgrader.grade_id}"
    notebook.cells += map(nbformat.v4.new_code_cell, own)
    kit.hand_in(path, notebook)


def make_grade(folder: Path, number: str) -> str:
    run = [sys.executable, "-m", "nmt_book.course.grade", "--trusted"]
    where = folder / number, "--course", folder / "class"
    done = subprocess.run([*run, *where], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def read_by_hand(root: Path, student: str, points: float) -> None:
    """What a person does in formgrader."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
        mark = book.find_grade("read", NAME, NAME, student)
        mark.manual_score, mark.needs_manual_grade = points, False
        book.db.commit()


def marks(folder: Path) -> dict[str, float]:
    with (folder / "class/grades.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == NAME]
    return {row["student_id"]: float(row["score"]) for row in rows}


def test_marks_of_both_folders(graded: Path) -> None:
    """Nothing of the first folder is lost, points for written answers included."""
    got = marks(graded)
    cmd = next(name for name in got if "cmd" in name)
    assert got["ada"] == 92 + 3.5 and got[cmd] == got["bob"] == 92 and got["eve"] == 14
    assert got["abe"] == 92 and got["fay"] == 0
    assert "ada" not in (graded / "said2").read_text().splitlines()[0]
    assert ": marked," not in (graded / "said3").read_text(), "nothing is new"


def test_a_broken_file_is_told_and_costs_nobody(graded: Path) -> None:
    said = (graded / "said1").read_text()
    for title, (_, reason) in FILES.items():
        assert not reason or f"{title[:3]}_A1.ipynb' was not collected: it" in said
    assert said.count("was not collected") == sum(bool(r) for _, r in FILES.values())
    (told,) = [line for line in said.splitlines() if "could not be marked" in line]
    assert told.startswith("fay: A1_tokenization") and "NotADirectoryError" in told


def test_the_class_is_summed_up(graded: Path) -> None:
    said = (graded / "said1").read_text()
    assert "equal code: =cmd" not in said and "equal code: " in said
    assert "equal written answers: " in said and "mean " in said
    parts = [line for line in said.splitlines() if line.endswith("tokenize-marks")]
    assert parts and "%" in parts[0]


def test_late_days_are_nbgraders(graded: Path) -> None:
    with Gradebook(f"sqlite:///{graded}/class/gradebook.db", "nmt") as book:
        assert book.find_submission(NAME, "eve").timestamp == datetime(2030, 1, 2, 10)
        assert book.find_submission(NAME, "abe").timestamp is None, "a student's"
    assert f"bob: {NAME} has no time in times.csv" in (graded / "said2").read_text()


def test_a_submission_whose_time_has_changed_is_collected_again(tmp_path: Path) -> None:
    inbox, root = tmp_path / "in", tmp_path / "class"
    hand_in(inbox / "ada/A1.ipynb", blank=True)
    marked = root / f"autograded/ada/{NAME}/{NAME}.ipynb"
    marked.parent.mkdir(parents=True)
    marked.touch()
    for times in ({}, {("ada", NAME): "2027-01-02 10:00:00 UTC"}, {}):
        assert grade.collect(inbox, root, [NAME], times) == ([("ada", NAME)], [])
        assert grade.collect(inbox, root, [NAME], times) == ([], [])


def test_of_two_files_the_one_with_the_assignments_name_counts(tmp_path: Path) -> None:
    for file in ("A1 (1)", "A1_tokenization", "A1 last"):
        hand_in(tmp_path / f"in/ada/{file}.ipynb", answers=file)
    _, problems = grade.collect(tmp_path / "in", tmp_path, [NAME], {})
    text = (tmp_path / f"submitted/ada/{NAME}/{NAME}.ipynb").read_text()
    assert "By A1_tokenization hand" in text
    assert [p.partition(" was")[0] for p in problems] == [
        "'ada: ada/A1 (1).ipynb'",
        "'ada: ada/A1 last.ipynb'",
    ]


@pytest.mark.parametrize("line", ["ada,A1,yesterday", "ada,A9,2027-01-02", "ada"])
def test_a_list_of_times_that_cannot_be_read(line: str, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(f"student,assignment,time\n{line}\n")
    with pytest.raises(ValueError, match="line 2: write student"):
        grade.read_times(tmp_path / "times.csv", [NAME])


def test_other_accounts_read_neither_solutions_nor_marks(graded: Path) -> None:
    root = graded / "class"
    for path in (root, root / "gradebook.db", *root.glob("source/**/*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_nbgraders_own_commands_work_in_the_folder_of_the_class(graded: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "db", "assignment", "list"]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    result = subprocess.run(
        command, cwd=graded / "class", env=env, capture_output=True, text=True
    )
    assert NAME in result.stdout and "Traceback" not in result.stderr, result.stderr


def test_no_formula_reaches_the_table(graded: Path) -> None:
    for cell in (graded / "class/grades.csv").read_text().replace("\n", ",").split(","):
        assert cell[:1] not in ("=", "+", "-", "@") and ";" not in cell, cell


def test_feedback_shows_points_and_neither_scheme_nor_hidden_test(graded: Path) -> None:
    page = (graded / f"class/feedback/eve/{NAME}/{NAME}.html").read_text()
    assert "BEGIN HIDDEN" not in page and "Marking scheme" not in page
    assert "not written yet" in page and "all tests pass" in page
    page = (graded / f"class/feedback/ada/{NAME}/{NAME}.html").read_text()
    assert "95.5" in page, "points for written answers, given since"
    assert "data:image/png" in page, "the picture that is asked about"
    read = nbformat.read(graded / f"class/autograded/ada/{NAME}/{NAME}.ipynb", 4)
    assert any("Marking scheme" in c.source for c in read.cells), "for formgrader"


def test_one_sentence_where_nothing_can_be_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox.unavailable.cache_clear()
    monkeypatch.setattr(
        sys, "argv", ["grade", str(tmp_path), "--course", str(kit.made())]
    )
    assert grade.main() == 2
    sandbox.unavailable.cache_clear()
    said = capsys.readouterr().err
    assert "apt install bubblewrap" in said and "TRUSTED=1" in said
    assert len(said.splitlines()) == 1


# ----------------------------------------------------------------------------- make
# class


def test_a_class_is_not_replaced_by_accident(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "nmt_book.course.course", "--seed", "2027"]
    source = course.load(NAME, "2026")
    path = tmp_path / f"source/{NAME}/{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(source, path)
    done = subprocess.run([*run, "--out", tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and "another SEED" in done.stderr and path.exists()


def test_the_teachers_repository_reaches_badge_and_install_line() -> None:
    text = "".join(c.source for c in course.load(NAME, "1", "ada/nmt").cells)
    assert text.count("ada/nmt") == 2 and "OWNER/REPO" not in text
    assert "git+https://github.com/ada/nmt" in text


@pytest.mark.parametrize("name", kit.NAMES)
def test_another_seed_is_noticed(name: str) -> None:
    this, last = kit.assignment(name), course.load(name, "2026")
    answers = kit.solutions(last)
    old = nbformat.from_dict(last)
    for cell in old.cells:
        cell.source = answers.get(cell.metadata.nbgrader.grade_id, cell.source)
    for handed_in in (old, kit.submission(this, answers)):
        (note,) = this.of_another_seed(handed_in)
        assert note.startswith(LOOK)
    assert this.of_another_seed(kit.submission(this)) == []
    assert this.of_another_seed(kit.submission(this, blank=True)) == []


# --------------------------------------------------------------------- limits and
# sandbox


def test_time_is_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits while others use the processor is not stopped; what computes is."""
    with monkeypatch.context() as clock, remote.within(0.3):
        clock.setattr(time, "monotonic", float)  # stands still, however busy we are
        time.sleep(0.8)
    with pytest.raises(remote.Gone, match="never ends"), remote.within(0.3):
        while True:
            pass
    with pytest.raises(remote.Gone, match="never ends"), remote.within(0.1):
        time.sleep(60)


def test_what_a_group_can_bound_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (True, False):
        monkeypatch.setattr(sandbox, "grouped", lambda there=there: there)
        line = sandbox.command([], [])
        assert (line[0] == "systemd-run") == there and "bwrap" in line
        assert ("MemoryMax=3G" in line) == there


def test_replaced_helpers_change_nothing() -> None:
    """What runs beside the answers is our own copy of the helpers."""
    replaced = """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith(("nmt_book.course.check", "nmt_book.course.standins")):
        for key, thing in list(vars(module).items()):
            if callable(thing) and not isinstance(thing, type):
                setattr(module, key, lambda *a, **k: None)
"""
    of = kit.assignment("A5_training")
    notebook = kit.submission(of)
    notebook.cells.append(nbformat.v4.new_code_cell(replaced))
    assert kit.mark(of, notebook).failed() == set()


def test_an_operator_that_is_refused_leaves_a_note() -> None:
    of = kit.assignment("A4_transformer")
    code = kit.solution(of.source, "norm").partition("middle =")[0]
    code += (
        "return torch.ops.aten.native_layer_norm(x, x.shape[-1:], None, None, 0.03)[0]"
    )
    marks = kit.mark(of, kit.submission(of, {"norm": code}))
    assert marks.failed() >= {"norm-numbers"}
    assert any(note.startswith(LOOK) for note in marks.notes)


def test_what_hidden_tests_give_is_not_told() -> None:
    tell = "def tokenize(*args):\n    raise ValueError(f'GOT {args}')"
    of, secret = OF, "tokenize('secret words')"
    with started(of, 10, None) as (wire, _):
        wire.ask("cell", tell, "tokenize", False)
        assert "secret" in run_tests(of, secret, wire)
        said = run_tests(of, secret, wire, hidden="tokenize-marks")
    assert said == "tokenize-marks: the answer raises an error in a hidden test"


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_what_is_private_is_hidden_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class among the packages, and one behind a link."""
    private, link = tmp_path / "packages/class", tmp_path / "link"
    private.mkdir(parents=True)
    (private / "answers").touch()
    link.symlink_to(private.parent)
    shown = [*sandbox._shown(), str(link)]
    monkeypatch.setattr(sandbox, "_shown", lambda: shown)
    packages = Path(nbformat.__file__).parent
    folders = [str(packages), str(link), str(link / "class")]
    code = f"import os, json; print(json.dumps([os.listdir(f) for f in {folders}]))"
    line = [*sandbox.command([], [private, packages]), sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True)
    assert json.loads(done.stdout) == [[], ["class"], []], done.stderr


# ---------------------------------------------------------------------- find the fault


def test_nothing_is_broken_while_a_submission_is_graded() -> None:
    """Cells that plant, ask, accuse and heal again cost nothing and leave no note."""
    of = kit.assignment("A4_transformer")
    notebook = kit.submission(of)
    own = "case = book.plant(8)", "case", 'case.ask("map")\ncase.heal()'
    for source in own:
        notebook.cells.insert(2, nbformat.v4.new_code_cell(source))
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    marks = kit.mark(of, notebook)
    assert marks.failed() == set() and marks.notes == [], marks
    assert not any("plant" in cell for cell in of.set_up), "not in the grader either"


def test_the_case_does_not_tell_the_grader_its_fault() -> None:
    of = kit.assignment("A4_transformer")
    for asked in ("case.fault[0]", "case.fault.function"):
        marks = kit.mark(of, kit.submission(of, {"fault": f"suspect = {asked}"}))
        assert marks.failed() == {"fault-found"}, marks.says
