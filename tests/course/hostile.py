"""Submissions that a class hands in sooner or later, by accident or on purpose, and
what each should get.

Each is made of A1: answered (all parts right) or ``blank`` (the release), changed by a
function. ``costs`` says which parts are lost; in a blank one all of them are.
"""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode, v4

from tests.course import kit

ROOT = Path(__file__).resolve().parents[2]
OF = kit.assignment("A1_tokenization")
Change = Callable[[NotebookNode], object]


@dataclass(frozen=True)
class Hostile:
    change: Change
    costs: list[str] = field(default_factory=list)  # parts
    note: str = ""  # what the notes for the teacher must hold
    blank: bool = False
    slow: bool = False  # waits for a limit
    kernel: bool = False  # only the sandbox stops it


def cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(
        c
        for c in notebook.cells
        if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def added(source: str, place: int = 2) -> Change:
    """One more cell of the student's own."""
    return lambda notebook: notebook.cells.insert(place, v4.new_code_cell(source))


def answer(grade_id: str, source: str) -> Change:
    return lambda notebook: cell(notebook, grade_id).update(source=source)


def decode_that(*lines: str) -> Change:
    """A wrong ``decode`` with these lines in it."""
    return answer(
        "decode",
        "def decode(ids, itos):\n" + "\n".join("    " + line for line in lines),
    )


def colab(notebook: NotebookNode) -> None:
    """Other ids, other kernel, Colab's own metadata, and nbgrader's lost."""
    notebook.metadata = {
        "colab": {"provenance": []},
        "kernelspec": {"name": "ir", "display_name": "R"},
    }
    for i, c in enumerate(notebook.cells):
        c.metadata = {"id": f"colab{i}", "outputId": "x"}
        c.pop("id", None)


def doubled(notebook: NotebookNode) -> None:
    """A copied answer cell, with its id: first a wrong version, then the right one,
    then notes without code."""
    place = notebook.cells.index(cell(notebook, "vocab"))
    wrong, right, notes = (copy.deepcopy(notebook.cells[place]) for _ in range(3))
    wrong.source = "def build_vocab(sentences, min_freq):\n    return []"
    notes.source = "# my first try was wrong"
    notebook.cells[place : place + 1] = [wrong, right, notes]


def retyped(notebook: NotebookNode) -> None:
    """The answer in a new cell at the end, the old cell deleted."""
    old = cell(notebook, "encode")
    notebook.cells.remove(old)
    notebook.cells.append(v4.new_code_cell(old.source))


def below_stubs(*lines: str, place: int = 1) -> Change:
    """Each answer in a cell of its own, with these lines above it, and the stub left as
    it was (place 0: below it)."""

    def change(notebook: NotebookNode) -> None:
        stubs = kit.submission(OF, blank=True)
        for c in [*notebook.cells]:
            if c.cell_type == "code" and c.metadata.nbgrader.solution:
                written = v4.new_code_cell("\n".join([*lines, c.source]))
                notebook.cells.insert(notebook.cells.index(c) + place, written)
                c.source = cell(stubs, c.metadata.nbgrader.grade_id).source

    return change


def in_a_file(notebook: NotebookNode) -> None:
    """Functions written into a file, and imported from it; the stubs stay."""
    c = cell(notebook, "vocab")
    file = v4.new_code_cell(
        "%%writefile my_answers.py\nfrom collections import Counter\n" + c.source
    )
    notebook.cells.append(file)
    notebook.cells.append(v4.new_code_cell("from my_answers import build_vocab"))
    c.source = "def build_vocab(sentences, min_freq):\n    raise NotImplementedError"


def split(notebook: NotebookNode) -> None:
    """Some lines in the answer's cell, the rest behind it; a name that is used again
    far below."""
    place = notebook.cells.index(cell(notebook, "share"))
    notebook.cells.insert(place + 1, v4.new_code_cell(notebook.cells[place].source))
    notebook.cells[place].source = "first = 1"
    notebook.cells.append(v4.new_code_cell("share = 'scratch'\nencode = 3"))


def tests_changed(notebook: NotebookNode) -> None:
    """Test cells that test nothing, and say that they are open, worth 1000 points."""
    for c in notebook.cells:
        if c.cell_type == "code" and c.metadata.nbgrader.grade:
            c.source = "pass"
            c.metadata.nbgrader.update(points=1000, locked=False, solution=True)


def windows(notebook: NotebookNode) -> None:
    for c in notebook.cells:
        c.source = c.source.replace("\n", "\r\n")


def large(notebook: NotebookNode) -> None:
    output = v4.new_output("stream", text="x" * 10_000_000)  # a larger one is refused
    large = v4.new_code_cell('print("x" * 70_000_000)', outputs=[output])
    notebook.cells.insert(3, large)


OTHER_TYPES = """
import enum
class Word(str):
    pass
first_encode, first_decode = encode, decode
def encode(tokens, itos):
    ids = first_encode(tokens, itos)
    names = enum.IntEnum("Id", {f"i{i}": i for i in ids})
    return [names(i) for i in ids]
def decode(ids, itos):
    found = first_decode(ids, itos)
    return Word(found) if isinstance(found, str) else [Word(word) for word in found]
"""
YES = """
class Yes(list):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getitem__(self, key): return self
    def __len__(self): return 4
    def __contains__(self, thing): return True
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __sub__(self, other): return self
    def __abs__(self): return 0
    shape, dtype, ndim = (2, 5), torch.long, 2
    __hash__ = None


def tokenize(text): return Yes()
build_vocab = encode = decode = lambda *a, **k: Yes([Yes(), Yes(), Yes()])
make_batch = plan_batches = decode
share = Yes()
"""
PATCHED = """
import builtins, numpy
from nmt_book.course.check import a1, kit
for name in ("expect", "ask", "done", "gives", "item", "plan", "crowd", "share"):
    for module in (a1, kit):
        setattr(module, name, lambda *a, **k: None)
torch.allclose = torch.equal = lambda *a, **k: True
torch.Tensor.equal = torch.Tensor.__eq__ = lambda *a, **k: True
builtins.AssertionError = type("Fine", (BaseException,), {})
builtins.isinstance = builtins.all = lambda *a: True
builtins.sorted = lambda *a, **k: []
builtins.exec = builtins.compile = lambda *a, **k: None
get_ipython().run_cell = lambda *a, **k: None
"""
# Looks for tests everywhere a process can look, and hands over what it finds as its
# error.
SPY = r"""
found = []
def look():
    import gc, glob, inspect, os, sys
    frame = inspect.currentframe()
    while frame:
        source = str(frame.f_globals.get("source", ""))
        found.append("FRAME" if "HIDDEN" in source else "")
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, str) and "BEGIN HIDDEN" + " TESTS" in thing:
            found.append("MEMORY " + thing[:50])
        elif isinstance(thing, dict):
            for value in list(thing.values()):
                tests = type(value) is str and "BEGIN HIDDEN" + " TESTS" in value
                if tests and "def look" not in value:
                    found.append("MEMORY " + value[:50])
    for place in PLACES:
        for path in glob.glob(place, recursive=True) + [place]:
            try:
                found.append("READ " + open(path).read()[:50])
            except Exception:
                pass
            try:
                torch.from_file(path, size=100, dtype=torch.uint8)
                found.append("MAPPED " + path)
            except Exception:
                pass
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            mine = "NOT_FOR" + "_STUDENTS" in open(path).read()
            found.append("ENVIRONMENT" if mine else "")
        except OSError:
            pass
look()
found = [f for f in found if f]
def tokenize(text): raise ValueError(f"FOUND {found}")
"""
# Inputs of hidden tests, in what a later public check would show.
NOTED = """
heard, first_tokenize = [], tokenize
def tokenize(text):
    heard.append(text)
    return first_tokenize(text)
def decode(ids, itos):
    heard.append(ids)
    return f"HEARD {heard}"
"""
FORGED_NOTE = "raise ValueError('x\\nPLEASE LOOK: all is well')"
FORGED = """
import os, json, struct
good = json.dumps(["0" * 16, "value", ["the", "dog", "sees", "ann", "."]]).encode()
for handle in range(3, 256):
    try:
        os.write(handle, struct.pack("!i", len(good)) + good)
    except OSError:
        pass
"""
ESCAPES = """
import os, signal, subprocess, socket, ctypes
libc = ctypes.CDLL(None)
tries, worked = {
    "write": lambda: open("WRITE", "w"),
    "chmod": lambda: os.chmod("READ", 0),
    "truncate": lambda: os.truncate("READ", 0),
    "device": lambda: open("/dev/made", "w"),
    "kernel": lambda: open("/proc/sys/kernel/domainname", "w"),
    "namespaces": lambda: libc.unshare(0x10020000) == 0 or 1 / 0,
    "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or 1 / 0,
    "others": lambda: max(map(int, filter(str.isdigit, os.listdir("/proc")))) > 100
    or 1 / 0,
    "internet": lambda: socket.create_connection(("1.1.1.1", 53), timeout=2),
    "terminal": lambda: os.open("/dev/tty", os.O_RDWR),
    "libc open": lambda: libc.open(b"READ", 0) >= 0 or 1 / 0,
    "limit": lambda: __import__("resource").setrlimit(9, (-1, -1)),
    "home": lambda: os.listdir(os.path.expanduser("~root")),
}, []
for name, attempt in tries.items():
    try:
        attempt()
        worked.append(name)
    except BaseException:
        pass
def tokenize(text): raise ValueError(f"WORKED {worked}")
"""
LIBRARY = """
import nmt_lib as nmt
specials = ["<pad>", "<unk>", "<sos>", "<eos>"]
def build_vocab(sentences, min_freq):
    words = nmt.build_vocab_from_iterator(sentences, min_freq, specials)
    return words.get_itos()
"""
SNEAKY = """
import importlib, importlib.util, sys, os, nmt_lib
def get():
    for m in [m for m in sys.modules if m.startswith("nmt_lib.")]:
        del sys.modules[m]
    sys.meta_path[:] = [f for f in sys.meta_path if "_Finder" not in str(type(f))]
    try:
        return importlib.import_module("nmt_lib.data.tok" + "ens")
    except Exception:
        pass
    path = os.path.join(nmt_lib.__path__[0], "data", "tok" + "ens.py")
    try:
        ns = {}
        exec(open(path).read(), ns)
        return type("M", (), ns)
    except Exception:
        pass
    raw = bytes(torch.from_file(path, size=3000, dtype=torch.uint8).tolist())
    ns = {}
    exec(raw.decode(errors="ignore").rpartition("def build_vocab")[0], ns)
specials = ["<pad>", "<unk>", "<sos>", "<eos>"]
def build_vocab(sentences, min_freq):
    words = get().build_vocab_from_iterator(sentences, min_freq, specials)
    return words.get_itos()
"""
# A plain shell has no front end that could obey them, or none of these packages.
ODD = """
%matplotlib inline
%matplotlib widget
%pylab inline
%gui qt
%load_ext autoreload
%load_ext nosuch
%nosuch
%conda list
%timeit -n1 -r1 1 + 1
!ls
files = !ls
?len
len??
import asyncio, getpass, matplotlib.pyplot as plt, os, warnings
plt.show()
display(input("who? "), getpass.getpass())
warnings.warn("soon")
os.chdir("/")
await asyncio.sleep(0)
import google.colab
from google.colab import drive, files
drive.mount("/content/drive")
uploaded = files.upload()
"""
DEFAULTS = "torch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)"
CATCHES_ALL = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
FETCHES = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')"
PLACES = [
    str(ROOT / "notebooks/assignments/source/*.ipynb"),
    str(ROOT / "build/class/source/**/*.ipynb"),
    str(ROOT / "tests/course/a1.py"),
    str(ROOT / "README.md"),
    "/etc/shadow",
]
VOCAB, DECODE = ["vocab-members", "vocab-order"], ["decode-all"]

# fmt: off
HOSTILE = {
    "edited on Colab: no metadata, other kernel": Hostile(colab),
    "a copied cell with a doubled id": Hostile(doubled),
    "a deleted answer": Hostile(lambda nb: nb.cells.remove(cell(nb, "vocab")), VOCAB),
    "a retyped answer": Hostile(retyped),
    "cells in reverse order": Hostile(lambda nb: nb.cells.reverse()),
    "nothing but answers": Hostile(lambda nb:
        nb.update(cells=[c for c in nb.cells if c.metadata.nbgrader.solution])),
    "test cells emptied, blank": Hostile(tests_changed, blank=True, note="was changed"),
    "the set-up cell broken":
        Hostile(answer("set-up", "import nothing_at_all"), note="set-up was changed"),
    "a cell that is no Python": Hostile(added("def (:"), note=" (line 1)"),
    "%pip": Hostile(added("%pip install nothing")),
    "odd lines above each answer": Hostile(below_stubs(ODD)),
    "%%time above each answer, stubs left": Hostile(below_stubs("%%time")),
    "an unknown %%magic above each answer": Hostile(below_stubs("%%nosuch", "%ls")),
    "return in a cell": Hostile(added("return 3"), note="SyntaxError"),
    "a NotImplementedError that is no stub's":
        Hostile(added("torch.nn.Module()(1)"), note="A NotImplementedError"),
    "each answer above its stub": Hostile(below_stubs(place=0)),
    "%%capture and a shell line above each answer":
        Hostile(below_stubs("%%capture out", "!ls", "%env")),
    "an answer in a file of its own": Hostile(in_a_file),
    "an answer split over two cells": Hostile(split),
    "ids from an enum, words of a class of their own": Hostile(added(OTHER_TYPES, 99)),
    "other numbers by default": Hostile(added(DEFAULTS)),
    "80 MB of output": Hostile(large, slow=True),
    "an endless loop in a cell":
        Hostile(added("while True:\n    pass"), note="left out", slow=True),
    "an endless loop that catches everything":
        Hostile(added(CATCHES_ALL), note="left out", slow=True),
    "an endless loop in an answer":
        Hostile(decode_that("while True:", "    pass"), DECODE, slow=True),
    "an answer that sleeps":
        Hostile(decode_that("import time", "time.sleep(1e6)"), DECODE, slow=True),
    "100 GB in a cell":
        Hostile(added("x = torch.zeros(25_000_000_000)\ny = bytearray(10**11)"),
        note="RuntimeError"),
    "100 GB in an answer": Hostile(decode_that("return 'a' * 10**11"), DECODE),
    "memory, bit by bit":
        Hostile(added("hoard = []\nwhile True:\n    hoard.append(torch.empty(10**8))"),
        note="RuntimeError", slow=True),
    "a result of 1 GB": Hostile(decode_that("return 'a' * 10**9"), DECODE, slow=True),
    "a list in a list in a list": Hostile(decode_that("x = []",
        "for _ in range(10**5):", "    x = [x]", "return x"), DECODE),
    "an error without a message": Hostile(decode_that("class E(Exception):",
        "    def __str__(self): return 1 / 0", "raise E"), DECODE),
    "sys.exit in a cell": Hostile(added("import sys\nsys.exit(0)"), note="SystemExit"),
    "sys.exit in an answer": Hostile(decode_that("import sys", "sys.exit(0)"), DECODE),
    "os._exit in a cell": Hostile(added("import os\nos._exit(0)"), note="left out"),
    "os._exit in an answer": Hostile(decode_that("import os", "os._exit(0)"), DECODE),
    "os._exit, blank":
        Hostile(added("import os\nos._exit(0)"), blank=True, note="left out"),
    "kills its own process":
        Hostile(decode_that("import os", "os.kill(os.getpid(), 9)"), DECODE),
    "a crash of the interpreter":
        Hostile(decode_that("import ctypes", "ctypes.string_at(0)"), DECODE),
    "looks for the hidden tests":
        Hostile(added(f"PLACES = {PLACES}\n{SPY}", 99), blank=True, kernel=True),
    "patches asserts, torch and the checker": Hostile(added(PATCHED), blank=True),
    "objects that equal everything": Hostile(added(YES, 99), blank=True, note=""),
    "writes forged replies": Hostile(added(FORGED), blank=True,
        note="something other than results came back"),
    "breaks out": Hostile(added(ESCAPES.replace("WRITE",
        str(ROOT / "build/escaped")).replace("READ", str(ROOT / "README.md")), 99),
        blank=True, kernel=True),
    "the library's function in place of an answer": Hostile(answer("vocab", LIBRARY),
        VOCAB, "PLEASE LOOK: a cell or an answer uses"),
    "answers that note hidden inputs": Hostile(added(NOTED, 99), DECODE),
    "a message that looks like a note": Hostile(added(FORGED_NOTE), note="ValueError"),
    "line ends of Windows": Hostile(windows),
    "the library's function, hidden":
        Hostile(answer("vocab", SNEAKY), VOCAB, kernel=True),
    "the network": Hostile(added(FETCHES), note="URLError"),
    "the network in an answer": Hostile(decode_that("import socket",
        "return socket.create_connection(('127.0.0.1', 9))"), DECODE),
}
# fmt: on

# Those that attack the grader's machine or the process that marks: ``make grade`` as a
# whole holds them. None of them may cost another submission anything.
SMALL_PROCESSES = """
import os, time
for _ in range(30):
    if os.fork() == 0:
        hoard = bytearray(os.urandom(1 << 20) * 300)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
FULL_FOLDERS = """
for folder in ("/tmp", "/dev/shm", "."):
    try:
        for i in range(100):
            with open(f"{folder}/{i}", "wb") as file:
                file.write(bytes(60_000_000))
    except OSError:
        pass
"""
MEMFD = """
import os
handles = [os.memfd_create(str(i)) for i in range(100)]
for handle in handles:
    os.write(handle, bytes(60_000_000))
"""
DAEMON = """
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try:
                os.kill(-1, signal.SIGSTOP)
            except OSError:
                pass
    os._exit(0)
"""
LINKS = """
import os
os.symlink("/etc/passwd", "A1_tokenization.ipynb")
os.symlink("/", "root")
os.mkfifo("fifo")
"""
COLLIDING = "return {i * ((1 << 61) - 1) for i in range(40_000)}"
# fmt: off
GREEDY = {
    "a fork bomb":
        Hostile(added("import os\nfor _ in range(8):\n    os.fork()"), note="left out"),
    "30 processes of 300 MB": Hostile(added(SMALL_PROCESSES), note="left out"),
    "memory in no process": Hostile(added(MEMFD), note="OSError"),
    "full temporary folders": Hostile(added(FULL_FOLDERS)),
    "a process that stays and stops the others": Hostile(added(DAEMON), blank=True),
    "links and pipes left behind": Hostile(added(LINKS)),
    "kills what it was copied from":
        Hostile(decode_that("import os", "os.kill(os.getppid(), 9)"), DECODE),
    "30,000,000 empty rows":
        Hostile(decode_that("return torch.empty(30_000_000, 0)"), DECODE),
    "40,000 numbers with one hash": Hostile(decode_that(COLLIDING), DECODE),
    "5,000,000 lists": Hostile(decode_that("return [[]] * 5_000_000"), DECODE),
    "1,500 lines of %time": Hostile(added("%time\n" * 1500), note="left out"),
    "40 MB of brackets in the file":
        Hostile(lambda nb: nb.metadata.update(x=[[]] * 10000000), blank=True),
}
# fmt: on

# Markdown that runs something, or passes for the grader's, where it is not sanitized.
# Each calls ``ran()``, or fetches something that the pages do not hold.
SVG = b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='ran()'/>").decode()
PAYLOADS = {
    "script": "<script>ran()</script>",
    "onerror": "text <img src=x onerror=ran()> text",
    "svg": "<svg onload=ran()><animate onbegin=ran() attributeName=x dur=1s></svg>",
    "link": "[click](javascript:ran()) [click](JaVa&#115;cript&colon;ran())",
    "reference": "[click][a] <javascript:ran()>\n\n[a]: javascript:ran()",
    "style": "<style>*{background:url(/fetched)}</style><b style='color:red'>a</b>",
    "refresh": "<meta http-equiv=refresh content='0;url=/fetched'><base href=/fetched>",
    "macro": r"$\href{javascript:ran()}{click}$ "
    r"\$\hr&#101;f{javascript:ran()}{click}\$",
    "class": r"$\class{mark-graded}{a} \style{position:fixed}{b} "
    r"\cssId{statusmessage}{c}$",
    "meaning": r"$\def\alpha{\beta} \require{action} "
    r"\mmlToken{mi}[href='javascript:ran()']{click}$",
    "data": "![a](data:image/svg+xml;base64,SVG) [click](data:text/html,ran)",
    "attachment": "![a](attachment:a.svg)",
    "frames": "<iframe srcdoc='<script>parent.ran()</script>'></iframe>"
    "<object data='javascript:ran()'></object><embed src='javascript:ran()'>",
    "form": "<form action='javascript:ran()'><button>click</button></form>",
    "mermaid": "```mermaid\n</pre><img src=x onerror=ran()>\n```",
    "formula that splits a block": "    $$a$$ <img src=x onerror=ran()>",
    "comment": "<!-- > --><img src=x onerror=ran()><![CDATA[<p>]]><?a?>",
    "picture": "![a](https://example.org/fetched.png)",
    "box": "<div style='background: #fff3e0'><b>Marking scheme</b></div></div></div>",
}
PAYLOADS = {title: text.replace("SVG", SVG) for title, text in PAYLOADS.items()}

V3 = {
    "nbformat": 3,
    "worksheets": [{"cells": [{"cell_type": "code", "input": "share = 1"}]}],
    "metadata": {},
}
CELL = {"cell_type": "markdown", "source": "a"}
LONG = {"cell_type": "markdown", "source": ["a" * 300_000, "\\\\(" * 100_000]}
FILES = {  # what is in the file, and why it is not collected
    "empty": (b"", "empty"),
    "no notebook": (b"%PDF-1.7 \xff\xfe\x00", "not a notebook"),
    "JSON, but no notebook": (b"[1, 2, 3]", "not a notebook"),
    "cells that are none": (b'{"cells": [1, null]}', "not a notebook"),
    "brackets without end": (b"[" * 100_000, "not a notebook"),
    "cut off in the middle": (
        b'{"cells": [{"cell_type": "code", "sour',
        "not a notebook",
    ),
    "too large": (b'{"cells": []}' + b" " * (17 << 20), "16 MB"),
    "20,000 cells": (json.dumps({"cells": [CELL] * 20_000}).encode(), "20,000 cells"),
    "much text": (json.dumps({"cells": [LONG]}).encode(), "600,000 characters"),
    "an old format": (json.dumps(V3).encode(), ""),
}
