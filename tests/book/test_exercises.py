"""The exercises: what each check says of an answer, and what the chapter's page shows.

``answers_to/<module>.py`` holds ``RIGHT`` and ``WRONG``: for each exercise, right
answers of another kind, and wrong ones that are no usual mistake and that no mutant
(``mutants.py``) reproduces.
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import linecache
import math
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from nmt_book.exercise import saved
from nmt_book.exercise.exercise import Exercise, _plain, exercise
from nmt_book.exercise.progress import exercises, functions, modules, progress
from nmt_book.exercise.saved import Record, recall, remember
from nmt_book.exercise.shown import Verdict
from nmt_book.yours.source import NotKept, full_source
from nmt_book.yours.trials import TRIALS, captions
from nmt_book.yours.try_it import load_cached, try_it
from nmt_lib.data.pairs import Pair
from tests.book.conftest import Said
from tests.book.mutants import missing_cases

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {f"{e.module}.{e.name}": e for m in modules() for e in exercises(m)}
SLOW = {"next_word", "beam_step", "turn"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is written beside the runs."""
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "runs"


def tried(few: int = 3, **parts: Any) -> None:
    try_it("multi30k-en-de", captions()[:few], **parts)


def answers(one: Exercise, kind: str) -> list[Any]:
    table = importlib.import_module(f"tests.book.answers_to.{one.module}")
    found: dict[str, list[Any]] = getattr(table, kind, {})
    unknown = {*found} - {e.name for e in BY_NAME.values()}
    assert not unknown, f"answers without an exercise: {unknown}"
    return found.get(one.name, [])


def named(one: Exercise) -> str:
    return f"{one.module}.{one.name}"


@pytest.fixture(params=BY_NAME.values(), ids=named)
def one(request: pytest.FixtureRequest) -> Any:
    return request.param


FORMS: dict[type, list[Callable[[Any], Any]]] = {  # in which a value may be returned
    torch.Tensor: [torch.Tensor.tolist, torch.Tensor.numpy],
    float: [torch.tensor],
    int: [torch.tensor, float],
    list: [tuple, iter],
    tuple: [list, iter],
}


def test_right_answers(one: Exercise) -> None:
    outcomes, others = one.outcomes(one.right), answers(one, "RIGHT")
    assert not [value for value in outcomes if isinstance(value, Exception)]
    forms = FORMS[type(outcomes[0])] if one._call is _plain else []
    assert len(forms) + len(others) >= 2 and others
    made = [lambda *a, form=form: form(one.right(*a)) for form in forms]
    for answer in [one.right, *others, *made]:
        assert one.verdict(answer).split("\n")[0] == f"right: {one.says}"


def test_each_mistake_is_recognised_as_itself(one: Exercise) -> None:
    """And as no other, which would come first."""
    for why, found in one.mistakes.items():
        for mistake in found:
            assert one.verdict(mistake) == f"not yet: {why}"
            errors = [type(value) for value in one.outcomes(mistake)]
            assert NameError not in errors, why  # one that is a text is not linted


def test_what_must_be_refused(one: Exercise) -> None:
    for answer in answers(one, "WRONG"):
        verdict, _, why = one.verdict(answer).partition(": ")
        assert verdict == "not yet" and (why in one.mistakes or "in the case" in why)


def test_a_stub_that_is_not_filled(one: Exercise) -> None:
    for value in ("None", "..."):
        source, n = re.subn(
            r"(?s)^(def .*?:\n).*", rf"\1    return {value}", one.source
        )
        head, _, _ = one.source.rpartition("):\n")  # of a class: its last method
        stub = one._compile(source if n else f"{head}):\n        return {value}")
        assert re.fullmatch("not written yet.*", one.verdict(stub))


def test_cases_have_two_widths_and_two_lengths(one: Exercise) -> None:
    assert len(one.cases) > 1
    for i in range(max(map(len, one.cases.values()))):
        column = [case[i] for case in one.cases.values() if len(case) > i]
        shapes = [shape for value in column if (shape := shape_of(value)) is not None]
        for axis in (-1, -2):
            sizes = {shape[axis] for shape in shapes if len(shape) >= -axis}
            assert len(sizes) != 1 or i in one.fixed, f"argument {i}: only {shapes}"


def shape_of(argument: Any) -> tuple[int, ...] | None:
    if isinstance(argument, torch.Tensor):
        return tuple(argument.shape)
    if isinstance(argument, list | tuple | str):
        return (len(argument),)
    return (argument,) if isinstance(argument, int) else None


@pytest.mark.parametrize("one", [e for e in BY_NAME.values() if e.part], ids=named)
def test_the_part_does_as_the_library(one: Exercise, said: Said) -> None:
    """In a translation, in a training, in subwords or batches."""
    few = 2 if one.part in SLOW else 10
    tried(few, **{one.part: lambda *args: None})
    assert said().startswith("not written yet") or one.uses
    tried(few, **{one.part: one.right})
    text = said()
    assert all(count == of for count, of in re.findall(r"(\d+) of (\d+)", text))
    *_, mine, theirs = map(float, re.findall(r"\d+\.?\d*", f"0 0 {text}"))
    assert one.part in TRIALS or mine == pytest.approx(theirs, rel=1e-3)
    for numbers in re.findall(r"loss in .*", text):
        yours, library = re.findall(r"[\d.]+ → [\d.]+", numbers)
        assert yours == library


def pages() -> dict[str, list[Any]]:
    """The cells of each notebook that uses a module of exercises."""
    found = {}
    for path in sorted((ROOT / "notebooks").rglob("[0-9]*.ipynb")):
        text = path.read_text(encoding="utf-8")
        if used := re.search(r"nmt_book\.(\w+) import .*\bcheck\b", text):
            cells = json.loads(text)["cells"]
            found[used[1]] = [(c["cell_type"], "".join(c["source"])) for c in cells]
    return found


PAGES = pages()


def test_the_page_and_the_exercise_say_the_same(one: Exercise) -> None:
    cells = PAGES[one.module]
    at = next(
        i
        for i, (kind, text) in enumerate(cells)
        if kind == "code" and re.search(rf"(?m)^(def|class) {one.name}\b", text)
    )
    (_, task), (_, stub), (kind, check), (_, answer) = cells[at - 1 : at + 3]
    assert "# replace this line" in stub and one.rating in task
    assert f"check.{one.name}({one.name})" in check and kind == "code"
    assert len(check.splitlines()) <= 3, "the check is one line, with its translation"
    assert not one.part or f"{one.part}={one.name})" in check
    assert heads(stub) == heads(one.source)
    assert answer.startswith("<details><summary>Answer</summary>")
    assert f"```python\n{one.source}```" in answer


def heads(source: str) -> list[str]:
    """The signatures in a text, without those of helpers."""
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return sorted(f"{node.name}({ast.unparse(node.args)})" for node in functions)


def test_the_page_has_the_names_that_its_answer_uses(one: Exercise) -> None:
    """Else the printed answer, copied into the stub, stops with a NameError."""
    cells = [text for kind, text in PAGES[one.module] if kind == "code"]
    at = next(i for i, text in enumerate(cells) if f"check.{one.name}(" in text)
    text = "\n".join([*cells[:at], one.source])
    undefined = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821"]
    done = subprocess.run([*undefined, "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_each_stub_of_the_page_has_its_exercise() -> None:
    for module, cells in PAGES.items():
        known = {e.name for e in BY_NAME.values() if e.module == module}
        stubs = [text for _, text in cells if "# replace this line" in text]
        named = {*re.findall(r"(?m)^(?:def|class) (\w+)", "\n".join(stubs))}
        assert named == known
        assert "check_answer" not in str(cells)


# What an Exercise says, on a small one.


@exercise(
    "Twice a number.",
    cases={"small": (2,), "large": (500,)},
    mistakes={"twice, not three times": "2 → 3"},
    hints=("Multiply.", "2 * …"),
    says="it is twice as much",
    difficulty=1,
    importance=2,
    minutes=1,
)
def double(n: int) -> int:
    return 2 * n


NORM, LAYER = BY_NAME["chapter05.layer_norm"], BY_NAME["chapter05.encoder_layer"]
MASK, BEAM_STEP = BY_NAME["chapter03.my_target_mask"], BY_NAME["chapter08.my_beam_step"]


def third_norm(part: Any, x: Any, mask: Any) -> Any:
    y = part.norm1(x + part.self_attention(x, x, mask))
    return part.norm2(part.norm2(y + part.feed_forward(y)))


def joined_first(part: Any, x: Any, mask: Any) -> Any:
    y = x + part.norm1(part.self_attention(x, x, mask))
    return part.norm2(y + part.feed_forward(y))


def decoded(*given: Any) -> Any:
    return BY_NAME["chapter06.decoder_layer"].right(*given), given[2]


def emptied(beam: list[Any], *given: Any) -> Any:
    found = BEAM_STEP.right(beam, *given)
    beam.clear()
    return found


@pytest.mark.parametrize(
    ("one", "answer", "sentence"),
    [
        (double, lambda n: n + n, "right: it is twice as much"),
        (double, lambda n: (2 * n for _ in "1"), "not yet: wrong in the case “small”"),
        (double, lambda n: 3 * n, "not yet: twice, not three times"),
        (
            double,
            lambda n: min(2 * n, 99),
            "not yet: right in “small”; wrong in the case “large”\n"
            "  n = 500\n  expected 1000, got 99",
        ),
        (double, lambda n: None if n > 9 else 4, "nothing is returned there"),
        (double, lambda n: ..., "not written yet"),
        (double, 7, "not yet: give the function itself, check.double(double)"),
        (double, lambda n: n.sizes, "AttributeError: 'int' object has no attribute 's"),
        (
            double,
            lambda n: 2 * n if torch.ones(2) else 0,
            "write `mask is not None`, and & | ~ for tensors",
        ),
        (LAYER, third_norm, "norm2 is used 2 times, not 1"),
        (LAYER, joined_first, "reads; norm1 reads something else"),
        (NORM, lambda x, g, b, eps=0: 2 * x, "x = [[["),  # its input
        (BY_NAME["chapter06.decoder_layer"], decoded, "of your 2 results"),
        # not what another RuntimeError is told
        (MASK, lambda ids: (ids != 0) and 1, "ask for a single truth value"),
        (MASK, lambda ids: (ids != 0) & torch.ones(1), "& | ~ join booleans"),
        (BEAM_STEP, emptied, "but it changes beam, which"),
        (BEAM_STEP, emptied, "but it changes beam, which"),  # a fresh one
    ],
)
def test_what_a_check_says(one: Exercise, answer: Any, sentence: str) -> None:
    assert sentence in one.verdict(answer)


def test_a_mutant_that_passes_shows_a_missing_case() -> None:
    """One that equals the answer does not."""
    assert missing_cases(double, []) == ([], set())
    few = copy.copy(double)
    few.cases = {"two": (2,)}
    vars(few).pop("_expected", None)
    reports, reproduced = missing_cases(few, [lambda n: 3 * n, lambda n: 90 * n])
    assert "+    return 2 + n" in str(reports) and reproduced == {0}


def test_an_answer_that_calls_another_one_asks_for_it_first() -> None:
    attention, layer = BY_NAME["chapter04.attention"], BY_NAME["chapter04.MultiHead"]
    names = {"torch": torch, "split_heads": BY_NAME["chapter04.split_heads"].right}
    names["attention"] = lambda Q, K, V, mask=None: None
    exec(layer.source, names)
    assert "it calls attention, which is not" in layer.verdict(names["MultiHead"])
    names["attention"] = attention.right
    assert layer.verdict(names["MultiHead"]).startswith("right")


def test_her_function_is_used_once_it_is_right(said: Said) -> None:
    for other in (lambda n: None, lambda n: 3 * n, lambda n: n.sizes):
        assert double.use(other) is double.right and not said()
    hers = lambda n: n + n  # noqa: E731
    assert double.use(hers) is hers and said() == "from here on, double is yours\n"
    merge, bleu = BY_NAME["chapter01.my_merge"], BY_NAME["chapter10.my_bleu"]
    as_list = merge.use(lambda subwords, pair: [*merge.right(subwords, pair)])
    assert as_list(("a", "b"), ("a", "b")) == ("ab",), "a key of a dictionary"
    as_tensor = bleu.use(lambda counts: torch.tensor([bleu.right(counts)]))
    assert isinstance(as_tensor(torch.tensor([4, 3, 2, 1, 5, 4, 3, 2, 5, 6])), float)


def test_hints_come_one_after_the_other(said: Said) -> None:
    for call in (double.hint, double.hint, double.hint, double.answer):
        call()
    hints = "hint 1 of 2: Multiply.\nhint 2 of 2: 2 * …\nboth hints were given; "
    assert said() == f"{hints}the answer is folded below the check\n{double.source}\n"
    assert double.source == "def double(n: int) -> int:\n    return 2 * n\n"


def test_what_is_solved_is_listed(place: Path, said: Said) -> None:
    module = importlib.import_module("nmt_book.chapter04.check")
    progress(module)
    module.split_heads(lambda x, n: None)
    assert not place.exists()
    module.split_heads(module.split_heads.right)
    progress(module)
    progress()
    lines = said().splitlines()
    assert lines[0].startswith("chapter04: 0 of 4 solved")
    assert lines[3].startswith("chapter04: 1 of 4 solved: · masked_softmax, · atten")
    assert "✓ split_heads" in lines[3]
    assert lines[-1] == f"1 of {len(BY_NAME)}"


def test_no_file_where_none_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "file" / "runs"))
    double(lambda n: 2 * n)
    assert said().startswith("✓ right: it is twice as much\nnot kept: ")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "home"))
    remember(written={"attention": "def attention(): pass"})
    assert said().startswith("not kept: ") and recall() == Record()


@pytest.mark.parametrize("damage", ["cut", "null", "deep", "link"])
def test_a_damaged_file_is_put_aside(damage: str, place: Path, said: Said) -> None:
    remember(solved="chapter04.attention")
    file, deep = place / "exercises.json", "[" * 10**5
    if damage == "link":
        file.unlink()
        file.symlink_to("/dev/zero")
    else:
        text = file.read_text()
        other = {"cut": text[:-10], "null": '{"solved": null}', "deep": deep}
        file.write_text(other[damage])
    assert recall() == Record() and "is damaged, so nothing counts" in said()
    remember(solved="chapter04.split_heads")
    assert "it is exercises-damaged-1.json now" in said()
    assert recall().solved == ["chapter04.split_heads"]
    assert (place / "exercises-damaged-1.json").is_symlink() == (damage == "link")


def test_who_waited_for_a_lock_in_vain_does_not_wait_again(
    place: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "patience", 0.1)
    with FileLock(place / ".exercises.json.lock"):
        remember(solved="chapter04.attention")
    assert said().startswith("not kept: ") and saved.patience == 0


def test_two_kernels_keep_what_both_solve() -> None:
    def solve(kernel: int) -> None:
        for i in range(20):
            remember(solved=f"{kernel}.{i}")

    with ThreadPoolExecutor() as kernels:
        list(kernels.map(solve, range(2)))
    assert len(recall().solved) == 40


def cell(text: str, **names: Any) -> dict[str, Any]:
    """The names of a notebook after a cell."""
    file = f"cell {len(linecache.cache)}"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names


def test_her_functions_are_kept_when_they_translate(said: Said) -> None:
    """As in a notebook, where inspect finds no class; MultiHead calls her attention."""
    chapter = importlib.import_module("nmt_book.chapter04.check")
    wanted = [chapter.attention, chapter.split_heads, chapter.MultiHead]
    text = "\n".join(one.source for one in [chapter.masked_softmax, *wanted])
    text = text.replace("scores = Q @", "hers = 'hers'\n    scores = Q @")
    names = cell(text, torch=torch, math=math)
    for part, one in (("attention", chapter.attention), ("multi_head", wanted[2])):
        tried(**{part: names[one.name]})
        assert not recall().written, "its check has not called it right"
    for part, one in (("attention", chapter.attention), ("multi_head", wanted[2])):
        one(names[one.name])
        tried(**{part: names[one.name]})
    tried(split_heads=next(iter(chapter.split_heads.mistakes.values()))[0])
    assert set(recall().written) == {"attention", "multi_head"} and said()
    kept = functions(wanted)
    assert said() == "yours: attention, MultiHead; printed answers: 1\n"
    assert "hers" in str(kept["attention"].__code__.co_consts)
    remember(written={"attention": "def attention(*a):\n    return helper()"})
    assert "helper" not in functions(wanted)["attention"].__code__.co_names
    assert re.search("  attention: not yet: .*name 'helper' is not", said())
    assert chapter.MultiHead.verdict(kept["MultiHead"]).startswith("right")


def test_her_helpers_and_imports_are_kept() -> None:
    text = """import torch.nn.functional as func
from math import sqrt as root
from torch import finfo, no_grad
LOW = {"float": [1, -2.5, None]}
def width(K): return K.size(-1)
class Scores:
    def of(self, Q, K):
        return [Q @ K.mT / root(width(K)) for _ in range(1)][0]
number = width
@no_grad()
def attention(Q, K, V, mask=None, low=LOW):
    scores = Scores().of(Q, K) + 0 * number(K)
    if mask is not None:
        scores = scores.masked_fill(~mask, finfo(scores.dtype).min)
    width_of = 3  # a name of its own
    return func.softmax(scores, -1) @ V
"""
    names = cell(text, width_of=torch.ones(2), unused=torch.ones(2))
    source = full_source(names["attention"])
    assert "\n@no_grad()\ndef attention(" in source
    exec(source, fresh := dict[str, Any]())
    attention = BY_NAME["chapter04.attention"]
    assert attention.verdict(fresh["attention"]).startswith("right")
    assert fresh["LOW"] == names["LOW"] and "width_of" not in fresh


def test_an_earlier_answer_is_kept_as_a_helper() -> None:
    """Hers, or the printed one if hers is not right."""
    merge, cut = BY_NAME["chapter01.my_merge"], BY_NAME["chapter01.my_cut"]
    for source in (merge.source, "def my_merge(subwords, pair):\n    return None\n"):
        own = merge.use(cell(source)["my_merge"])
        text = full_source(cell(cut.source, merge=own)["my_cut"])
        exec(text, fresh := dict[str, Any]())
        assert cut.verdict(fresh["my_cut"]).startswith("right")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(x): return x @ W", "it uses W, which is no function, module, number"),
        ("f = lambda x: x", "no function or class that begins a line of a cell"),
        ("import torch; f = torch.relu", "no function or class that begins a line"),
        (f"def f(x): return '{'x' * 20_000}'", "more than 20,000 letters"),
    ],
)
def test_why_a_function_is_not_kept(text: str, reason: str) -> None:
    with pytest.raises(NotKept, match=reason):
        full_source(cell(text, W=torch.ones(2))["f"])


def test_functions_that_this_computer_did_not_check_are_not_run(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    attention = BY_NAME["chapter04.attention"]
    remember(written={"attention": attention.source})
    assert (tmp_path / "state/nmt_book/key").stat().st_mode & 0o77 == 0
    file = place / "exercises.json"
    for text, home in (("def", "other"), ("\\ndef", "state")):
        file.write_text(file.read_text().replace("def", text))
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / home))
        functions([attention])
        assert "functions that this computer did not check ('attention'): " in said()


def test_what_her_code_prints_comes_last(said: Said) -> None:
    def attention(*given: Any) -> Any:
        print("a\nb\nc")
        return BY_NAME["chapter04.attention"].right(*given)

    BY_NAME["chapter04.attention"](attention)
    *verdict, n_more = said().splitlines()
    assert verdict[0].startswith("✓ right: ")
    assert verdict[1:] == ["your code printed:", "  a", "  b", "  c"]
    assert re.fullmatch(r"  … and \d+ more", n_more)
    tried(attention=attention)
    trial = said().splitlines()
    assert trial[0].startswith("with yours, ") and trial[-4:-1] == verdict[2:]


def test_a_notebook_shows_a_verdict_in_colour() -> None:
    assert "✗</b> not yet: 1 &lt; 2" in Verdict("not yet: 1 < 2")._repr_html_()
    assert repr(Verdict("right: it is")) == "✓ right: it is"


def test_what_a_perplexity_is_of(said: Said) -> None:
    attention = BY_NAME["chapter04.attention"].right
    tried(attention=attention)
    assert "perplexity of the library's translations: " in said()
    try_it("multi30k-en-de", [Pair("A man.", "Ein Mann.")], attention=attention)
    assert "perplexity of the references: " in said()
    tried(next_word=BY_NAME["chapter00.next_word"].right)
    assert "perplexity" not in said(), "the search has no part in it"


def test_a_trial_that_looks_fine_says_so(said: Said) -> None:
    table = BY_NAME["chapter03.my_target_mask"]
    wrong = next(
        f for why, (f, *_) in table.mistakes.items() if "rows of padded" in why
    )
    table(wrong)
    tried(target_mask=wrong)
    assert said().endswith("this does not show the mistake that the check has found\n")


def stops(Q: Any, K: Any, V: Any, mask: Any) -> Any:
    return Q @ V.nothing


def cut(word: str, merges: list[tuple[str, str]]) -> tuple[str, ...]:
    parts = tuple("▁" + word)
    for pair in merges:
        parts = BY_NAME["chapter01.my_merge"].right(parts, pair)
    return parts


(TURNED_BACK,) = BY_NAME["chapter02.my_turn"]._variants("[-math → [math")


@pytest.mark.parametrize(
    ("part", "hers", "sentence"),
    [
        (
            "attention",
            lambda Q, K, V, mask: V.new_full((*Q.shape[:3], 32), torch.nan),
            "nan",
        ),
        ("attention", lambda *given: 1 / 0, "yours stops it: ZeroDivisionError"),
        ("attention", stops, "in the line: return Q @ V.nothing"),
        ("loss", lambda z, y: z.mean().item(), "it: TypeError: backward() starts from"),
        (
            "shift",
            lambda tgt: 2 * [tgt[:, :-1]],
            "lower is not better here",  # it learns to copy
        ),
        (
            "shift",
            lambda tgt: (tgt[:, :-1].tolist(), tgt[:, 1:].tolist()),
            "yours trains as the library does",
        ),
        ("turn", TURNED_BACK, "  yours:   "),  # one translation is another
        ("cut", cut, "197 of 197 words are cut as by the model\n"),
        ("cut", lambda word, merges: cut(word, merges[::-1]), "16 of 197 words"),
        ("batches", lambda lengths, budget: [lengths], "1 batches (the library: 29)"),
    ],
)
def test_what_a_trial_says(part: str, hers: Any, sentence: str, said: Said) -> None:
    tried(**{part: hers})
    assert sentence in said()


def test_texts_and_models_that_are_none(said: Said) -> None:
    tried(few=0, attention=stops)
    assert said().startswith("there is no text to translate: ")
    tried()
    assert said().startswith("nothing here is yours: give one of ")
    try_it("multi30k-en-de", "A dog runs.", next_word=lambda z: z[:, -1].argmax(-1))
    assert said().startswith("with yours, 1 of 1 translations")
    try_it("multi30k-en-fr", encoder_layer=stops)
    assert "pre-LN" in said()


def test_the_translator_is_left_as_it_was() -> None:
    translator = load_cached("multi30k-en-de")
    before = {n: t.clone() for n, t in translator.model.state_dict().items()}
    text = captions()[0]
    expected = translator(text).text

    def in_place(ids: Any, E: Any, P: Any) -> Any:
        return E.mul_(0)[ids] + P.zero_()[: ids.size(1)]

    try_it(translator, [text], embed=in_place, attention=lambda *a: a[2])
    assert translator(text).text == expected
    after = translator.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not any("attend" in vars(m) for m in translator.model.modules())


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(TypeError, match="no part is called atention; there are "):
        tried(atention=lambda: None)
