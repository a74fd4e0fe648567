"""``make grade``: what is collected, what nbgrader keeps, what is written and
noticed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from pathlib import Path
from warnings import catch_warnings
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
import pytest
from filelock import FileLock
from nbgrader.api import Gradebook

from nmt_book.course import (
    collect,
    course,
    dates,
    grade,
    marking,
    remote,
    sandbox,
    tables,
)
from nmt_book.course.assignment import LOOK, grade_id
from nmt_book.course.marking import run_tests, started
from tests.course import copies, kit
from tests.course.hostile import FILES
from tools import links

NAME = "A1_tokenization"
# Half a character, a sum nested 3,000 deep, brackets nested 100 deep.
ODD = ("# \ud800", "+".join(["1"] * 3000), "(" * 100 + "1" + ")" * 100)
OF, WHO = kit.assignment(NAME), ("ada", "bob", "abe", "fay", "eve", "gil")


# ----------------------------------------------------------------------------
# collecting

LITTLE = json.dumps(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x")]))
# Student w is number k, assignment n is number i.
PLACES = """\
muller{w}_12{k}_9{i}1_{t}.ipynb
muller{w}_LATE_12{k}_9{i}2_{n}-1.ipynb
{W} Müller_7{i}{k}_assignsubmission_file_/{t}.ipynb
{W} Müller_7{i}{k}_assignsubmission_file_{n} (1).ipynb
{n}_{w}_m_attempt_2027-02-0{i}-15-00-00_x.ipynb.txt
{n}-submissions/{n}-{w}-m/{t}.ipynb
Copy of {t}.ipynb - {W} Müller.ipynb.json
{W} Müller - Kopie von {n}.ipynb
{w}/{t}/{t}.ipynb
{n}/{w}.ipynb
{w}_{n}-Copy1.ipynb
""".splitlines()
HEAD = "id, Last_name,first_name,email,lms_user_id\n"
PEOPLE = f"{HEAD}bob,Müller,Bob,,121 bob-m\n,,,,\neve,Müller,Eve,,122 eve-m\n"


def pack(path: Path, files: dict[str, str | bytes]) -> bytes:
    """Writes files into a folder, or into a zip, which is returned."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        if path.suffix == ".zip":
            with ZipFile(path, "a", ZIP_DEFLATED) as archive:
                archive.writestr(name, data)
        else:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return path.read_bytes() if path.suffix == ".zip" else b""


def collected(root: Path) -> tuple[list[str], dict[str, str]]:
    """Whose submissions there are, and what is told of each file."""
    for name in kit.NAMES:
        kit.hand_in(root / f"release/{name}/{name}.ipynb", nbformat.v4.new_notebook())
    index = collect.read_students(root / "students.csv")[1]
    problems = collect.collect(root / "in", root, kit.NAMES, index)
    told = {file: text for text, files in problems.items() for file in files}
    return sorted(p.parts[-3] for p in root.glob("submitted/*/*/*.ipynb")), told


@pytest.mark.parametrize("first", range(len(PLACES)))
@pytest.mark.parametrize("how", ["files", "zips", "list"])
def test_a_student_is_one_person(first: int, how: str, tmp_path: Path) -> None:
    """In all assignments of one platform; with a list, on all platforms."""
    for i, title in enumerate(kit.NAMES):
        place = PLACES[(first + i * (how == "list")) % len(PLACES)]
        for k, w in enumerate(["bob", "eve"], 1):
            file = place.format(i=i, k=k, w=w, W=w.title(), t=title, n=title[:2])
            pack(tmp_path / "in" / ("all.zip" if how == "zips" else ""), {file: LITTLE})
    if how == "list":
        (tmp_path / "students.csv").write_text(PEOPLE)
    got, told = collected(tmp_path)
    assert len(got) == 12 and len(set(got)) == 2, (got, told)
    assert how != "list" or {*got} == {"bob", "eve"}
    assert {*told.values()} <= {"late, says Canvas"}


def test_whatever_gives_no_submission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "MAX_ZIP", 1 << 20)

    def zipped(name: str, data: str | bytes) -> bytes:
        (tmp_path / "a.zip").unlink(missing_ok=True)
        return pack(tmp_path / "a.zip", {name: data})

    fine = "ok/A1.ipynb", "ok/notes.txt", "json/A1.ipynb.json", "text/A1.IPYNB.txt"
    files: dict[str, str | bytes] = dict.fromkeys(fine, LITTLE)
    files |= {"up.zip": zipped("../../up/A1.ipynb", LITTLE)}
    told_of = {f"{t.replace(' ', '-')}_A1.ipynb": file for t, file in FILES.items()}
    bad: dict[str, str | bytes] = {file: data for file, (data, _) in told_of.items()}
    files["old/A1.ipynb"] = bad.pop("an-old-format_A1.ipynb")
    bad |= {f"{end}/A1.{end}": "x" for end in ("py", "html", "pdf", "rar", "zip")}
    deep = zipped("A1.ipynb", LITTLE)
    for _ in range(4):
        deep = zipped("a.zip", deep)
    bad |= {"other.zip": zipped("a.py", ""), "junk.zip": zipped("._A1.ipynb", "")}
    bad |= {"deep.zip": deep, "bomb.zip": zipped("A1.ipynb", bytes(2 << 20))}
    bad |= {"hidden/.A1.ipynb": "", "new/work.ipynb": LITTLE, "A1.ipynb": LITTLE}
    bad |= {f"Bob_{i}_assignsubmission_file/A1.ipynb": LITTLE for i in (1, 2)}
    pack(tmp_path / "in", files | bad)
    (tmp_path / "in/link_A1.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "in/pipe_A1.ipynb")
    got, told = collected(tmp_path)
    assert got == ["json", "ok", "old", "text", "up"]
    assert all(why in told[file] for file, (_, why) in told_of.items() if why)
    assert told["bomb.zip"].endswith("holds too much")
    assert [f.parts[-1] for f in collect.files(tmp_path / "in/up.zip")] == ["A1.ipynb"]
    missing = [*bad, "link_A1.ipynb", "pipe_A1.ipynb"]
    first = re.compile(r"/|\.zip|\.ipynb")
    assert {first.split(f)[0] for f in told} == {first.split(f)[0] for f in missing}


def test_with_a_list_nobody_else_is_collected(tmp_path: Path) -> None:
    """Nor does a student's own name for a file make it another's."""
    (tmp_path / "students.csv").write_text(PEOPLE + "third,Müller,Bob,,\n")
    here = "bob/mullereve_122_1_A1.ipynb", "bobm_121_3_mullereve_122_1_A2.ipynb"
    pack(
        tmp_path / "in",
        dict.fromkeys([*here, "gina_A1.ipynb", "Bob Müller - A3.ipynb"], LITTLE),
    )
    got, told = collected(tmp_path)
    assert got == ["bob", "bob"] and "nobody" in told["gina_A1.ipynb"]
    assert "several people" in told["Bob Müller - A3.ipynb"]


@pytest.mark.parametrize("people", ["", PEOPLE])
def test_what_is_as_it_was_released_is_not_handed_in(
    people: str, tmp_path: Path
) -> None:
    """A repository holds all assignments; what is worked on may have another name."""
    (tmp_path / "students.csv").write_text(people)
    released = json.dumps(nbformat.v4.new_notebook())
    here = "A1-submissions/A1-bob-m"
    pack(tmp_path / "in", {f"{here}/{t}/{t}.ipynb": released for t in kit.NAMES})
    pack(tmp_path / "in", {f"{here}/{NAME}/my.ipynb": LITTLE})
    assert collected(tmp_path) == (["bob" if people else "bob-m"], {})
    pack(tmp_path / "in", {"A1-submissions/A1-eve-m/A1.ipynb": released})
    (told,) = collected(tmp_path)[1].values()
    assert told.endswith("nothing is written in it yet")


@pytest.mark.parametrize("text", ["bob,Müller,,,\n", "bob,,,,\nbob,,,,\n", ",Bob,,,\n"])
def test_a_list_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    """In another encoding, of two people with one id, or of one without."""
    (tmp_path / "students.csv").write_bytes((HEAD + text).encode("latin-1"))
    with pytest.raises(ValueError, match=r"students\.csv"):
        collect.read_students(tmp_path / "students.csv")


@pytest.mark.filterwarnings("ignore")  # SQLAlchemy's, about nbgrader
def test_who_was_collected_before_there_was_a_list_is_the_same_person(
    tmp_path: Path,
) -> None:
    pack(
        tmp_path / f"submitted/Bob_M/{NAME}",
        {"page.txt": "Bob Müller_7_assignsubmission_file_A1"},
    )
    (tmp_path / "students.csv").write_text(PEOPLE)
    index = collect.read_students(tmp_path / "students.csv")[1]
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        book.add_assignment(NAME)
        for student in ("Bob_M", "bob"):
            book.add_student(student)
        book.add_submission(NAME, "Bob_M")
        for _ in range(2):
            grade.adopt(book, tmp_path, collect.titles([NAME]), index)
        assert [s.id for s in book.students] == ["bob"]
        assert book.find_submission(NAME, "bob")
    assert (tmp_path / f"submitted/bob/{NAME}/page.txt").exists()


def test_names_are_safe_and_stay_different() -> None:
    names = ["a b", "a_b", "A,B", "é", "caf\udce9", "x" * 99, "x" * 98, "../up", "=1+1"]
    names += ["a;=1+1", "@ada", "\x1b[31mred", "con\n", "-2", "+3", "."]
    safe = list(map(collect.safe, names))
    assert len(set(safe)) == len(names)
    for name in safe:
        assert name.isprintable() and name[0] not in "=+-@." and len(name) < 80
        assert not set(name) & set(",;/\"'\t ="), name
    assert collect.safe("ada.lovelace") == "ada.lovelace"
    assert collect.safe("Zo\u0308e") == collect.safe("Zöe"), "as macOS writes it"


# ------------------------------------------------------------------ a class, graded


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders, one after the other, in the second of which bob hands in again.
    Between them, ada's answer is read, and the teacher makes a list of times; at the
    end, marking bob is cut off, and a test is corrected."""
    folder = tmp_path_factory.mktemp("graded")
    root = folder / "class"
    shutil.copytree(kit.made(""), root)
    people = [f"{who},Family,{who},{who}@example.org,7 {who}-f\n" for who in WHO]
    hand_in(folder / "1/ada/A1.ipynb", answers="mine")
    hand_in(folder / "1/=cmd;x/A1.ipynb", answers="mine")
    hand_in(folder / "1/bob/A1.ipynb", part="tokenize")
    hand_in(folder / "1/gil/A1.ipynb")
    hand_in(folder / "1/abe/A1.ipynb", answers="abe's", own=ODD)
    (folder / "1/abe/timestamp.txt").write_text("1999-01-02 10:00:00 UTC")
    hand_in(folder / "1/fay_1_assignsubmission_file/A1.ipynb", part="tokenize")
    (folder / "1/gil.pdf").touch()
    (root / "feedback").mkdir()
    (root / "feedback/fay").touch()  # in place of a folder
    (root / "students.csv").write_text("".join([HEAD, *people]))
    hand_in(folder / "2/bob/A1.ipynb", answers="bob's")
    hand_in(folder / "2/eve/A1.ipynb", part="tokenize")
    times = "student,assignment,time\neve,a1,2030-01-02 11:00:00+01:00\n"
    times += "ada,A1,2030-01-01\n"
    say(folder, 1, "1")
    read_by_hand(root, "ada", 3.5)
    (root / "times.csv").write_text(times)
    dates.main("due", "A1=2030-01-01 10:00 UTC", root=root)
    dates.main("extend", "ada", "2", root=root)
    say(folder, 2, "2")
    (root / f"autograded/bob/{NAME}/marks.txt").unlink()
    say(folder, 3, "--format", "moodle")
    source = root / f"source/{NAME}/{NAME}.ipynb"
    source.write_text(source.read_text() + "\n")
    say(folder, 4, "--format", "canvas")
    say(folder, 5, "--again", "A1")
    return folder


def hand_in(
    path: Path, answers: str = "", part: str = "", own: Sequence[str] = ()
) -> None:
    """All answers, one part's, or the release as it was."""
    alone = {part: kit.solution(OF.source, part)} if part else None
    notebook = kit.submission(OF, alone, blank=not answers)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and answers and cell.metadata.nbgrader.solution:
            cell.source = f"By {answers} hand: {cell.metadata.nbgrader.grade_id}"
    notebook.cells += map(nbformat.v4.new_code_cell, own)
    kit.hand_in(path, notebook)


def say(folder: Path, number: int, *words: str) -> None:
    """Runs ``make grade`` in this process, which has loaded what it needs, and keeps
    what it says."""
    line = ["grade", "--trusted", "--course", "class", *words]
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        patch.chdir(folder)
        patch.setattr(sys, "argv", line)
        patch.setattr(marking, "launch", copies.launch)
        assert grade.main() == 0 and not err.getvalue(), err.getvalue()
    (folder / f"said{number}").write_text(out.getvalue())


def read_by_hand(root: Path, student: str, points: float) -> None:
    """What a person does in formgrader."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "nmt") as book:
        for cell, given in {"read": points, "split": 0}.items():
            mark = book.find_grade(cell, NAME, NAME, student)
            mark.manual_score, mark.needs_manual_grade = given, False
        book.db.commit()


def table(folder: Path, style: str = "") -> list[list[str]]:
    with (folder / f"class/grades{style}.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_marks_are_of_what_was_collected(graded: Path) -> None:
    """Nothing of the first folder is lost, points for written answers included."""
    head, *rows = table(graded)
    assert head[4:] == [f"{NAME} by machine", f"{NAME} written", NAME]
    marks = {row[0]: row[4:] for row in rows}
    assert marks["ada"] == ["92.0", "3.5", "95.5"]
    assert marks["bob"] == marks["abe"] == ["92.0", "unread", "unread"]
    assert marks["eve"] == marks["fay"] == ["14.0", "0.0", "14.0"]
    assert len(rows) == 5, "neither gil, who handed nothing in, nor the unknown one"


def test_the_platforms_import_the_table(graded: Path) -> None:
    """The header and the second line that Canvas's GradebookImporter looks for."""
    canvas, moodle = table(graded, "-canvas"), table(graded, "-moodle")
    assert canvas[0] == f"Student,ID,SIS User ID,SIS Login ID,Section,{NAME}".split(",")
    assert canvas[1] == ["Points Possible", "", "", "", "", "100"]
    assert ["Family, ada", "7", "ada", "ada@example.org", "", "95.5"] in canvas
    assert ["bob", "Family", "bob", "bob@example.org", ""] in moodle, "unread is no 0"
    assert moodle[0] == [
        *("First name", "Last name", "ID number", "Email address"),
        f"Assignment: {NAME} (Real)",
    ]
    with ZipFile(graded / f"class/feedback/{NAME}.zip") as pages:
        assert f"ada_{NAME}.html" in pages.namelist()


def test_what_happened_is_told_in_one_line_each(graded: Path) -> None:
    said = {i: (graded / f"said{i}").read_text() for i in range(1, 6)}
    assert "not collected: students.csv has nobody of this name: =cmd;x/A1" in said[1]
    assert "not collected: it is not a notebook (.ipynb): gil.pdf" in said[1]
    assert f"did not hand in {NAME}: eve, gil" in said[1]
    assert "nothing is written in it yet: gil/A1.ipynb" in said[1]
    (told,) = [line for line in said[1].splitlines() if "NotADirectory" in line]
    assert told.startswith("no page") and told.endswith(f"fay {NAME}")
    assert f"no time in times.csv: abe {NAME}, bob {NAME}, fay {NAME}" in said[2]
    assert re.search(r"mean .*\n.*\n  +\d+%  .*\n(.*\n)*.*%  tokenize-marks\n", said[2])
    assert f"24.0 hours late: eve {NAME}" in said[2] and "late: ada" not in said[2]
    assert ": marked," not in said[4] and said[3].count(": marked,") == 1
    assert f"was cut off, and marked again: bob {NAME}" in said[3]
    assert said[4].count("source/ has changed since: make grade AGAIN=A1: a") == 1
    assert said[5].count(": marked,") == 5 and "has changed" not in said[5]


def test_copies_are_found_and_nobody_else() -> None:
    """In other words for the same, but not in what is not an answer, in short ones, in
    stubs, or in the text of another release."""
    mine = kit.solution(OF.source, "plan")
    renamed = re.sub(r"\bbatch(es)?\b", r"my\1", mine).replace(
        "lengths[i]", "lengths[ i ]"
    )
    documented = mine.replace(":\n", ':\n    """Plans."""  # mine\n', 1)
    read = "The area of padding is what matters, in each batch. " * 3
    classes = {
        "ada": kit.submission(OF, {"plan": mine, "share": "share = 1"}, blank=True),
        "bob": kit.submission(OF, {"plan": renamed, "share": "share = 1"}, blank=True),
        "eve": kit.submission(OF, {"plan": documented}, blank=True),
        "gil": kit.submission(OF, {"plan": kit.tries(NAME)["right: plan, tensors"][1]}),
        "old": kit.submission(kit.assignment(NAME, "2026"), blank=True),
        "older": kit.submission(kit.assignment(NAME, "2026"), blank=True),
    }
    for student, answer in {"eve": read, "old": read.upper(), "ada": "Left."}.items():
        for cell in classes[student].cells:
            if grade_id(cell) == "read":
                cell.source = answer
    restored = {who: OF.restored(nb)[0] for who, nb in classes.items()}
    assert tables.alike(OF, restored) == {
        ("ada", "bob", "eve"): ["plan"],
        ("eve", "old"): ["read"],
    }
    of = kit.assignment("A4_transformer")
    stubs = of.restored(kit.submission(of, blank=True))[0]
    assert tables.alike(of, {"ada": stubs, "bob": stubs}) == {}


def test_times_are_the_teachers(graded: Path) -> None:
    with Gradebook(f"sqlite:///{graded}/class/gradebook.db", "nmt") as book:
        assert book.find_submission(NAME, "eve").timestamp == datetime(2030, 1, 2, 10)
        abe = book.find_submission(NAME, "abe")
        assert abe.timestamp is None, "a student's"
        abe.timestamp = datetime(2030, 1, 1)
        book.db.commit()
    told = collect.Problems(list)
    grade.set_times(None, graded / "class", {("abe", NAME)}, {}, {}, told)
    with Gradebook(f"sqlite:///{graded}/class/gradebook.db", "nmt") as book:
        assert book.find_submission(NAME, "abe").timestamp is None, "no list any more"


def test_of_two_files_the_one_with_the_assignments_name_counts(tmp_path: Path) -> None:
    for file in ("ada_7_assignsubmission_/A1", "ada/A1_tokenization", "ada/A1 last"):
        hand_in(tmp_path / f"in/{file}.ipynb", answers=file)
    told = collected(tmp_path)[1]
    text = (tmp_path / f"submitted/ada/{NAME}/{NAME}.ipynb").read_text()
    assert "By ada/A1_tokenization hand" in text
    assert {*told} == {"ada_7_assignsubmission_/A1.ipynb", "ada/A1 last.ipynb"}


@pytest.mark.parametrize(
    "words",
    ["due", "due A9=2030-01-01", "extend ada nan", "extend ada 3 A9", "extend x 3"],
)
def test_a_date_of_nothing_is_an_error(
    words: str, graded: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError):
        dates.main(*words.split(), root=graded / "class")
    with pytest.raises(ValueError, match="run make class first"):
        dates.main(*words.split(), root=tmp_path)


def test_again_names_what_was_collected(graded: Path) -> None:
    for words in (["a1"], ["EVE", NAME]):
        grade.to_mark(graded / "class", words, collect.Problems(list))
    with pytest.raises(ValueError, match="nothing was collected of a7"):
        grade.to_mark(graded / "class", ["A1", "A7"], collect.Problems(list))


@pytest.mark.parametrize("line", ["ada,A1,yesterday", "ada,A9,2027-01-02", "ada"])
def test_a_list_of_times_that_cannot_be_read(line: str, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(f"student,assignment,time\n{line}\n")
    with pytest.raises(ValueError, match="line 2: write student"):
        dates.read_list(tmp_path / "times.csv", [NAME], {}, dates.utc)


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


def test_feedback_shows_points_and_neither_scheme_nor_hidden_test(graded: Path) -> None:
    page = (graded / f"class/feedback/eve/{NAME}/{NAME}.html").read_text()
    assert "BEGIN HIDDEN" not in page and "Marking scheme" not in page
    assert "not written yet" in page and "all tests pass" in page
    abes = (graded / f"class/feedback/abe/{NAME}/{NAME}.html").read_text()
    assert "read</a> (not read yet / 4.0)" in abes, "no 0 points"
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
        sys, "argv", ["grade", str(tmp_path), "--course", str(kit.made(""))]
    )
    assert grade.main() == 2
    sandbox.unavailable.cache_clear()
    said = capsys.readouterr().err
    assert "apt install bubblewrap" in said and "TRUSTED=1" in said
    assert len(said.splitlines()) == 1


def test_one_class_is_graded_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grade, "made_names", lambda root: [])
    monkeypatch.setattr(grade, "grade", lambda **_: pytest.fail("it graded"))
    line = ["grade", "--trusted", "--course", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", line)
    with FileLock(tmp_path / ".grading"):
        assert grade.main() == 2
    assert "another make grade is at work" in capsys.readouterr().err


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


def test_a_corrected_source_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(course, "names", lambda: kit.NAMES[:2])
    course.make("", "", tmp_path)
    corrected, other = (
        tmp_path / f"source/{name}/{name}.ipynb" for name in kit.NAMES[:2]
    )
    text = corrected.read_text().replace("import torch", "import torch  # mine", 1)
    corrected.write_text(text)
    course.make("", "ada/nmt", tmp_path)
    assert corrected.read_text() == text and "ada/nmt" in other.read_text()
    assert capsys.readouterr().out.count("is kept as it was changed") == 1
    assert "# mine" in (tmp_path / f"release/{NAME}/{NAME}.ipynb").read_text()


def test_a_release_can_be_a_repository_of_its_own() -> None:
    """Its badges open the notebooks there; the library comes from this project."""
    text = "".join(c.source for c in course.load(NAME, "1", "ada/nmt").cells)
    assert text.count("ada/nmt") == text.count(f"ada/nmt/blob/main/{NAME}") == 1
    release = kit.made("") / "release"
    kinds = {path.suffix for path in release.rglob("*") if path.is_file()}
    assert kinds == {".ipynb", ".yml"}
    checks = (release / ".github/workflows/checks.yml").read_text()
    assert f"github.com/{'@v'.join(links.address())}" in checks


def test_another_assignment_is_noticed() -> None:
    other = kit.assignment("A2_positions_and_masks")
    notes = OF.restored(kit.submission(other))[1]
    assert sum("another one's?" in n for n in notes if n.startswith(LOOK)) == 1
    assert OF.restored(kit.submission(OF))[1] == []


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
def test_what_is_private_is_hidden_wherever_it_is(tmp_path: Path) -> None:
    """A class among the packages, and one behind a link."""
    private, link = tmp_path / "packages/class", tmp_path / "link"
    pack(private, {"answers": ""})
    link.symlink_to(private.parent)
    packages = Path(nbformat.__file__).parent
    folders = [str(packages), str(link), str(link / "class")]
    code = f"[os.listdir(folder) for folder in {folders}]"
    found = kit.in_sandbox(code, link, [private, packages])
    assert found == [[], ["class"], []]


@pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
def test_answers_of_the_book_are_hidden(tmp_path: Path) -> None:
    """Those of this copy, and of one that is installed among the packages."""
    files = ["chapter04/check.py", "course/check/a3.py", "course/check/kit.py"]
    here, installed = sandbox.HERE.parent, tmp_path / "packages/nmt_book"
    pack(installed, dict.fromkeys(files, "answers"))
    paths = [str(folder / file) for folder in (installed, here) for file in files]
    code = f"[os.path.exists(p) and os.stat(p).st_size for p in {paths}]"
    size = (here / files[-1]).stat().st_size
    found = kit.in_sandbox(code, installed.parent)
    assert found == [0, 0, len("answers"), False, False, size]


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
