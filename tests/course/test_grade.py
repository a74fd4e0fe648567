"""``make grade`` around the marking: what is found, what is written, what survives, what is noticed."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from tests.course import kit
import nbformat
import psutil
import pytest

from nmt_course import course, grade, report, sandbox
from nmt_course.assignment import Assignment
from nmt_course.marking import Sitting, run_tests
from nmt_course.report import Marks, Part, Report
from nmt_course.submissions import Cell, Submission, find

NAME = "A1_tokenization"
SOURCE = course.load(NAME)
WRITTEN = Part("read", 4, None, written="Two lines,\n\tone „quote“; a semicolon, é.")


# ------------------------------------------------------------------------------------ finding


def found(folder: Path, *files: str) -> dict[str, Submission]:
    for file in files:
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + file.encode("latin-1")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return {
        f"{s.student}/{s.assignment[:2]}": s
        for s in find(folder, course.names(), lambda path: "")
    }


def test_folders_in_every_usual_order(tmp_path: Path):
    files = [
        "ada/A1_tokenization.ipynb",
        "bob/A1_tokenization/A1_tokenization.ipynb",
        "A2/carl.ipynb",
        "A2/dora_A2.ipynb",
        "A3_attention/emil/A3.ipynb",
        "fred_a1.ipynb",
        "A1 - gina.ipynb",
    ]
    wanted = {"ada/A1", "bob/A1", "carl/A2", "dora/A2", "emil/A3", "fred/A1", "gina/A1"}
    assert set(found(tmp_path, *files)) == wanted


def test_odd_names_are_found_and_junk_is_not(tmp_path: Path):
    long = "x" * 240
    files = [
        f"{long}/A1.IPYNB",
        ".hidden/A1.ipynb",
        "caf\xe9/A1.ipynb",
        "ada/A1.ipynb",
        "\x1b[31mred/A1.ipynb",
    ]
    junk = [
        "ada/.ipynb_checkpoints/A1-checkpoint.ipynb",
        "__MACOSX/ada/._A1.ipynb",
        "ada/timestamp.txt",
        "ben/A1.pdf",
    ]
    these = found(tmp_path, *files, *junk)
    wanted = {
        f"{long}/A1",
        ".hidden/A1",
        "caf\udce9/A1",
        "ada/A1",
        "ben/A1",
        "\x1b[31mred/A1",
    }
    assert set(these) == wanted and these["ben/A1"].problem and not these["ada/A1"].note


def test_links_and_two_files_are_told(tmp_path: Path):
    found(tmp_path, "ada/A1.ipynb", "ada/new/A1.ipynb")
    (tmp_path / "linked").symlink_to(tmp_path / "ada")
    (tmp_path / "mallory_A1.ipynb").symlink_to(tmp_path / "ada/A1.ipynb")
    these = found(tmp_path)
    assert (
        "link" in these["linked/"].problem
        and "more than one file" in these["ada/A1"].note
    )
    assert set(these) == {"ada/A1", "linked/", "mallory/A1"}


# ------------------------------------------------------------------------------------ writing


Result = tuple[Submission, Marks]


def result(
    student: str, *parts: Part, notes: tuple[str, ...] = (), assignment: str = NAME
) -> Result:
    return Submission(student, assignment, Path(f"{student}.ipynb")), Marks(
        list(parts), list(notes)
    )


def write(folder: Path, *results: Result) -> dict[str, dict[str, str]]:
    table = Report(folder)
    table.write()
    for submission, marks in results:
        table.add(submission, marks)
        assert (
            submission.student in (folder / "marks.csv").read_text("utf-8-sig")
            or not submission.student.isascii()
        )
    return {row["student"]: row for row in rows(folder, "marks")}


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_names_that_look_alike_have_pages_of_their_own(tmp_path: Path):
    names = [
        "a b",
        "a_b",
        "A B",
        "a/b",
        "é",
        "ê",
        "x" * 240,
        "x" * 241,
        "\udcff",
        "../up",
        "=1+1",
        "a\nb",
        "con",
        ".",
    ]
    marks = write(tmp_path, *(result(name, Part("read", 4, 4.0)) for name in names))
    pages = [row["feedback"] for row in marks.values()]
    assert (
        len({page.lower() for page in pages})
        == len(names)
        == len(list((tmp_path / "feedback").iterdir()))
    )
    assert "'=1+1" in marks


def test_nothing_raw_reaches_terminal_or_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bad = "\x1b]0;owned\x07\x1b[2J\u202e\udc80"
    one = result(bad, Part("read", 4, 0.0, bad), notes=(bad,))
    grade.show(*one)
    assert capsys.readouterr().out.strip().isprintable()
    write(tmp_path, one)
    assert "\x1b" not in (tmp_path / "marks.csv").read_text(
        "utf-8-sig"
    ) + report.feedback(*one)


def test_a_page_has_1_mb_at_most():
    one = result(
        "ada",
        *(Part(f"p{i}", 1, 0.0, '"' * 10_000) for i in range(15)),
        notes=("&" * 10_000,) * 30,
    )
    one[1].work = '"' * 50_000_000
    assert len(report.feedback(*one).encode()) < 1_000_000


def test_nobody_gets_0_of_0(tmp_path: Path):
    unknown = result("ada", notes=("PLEASE LOOK: …",), assignment="")
    assert (
        write(tmp_path, unknown)["ada"]["score"],
        rows(tmp_path, "marks")[0]["of"],
    ) == ("", "")


# ------------------------------------------------------------------------------- typed points


SPREADSHEETS = {
    "as it was": ("utf-8-sig", ",", "\r\n"),
    "no mark at the start": ("utf-8", ",", "\n"),
    "semicolons": ("utf-8-sig", ";", "\r\n"),
    "Unicode text": ("utf-16", "\t", "\r\n"),
    "Windows": ("cp1252", ";", "\r\n"),
}


def type_in(
    folder: Path,
    encoding: str = "utf-8-sig",
    delimiter: str = ",",
    ends: str = "\r\n",
    score: str = "3,5",
):
    """What a person does with a spreadsheet."""
    table = rows(folder, "written")
    table[0].update(score=score, comment="good; but „short“")
    for row in table:
        row["answer"] = row["answer"].replace("\n", ends)
    with (folder / "written.csv").open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(
            file, table[0], delimiter=delimiter, lineterminator=ends
        )
        writer.writeheader()
        writer.writerows(table)


def waiting(
    student: str = "=ada", text: str = WRITTEN.written, assignment: str = NAME
) -> Result:
    return result(
        student,
        Part("read", 4, None, written=text),
        Part("tests", 90, 90.0),
        assignment=assignment,
    )


@pytest.mark.parametrize("sheet", SPREADSHEETS)
def test_typed_points_survive_a_spreadsheet(sheet: str, tmp_path: Path):
    write(tmp_path, waiting())
    type_in(tmp_path, *SPREADSHEETS[sheet])
    for _ in range(2):  # and another run
        assert write(tmp_path, waiting())["'=ada"]["score"] == "93.5"
    assert rows(tmp_path, "written")[0]["comment"] == "good; but „short“"


def test_typed_points_survive_another_folder_and_a_broken_file(tmp_path: Path):
    write(tmp_path, waiting("ada"))
    type_in(tmp_path)
    write(tmp_path, waiting("bob"), waiting("ada", assignment="A2_positions_and_masks"))
    broken = result("ada", Part("read", 4), notes=("PLEASE LOOK: …",))
    broken[1].stop("it is broken")
    write(tmp_path, broken)
    assert write(tmp_path, waiting("ada"))["ada"]["score"] == "93.5"


def test_a_changed_answer_is_read_again(tmp_path: Path):
    write(tmp_path, waiting("ada"))
    type_in(tmp_path)
    marks = write(tmp_path, waiting("ada", "Another text."))["ada"]
    assert (
        marks["score"] == "90"
        and "PLEASE LOOK: read was changed since it got 3,5 points" in marks["notes"]
    )
    assert "3,5 points for an earlier text" in rows(tmp_path, "written")[0]["comment"]


@pytest.mark.parametrize("score", ["three", "nan", "inf"])
def test_points_that_are_none_change_nothing(score: str, tmp_path: Path):
    write(tmp_path, waiting("ada"))
    type_in(tmp_path, score=score)
    with pytest.raises(ValueError, match="is no number; nothing was changed"):
        Report(tmp_path)


# ------------------------------------------------------------------------------ another seed


@pytest.mark.parametrize("name", course.names())
def test_another_seed_is_noticed(name: str):
    this, last = course.load(name, "2027"), course.load(name, "2026")
    assignment = Assignment(this, course.release(this))
    answers = {
        c.metadata.nbgrader.grade_id: kit.solution(last, c.metadata.nbgrader.grade_id)
        for c in last.cells
        if c.cell_type == "code" and c.metadata.nbgrader.solution
    }
    noted = assignment.of_another_seed(kit.cells(kit.submission(last)))
    assert (
        len(noted) == 2
        and "of another SEED: was the class" in noted[0]
        and "published solutions" in noted[1]
    )
    copied = assignment.of_another_seed(kit.cells(kit.submission(this, answers)))
    assert len(copied) == 1 and "published solutions" in copied[0]
    for variants in zip(
        *(list(v.values())[:5] for v in kit.tables()[name].RIGHT.values()), strict=True
    ):
        mine = kit.submission(
            this, dict(zip(kit.tables()[name].RIGHT, variants, strict=True))
        )
        assert not [
            note
            for note in assignment.of_another_seed(kit.cells(mine))
            if "locked" in note
        ]
    assert assignment.of_another_seed(kit.cells(kit.submission(this))) == []
    assert assignment.of_another_seed(kit.cells(kit.submission(this, blank=True))) == []


def test_a_class_is_not_made_anew_by_accident(tmp_path: Path):
    def make(*options: str) -> subprocess.CompletedProcess[str]:
        run = [sys.executable, "-m", "nmt_course.course", "--out", tmp_path, *options]
        return subprocess.run(run, capture_output=True, text=True)

    kit.write_class(course.load(NAME, "2026"), NAME, tmp_path)
    path = tmp_path / "source" / NAME / f"{NAME}.ipynb"
    done = make("--seed", "2027")
    assert done.returncode == 2 and "another SEED" in done.stderr and path.exists()


# ------------------------------------------------------------------------------------ limits


def test_processes_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    code = "import os, time\nfor _ in range(3): os.fork()\nhoard = bytearray(30 << 20)\nprint(flush=True)\ntime.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE
    ) as process:
        for _ in range(8):
            process.stdout.read(1)
        job = SimpleNamespace(process=process, peak=0)
        assert grade.Job.stop_if_too_much(job) == "" and job.peak > 200 << 20
        left = grade.children(process.pid)
        monkeypatch.setattr(grade, "PROCESSES", 6)
        assert len(left) == 7 and "more than 6" in grade.Job.stop_if_too_much(job)
        process.kill()
    psutil.wait_procs(left, timeout=30)
    assert all(
        not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
        for child in left
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE
    ) as process:
        for _ in range(8):
            process.stdout.read(1)
        monkeypatch.undo()
        monkeypatch.setattr(grade, "TOGETHER", 100 << 20)
        assert "100 MB" in grade.Job.stop_if_too_much(
            SimpleNamespace(process=process, peak=0)
        )
        process.kill()


def test_a_process_that_dies_is_tried_once_more_and_costs_itself_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if not grade.LINUX:
        pytest.skip("needs fork")
    path = kit.write_class(SOURCE, NAME, tmp_path / "class")
    assignments = grade.load_course(tmp_path / "class")

    def die(submission: Submission, *_) -> Marks:
        if submission.student == "bad":
            with (tmp_path / "tries").open("a") as file:
                file.write("x")
            os._exit(1)
        return Marks([Part("read", 4, 4.0)])

    monkeypatch.setattr(grade, "mark_file", die)
    handed_in = [Submission(name, NAME, path) for name in ("ada", "bad", "bob")]
    marks = {
        s.student: m for s, m in grade.mark_all(handed_in, assignments, 10, None, 2)
    }
    assert (tmp_path / "tries").read_text() == "xx" and marks["ada"].score == marks[
        "bob"
    ].score == 4
    assert (
        marks["bad"].score == 0
        and sum(part.points for part in marks["bad"].parts) == 100
    )
    assert "ended by itself, twice" in marks["bad"].notes[0]


def test_a_whole_run(tmp_path: Path):
    """As a teacher sees it, without a sandbox: marks, a page, one line for what is no notebook."""
    kit.write_class(SOURCE, NAME, tmp_path / "class")
    handed_in, out = tmp_path / "submitted", tmp_path / "grades"
    handed_in.mkdir()
    nbformat.write(
        kit.submission(SOURCE), handed_in / "ada.ipynb"
    )  # known by its cells
    (handed_in / "eve_A1.ipynb").touch()
    (handed_in / "bob.ipynb").write_text("[" * 100_000)
    run = [
        sys.executable,
        "-m",
        "nmt_course.grade",
        handed_in,
        "--course",
        tmp_path / "class",
        "--out",
        out,
    ]
    said = subprocess.run(
        [*run, "--trusted"], check=True, capture_output=True, text=True
    )
    marks = {row["student"]: row for row in rows(out, "marks")}
    assert {who: (row["score"], row["of"]) for who, row in marks.items()} == {
        "ada": ("92", "100"),
        "bob": ("0", "100"),
        "eve": ("0", "100"),
    }
    assert (
        "empty" in marks["eve"]["notes"]
        and "no notebook" in marks["bob"]["notes"]
        and not marks["ada"]["notes"]
    )
    page = (out / "feedback" / marks["ada"]["feedback"]).read_text("utf-8")
    assert (
        "92 of 100" in page
        and "HIDDEN" not in page
        and "3 submissions" in said.stdout
        and not said.stderr
    )


def test_without_bubblewrap_there_is_one_sentence(tmp_path: Path, monkeypatch, capsys):
    kit.write_class(SOURCE, NAME, tmp_path / "class")
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox.unavailable.cache_clear()
    monkeypatch.setattr(
        sys, "argv", ["grade", str(tmp_path), "--course", str(tmp_path / "class")]
    )
    assert grade.main() == 2
    sandbox.unavailable.cache_clear()
    said = capsys.readouterr()
    assert (
        not said.out
        and len(said.err.splitlines()) == 1
        and "apt install bubblewrap" in said.err
    )
    assert "TRUSTED=1" in said.err


# --------------------------------------------------------------------------------- messages


def test_what_hidden_tests_give_is_not_told(marker):
    """An answer that says what it got: the public example is shown, hidden ones are not; values are, not stand-ins."""
    assignment = Assignment(SOURCE, course.release(SOURCE))
    tell = "def tokenize(*args):\n    if {}:\n        raise ValueError(f'GOT {{args}}')\n    return object()"
    for condition, told in (
        ("True", "GOT"),
        ("'12' not in str(args) and 'Ann' not in str(args)", ""),
    ):
        cells = [Cell("code", tell.format(condition), "tokenize")]
        says = {part.name: part.says for part in marker.mark(assignment, cells).parts}[
            "tokenize-marks"
        ]
        assert ("GOT" in says) == bool(told), says
        assert told or not ("remote" in says or "Answer" in says), says
    source = (
        "x = 1\n### BEGIN HIDDEN TESTS\ntokenize('secret words')\n### END HIDDEN TESTS"
    )
    cells = [Cell("code", tell.format("True"), "tokenize")]
    sitting = Sitting(assignment, assignment.program(cells, []), 10, None, [])
    said = run_tests(assignment, source, sitting.enter())
    sitting.leave()
    assert said == "raises ValueError (line 3 of its cell) where a hidden test calls it"


REPLACED = """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith(("nmt_course.check", "nmt_course.standins")):
        for key, thing in list(vars(module).items()):
            if callable(thing) and not isinstance(thing, type):
                setattr(module, key, lambda *a, **k: None)
"""


def test_replaced_helpers_change_nothing(marker):
    """What runs beside the answers is our own copy of the helpers, not the one that cells can reach."""
    source = course.load("A5_training")
    assignment = Assignment(source, course.release(source))
    marks = marker.mark(
        assignment, [*kit.cells(kit.submission(source)), Cell("code", REPLACED)]
    )
    assert {part.name: part.says for part in marks.parts if part.score == 0} == {}


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_what_is_private_is_hidden_wherever_it_lies():
    """A class inside a folder that the sandbox shows, such as that of the packages."""
    private = Path(nbformat.__file__).parent
    code = f"import os; print(os.listdir({str(private)!r}), len(os.listdir({str(private.parent)!r})) > 10)"
    with sandbox.filters() as rules:
        run = [*sandbox.command([], [private], rules), sys.executable, "-c", code]
        done = subprocess.run(
            run, pass_fds=[rules.fileno()], capture_output=True, text=True
        )
    assert done.stdout.strip() == "[] True", done.stderr


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_what_is_private_is_hidden_behind_a_link(tmp_path, monkeypatch):
    """Packages that are shown through a link, with a class inside."""
    private, link = tmp_path / "packages" / "class", tmp_path / "link"
    private.mkdir(parents=True)
    (private / "answers").touch()
    link.symlink_to(private.parent)
    shown = [*sandbox._shown(), str(link)]
    monkeypatch.setattr(sandbox, "_shown", lambda: shown)
    with sandbox.filters() as rules:
        show = f"import os; print(os.listdir({str(link)!r}), os.listdir({str(link / 'class')!r}))"
        run = [*sandbox.command([], [private], rules), sys.executable, "-c", show]
        done = subprocess.run(
            run, pass_fds=[rules.fileno()], capture_output=True, text=True
        )
    assert done.stdout.strip() == "['class'] []", done.stderr
