"""What the page "What went wrong" says of its scripts, its table and its faults."""

import re
from pathlib import Path
from typing import Any

from nmt_book.deeper_07 import lab
from nmt_book.yours.fault import PUZZLES, broken
from nmt_book.yours.try_it import limit_search

ROOT = Path(__file__).resolve().parents[3]
FOUND = [
    *("loss", "masks", "map", "search", "input", "input"),
    *("loss", "masks", "search", "search", "map", "masks"),
]


def test_each_script_of_the_page_is_placed(chapter: Any) -> None:
    names = [*chapter.shifted, *chapter.names, "padding not masked", "no zero_grad"]
    names += ["layers in a Python list", "encoder detached", "files one line apart"]
    names += ["search starts with <eos>", "source in capitals", "weights not loaded"]
    for name in ("none", "heads joined by one view", "words joined by spaces", *names):
        answers = lab.trial(name, chapter.seed).answers
        assert lab.place(answers) == lab.PLACES[name], (name, answers)


def test_what_the_shifted_scripts_say(chapter: Any) -> None:
    once, twice = chapter.shifted.values()
    assert max(once.answers.own, twice.answers.own) < 0.1
    assert min(once.answers.loss, twice.answers.loss) > 5
    says = chapter.check.what_it_says.right
    assert says(*once[:2])[1] > 0.9 and max(says(*twice[:2])) < 0.4


def test_the_source_is_read_or_not(chapter: Any) -> None:
    read, unread = (
        lab.trial(name, chapter.seed).answers
        for name in ("none", "files one line apart")
    )
    assert read.exchanged - read.new > 3 and abs(unread.exchanged - unread.new) < 0.1
    assert unread.new < 2.5 and read.new < 1


def test_the_twelve_faults_of_the_german_and_the_tiny_model(chapter: Any) -> None:
    chapter.case.heal()
    tiny = limit_search(chapter.nmt.load_or_train(chapter.config), 1)
    sources = [pair.src for pair in lab.setting()[1].test[:12]]
    targets = [translation.text for translation in tiny.translate(sources)]
    right = 0
    for fault, expected in zip(PUZZLES, FOUND, strict=True):
        with broken(fault):
            assert lab.place(lab.ask(chapter.case.translator)) == expected, fault
            found = lab.place(lab.examined(tiny, sources, targets))
            print(fault.function, found)
            right += found == expected
    assert right >= 11, right


def test_the_table_of_the_page_is_that_of_the_command(chapter: Any) -> None:
    page = (ROOT / "notebooks/deeper/07_what_went_wrong.ipynb").read_text("utf-8")
    page = page.replace("`", "")
    table = (ROOT / "benchmarks/results/symptoms.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[4:]]
    rows = [row for row in rows if len(row) > 9]
    assert all(row[2][0] == row[2][-1] for row in rows), "all are placed"
    for symptom in {name for row in rows for name in row[3].split("; ")}:
        names = {row[0] for row in rows if symptom in row[3]}
        (line,) = re.findall(rf"\| {re.escape(symptom)} \| (.*?) \|", page)
        assert names == set(line.split("; ")), symptom
