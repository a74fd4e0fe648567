"""The tutor prompts teach with the exercises' hints, and hold no answer."""

import re
from types import ModuleType

import pytest

from nmt_book.exercise import tutor
from nmt_book.exercise.progress import exercises, modules


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.__name__[16:])
def test_a_prompt_names_each_exercise_and_holds_no_code_of_its_answer(
    module: ModuleType,
) -> None:
    prompt = tutor.prompt(module)
    bare = "".join(prompt.split())
    for one in exercises(module):
        part = prompt.split(f"\n## {one.name}\n")[1].split("\n## ")[0]
        assert one.task in part and part.count("\n- ") >= 2
        for line in one.source.splitlines()[1:]:
            code = "".join(line.partition("#")[0].split())
            sides = code, re.sub(r"^\w+=|^return", "", code)
            told = [side for side in sides if len(side) >= 14 and side in bare]
            assert not told, f"the prompt tells a line of {one.name}: {told}"


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("`scores = Q @ K.mT / math.sqrt(K.size(-1))` is the first line", True),
        ("divide the scores by √d_k", False),
    ],
)
def test_a_sentence_that_repeats_the_answer_is_found(said: str, quoted: bool) -> None:
    answer = "def f(Q, K):\n    return (Q @ K.mT / math.sqrt(K.size(-1))).softmax(-1)\n"
    assert tutor.quotes(said, answer) is quoted


def test_an_unknown_chapter_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["tutor", "chapter99"])
    with pytest.raises(SystemExit, match="no chapter 'chapter99': choose of chapter00"):
        tutor.main()
