"""The reader's copies of the chapters: none that she has changed is overwritten."""

import json
import os
from pathlib import Path

import pytest

from tools import work as lab
from tools.work import copy_pages


def write(page: Path, *sources: str, outputs: int = 0) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    cells = [{"source": [source], "outputs": [outputs]} for source in sources]
    page.write_text(json.dumps({"cells": cells}))


def test_an_update_replaces_only_what_she_has_not_changed(tmp_path: Path) -> None:
    pages, work = tmp_path / "notebooks", tmp_path / "work"
    for name in ("00.ipynb", "01.ipynb", "02.ipynb", "deeper/03.ipynb"):
        write(pages / name, "one")
    assert copy_pages(work, pages) == []
    write(work / "00.ipynb", "one", outputs=1)  # she has run it
    write(work / "01.ipynb", "hers")
    (work / "02.ipynb").write_text("cut o")
    assert copy_pages(work, pages) == []
    assert json.loads((work / "00.ipynb").read_text())["cells"][0]["outputs"] == [1]
    for name in ("00.ipynb", "01.ipynb", "02.ipynb", "deeper/03.ipynb", "04.ipynb"):
        write(pages / name, "two")
    for _ in range(2):
        kept = copy_pages(work, pages)
        assert [sentence.split()[0] for sentence in kept] == [
            "work/01.ipynb",
            "work/02.ipynb",
        ]
    assert "hers" in (work / "01.ipynb").read_text()
    assert (work / "02.ipynb").read_text() == "cut o"
    for name in ("00.ipynb", "deeper/03.ipynb", "04.ipynb"):
        assert (work / name).read_bytes() == (pages / name).read_bytes()
    (work / "01.ipynb").rename(work / "mine.ipynb")
    copy_pages(work, pages)
    assert "two" in (work / "01.ipynb").read_text()


def test_without_the_list_of_editions_everything_of_hers_stays(tmp_path: Path) -> None:
    pages, work = tmp_path / "notebooks", tmp_path / "work"
    write(pages / "00.ipynb", "one")
    write(work / "00.ipynb", "hers")
    for record in ("{", "[]", "{}"):
        (work / ".editions.json").write_text(record)
        assert len(copy_pages(work, pages)) == 1
        assert "hers" in (work / "00.ipynb").read_text()


def test_links_of_the_pages_lead_to_files_that_jupyterlab_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = list[str]()
    monkeypatch.setattr(lab, "copy_pages", lambda work: [])
    monkeypatch.setattr(os, "execv", lambda _, command: said.extend(command))
    lab.main()
    assert said[4] == str(lab.ROOT)
