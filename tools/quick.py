"""Runs the tests of what is not committed yet: ``make quick``.

Which tests belong to a file is read from the files themselves: those that import it, or
name it, as they name a script or a page. If there are none, those of the files that use
it, and so on. What only a few notebooks use is tested by them. What no file tells is in
``TABLE``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A changed path, and the files that are run besides, or some tests of a file.
TABLE = {
    r".*/((?:chapter|deeper_)\d\d)\b.*": r"tests/*/test_exercises.py -k \1",
    r"nmt_book/chapter(\d\d)/(lab|pictures).py": r"notebooks/\1_*.ipynb",
    r"nmt_book/deeper_(\d\d)/(lab|pictures).py": r"notebooks/deeper/\1_*.ipynb",
    r"notebooks/(?:\w+/)*(\w+).ipynb": r"tests/notebooks/test_chapters.py -k \1",
    r"notebooks/assignments/.*/(\w+).ipynb": r"tests/course/test_assignments.py -k \1",
    r"tests/notebooks/claims/(\w+).py": r"notebooks/*\1.ipynb",
    r"tests/course/a(\d).py": r"tests/course/test_assignments.py -k A\1",
    r"nmt_.*/(check|standins)/.*": "tests/course/test_assignments.py",
    r"nmt_.*/nbgrader_config.py": "tests/course/test_grade.py",
    r"nmt_.*/__init__.pyi?": "tests/*/test_import.py",
    r"nmt_.*/__main__.py": "tests/*/test_cli.py",
    r"nmt_.*/web/things/.*": "tests/site/test_things.py",
    r"nmt_.*/web/page_.*": "tests/site/test_browser.py",
    r"nmt_lib/configs/.*": "tests/*/test_config.py",
    r"nmt_lib/pretrained/.*": "tests/*/test_pretrained.py",
    r"site/.*|tools/book.py": "tests/site/test_site.py",
    r"benchmarks/.*": "tests/*/test_benchmarks.py",
    r"\w+.md": "tests/notebooks/test_chapters.py",
}
ALIASES = {"nmt": "nmt_lib", "book": "nmt_book"}
MAX_TESTS = 6  # of more tests than that, the one with the file's name is enough
MAX_PAGES = 3  # notebooks are slow: of more, the tests of what else uses the file
TEST = re.compile(r"tests/.*/test_\w+\.py")
NBVAL = (
    "-p tests.notebooks.chapters -p no:cacheprovider --nbval --nbval-cell-timeout=900"
)
IMPORT = re.compile(r"(?m)^ *from +(\.*)([\w.]*) +import +(?:\(([^)]*)\)|(.*))")


def changed() -> list[str]:
    """What git would commit, new files too."""
    return git("diff --name-only HEAD") + git("ls-files --others --exclude-standard")


def git(command: str) -> list[str]:
    line = ["git", "-C", str(ROOT), "-c", "core.quotepath=off", *command.split()]
    return subprocess.run(line, stdout=-1, text=True, check=True).stdout.splitlines()


def read(path: str) -> str:
    """The text of a source, the code of a notebook; of other files, nothing."""
    file = ROOT / path
    if (
        file.suffix not in {".py", ".pyi", ".js", ".html", ".ipynb"}
        or not file.exists()
    ):
        return ""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        text = "\n".join("".join(source) for source in code)
    return text


def imports(path: str, text: str) -> Iterator[str]:
    """``a.b.c`` for each ``from a.b import c``."""
    for dots, module, block, line in IMPORT.findall(text):
        folder = path.split("/")[: -len(dots)] if dots else []
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", block or line)):
            yield ".".join([*folder, *filter(None, [module]), name])


def users(texts: dict[str, str]) -> dict[str, set[str]]:
    """Of each file, the files that use it."""
    modules = {
        re.sub(r"(/__init__)?\.py$", "", path).replace("/", "."): path
        for path in texts
        if path.endswith(".py")
    }

    def file_of(name: str) -> str:
        """The file of a module, of a name in it, or of a public name."""
        alias, _, rest = name.partition(".")
        name = f"{ALIASES.get(alias, alias)}.{rest}"
        name = public.get(".".join(name.split(".")[:2]), name)
        while name and name not in modules:
            name = name.rpartition(".")[0]
        return modules.get(name, "")

    # A package that loads its names late lists them in a stub.
    public: dict[str, str] = {}
    for path, text in texts.items():
        if path.endswith("/__init__.pyi"):
            package = path.rpartition("/")[0].replace("/", ".")
            for name in imports(path, text):
                public[f"{package}.{name.rpartition('.')[2]}"] = name
    # Other files are called by their names, and scripts without .js, too.
    owners: dict[str, str] = {}
    for path in texts:
        if not path.endswith((".py", ".ipynb", ".md")):
            name = path.rpartition("/")[2]
            owners[name] = "" if name in owners else path
            owners[name.removesuffix(".js")] = owners[name]
    result: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        targets = {file_of(name) for name in imports(path, text)}
        for name in re.findall(r"\b[a-z]\w*(?:\.\w+)+", text):
            file = file_of(name)
            targets.add("" if file.endswith("__init__.py") else file)
        for name in re.findall(r"[\"'`/]([\w-]+(?:\.\w+)*)(?=[\"'`\s)])", text):
            if "." in name or re.search("/(site|web)/", path):
                targets.add(owners.get(name, ""))
        for file in targets - {"", path}:
            result[file].add(path)
    return result


def nearest(path: str, importers: dict[str, set[str]]) -> set[str]:
    """The tests that use a file, or else those of the files that use it."""
    level, closure, pages = {path}, {path}, set[str]()
    while level and not 0 < len(pages) <= MAX_PAGES:
        if tests := {file for file in level if TEST.fullmatch(file)}:
            namesakes = {
                file for file in tests if file.endswith(f"/test_{Path(path).stem}.py")
            }
            return namesakes if namesakes and len(tests) > MAX_TESTS else tests
        pages = pages or {file for file in level if file.endswith(".ipynb")}
        level = {user for file in level for user in importers.get(file, ())} - closure
        closure |= level
    return pages


def tests_of(paths: Iterable[str], texts: dict[str, str]) -> dict[str, list[str]]:
    """What pytest runs, files or ``file -k words``, each with the paths that ask."""
    askers, importers = defaultdict(list), users(texts)
    for path in paths:
        tests = nearest(path, importers)
        for pattern, test in TABLE.items():
            if match := re.fullmatch(pattern, path):
                name, *words = match.expand(test).split(" ", 1)
                files = {file for file in texts if fnmatch(file, name)} - tests
                tests |= {" ".join([file, *words]) for file in files}
        for test in tests:
            askers[test].append(path)
    return {test: askers[test] for test in sorted(askers)}


def main() -> int:
    paths = changed()
    texts = {path: read(path) for path in git("ls-files") + paths}
    tests = tests_of(paths, texts)
    tests = {test: tests[test] for test in tests if (ROOT / test.split()[0]).exists()}
    for path in paths:
        selection = [test for test in tests if path in tests[test]]
        print(f"{path}: {', '.join(selection) or 'no test'}", flush=True)
    files = [test for test in tests if TEST.fullmatch(test)]
    parts = [test.split() for test in tests if " " in test]
    pages = [test for test in tests if test.endswith(".ipynb")]
    runs = [files, *(part for part in parts if part[0] not in files)]
    runs += [[*NBVAL.split(), *pages]] if pages else []
    pytest = [sys.executable, "-m", "pytest", "-q"]
    return max(
        (subprocess.run([*pytest, *run], cwd=ROOT).returncode for run in runs if run),
        default=0,
    )


if __name__ == "__main__":
    sys.exit(main())
