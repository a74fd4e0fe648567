"""Every benchmark, and what makes a page's tables, runs at tiny sizes, without data,
and writes nothing. What figures rest on is right: rules for contrasts, scores, the loss
of distillation."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

import nmt_lib as nmt
from benchmarks import multi30k
from benchmarks.recipes import rounds
from nmt_book import benchmark
from nmt_book.deeper_11 import tables as contrasts
from tests.book.conftest import Said
from tests.lib.small import (
    random_rows,
    small_model,
    small_translator,
)

ROOT = Path(__file__).resolve().parents[2]
OF_GPU = subprocess.run(
    ["bash", ROOT / "benchmarks/gpu.sh"],
    env={**os.environ, "DRY": "1", "PYTHON": "echo"},
    capture_output=True,
    text=True,
    check=True,
).stdout.splitlines()
COMMANDS = [line for line in dict.fromkeys(OF_GPU) if line.startswith("-m ")]
COMMANDS += """\
-m benchmarks.decoding --dry
-m benchmarks.memory --dry
-m benchmarks.tiny --dry
-m benchmarks.training --dry
-m benchmarks.recipes.de_en --dry
-m benchmarks.recipes.en_de --dry
-m benchmarks.recipes.en_fr --dry
-m nmt_book.deeper_11.tables --dry
-m benchmarks.multi30k --dry --test --models multi30k-en-de
""".splitlines()
LONG = """\
-m nmt_book.chapter11.tables --dry
-m nmt_book.chapter13.tables --dry
-m nmt_book.deeper_00.tables --dry
-m nmt_book.deeper_04.positions --dry
-m nmt_book.deeper_04.tables --dry
-m nmt_book.chapter10.tables --dry
-m nmt_book.deeper_07.tables --dry
-m nmt_book.deeper_12.tables --dry
-m nmt_book.deeper_13.tables --dry
""".splitlines()
WEEKLY = [pytest.param(command, marks=pytest.mark.weekly) for command in LONG]


def times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize("command", [*COMMANDS, *WEEKLY])
def test_a_dry_run_prints_a_table_and_writes_nothing(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: Said,
) -> None:
    _, module, *options = shlex.split(command)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_RUNS", str(tmp_path / "runs"))
    monkeypatch.delenv("NMT_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", [module, *options])
    monkeypatch.setattr(benchmark, "DRY", False)
    before = times(benchmark.RESULTS)
    importlib.import_module(module).main()
    plt.close("all")
    out = said()
    assert "| --- |" in out and "Made by `" in out
    assert times(benchmark.RESULTS) == before and not any(tmp_path.iterdir())
    theirs = {"benchmarks.training": "Marian", "benchmarks.decoding": "generate` |"}
    assert theirs.get(module, "") in out


def test_the_figures_of_the_readme_are_those_of_the_tables() -> None:
    _, results = (ROOT / "README.md").read_text("utf-8").split("## Results")
    cards = (ROOT / "nmt_lib/pretrained").glob("*/README.md")
    names = "tiny", "training", "training_epyc", "decoding"
    tables = [benchmark.RESULTS / f"{name}.md" for name in names]
    texts = [path.read_text("utf-8") for path in (*tables, *cards)]
    figures = re.findall(r"\d+\.\d+", results)
    assert len(figures) >= 7 and set(figures) <= set(
        re.findall(r"\d+\.\d+", " ".join(texts))
    )


def test_gpu_sh_runs_both_configs_and_scaling() -> None:
    assert COMMANDS[:3] == [
        "-m benchmarks.multi30k --directions en-de --seeds 0 --dry",
        "-m benchmarks.multi30k --config writeup_c --dry",
        "-m benchmarks.scaling --dry",
    ]


def test_moses_gives_text_like_the_published_files() -> None:
    texts = ["A dog's ball, \u201cred\u201d & big.", "Zwei Männer (alt)."]
    assert multi30k.moses(texts, "en") == [
        "a dog &apos;s ball , &quot; red &quot; &amp; big .",
        "zwei männer ( alt ) .",
    ]


def test_bleu_of_tokenised_text() -> None:
    assert multi30k.plain_bleu(["a b c d."], ["a b c d ."]) < 100, "not cut again"
    assert multi30k.words(["Two dogs, running."], "en") == ["two dogs , running ."]
    assert multi30k.spread([1.0]) == "1.00"
    assert multi30k.spread([1.0, 3.0]) == "2.00 ± 1.41"


def test_later_test_sets_are_read_where_their_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = nmt.load_config("multi30k").data
    monkeypatch.setenv("NMT_DATA", str(tmp_path))
    assert multi30k.test_sets(data) == ["test"]
    for corpus, end in ("multi30k", ""), ("multi30k-tok", ".lc.norm.tok"):
        (tmp_path / corpus).mkdir()
        for lang in ("en", "de"):
            file = tmp_path / corpus / f"test_2017_mscoco{end}.{lang}"
            file.write_text(f"{corpus} {lang}")
    assert multi30k.test_sets(data) == ["test", "MSCOCO"]
    pairs = [nmt.Pair("multi30k en", "multi30k de")]
    assert multi30k.load_set(data, "MSCOCO") == pairs
    (pair,) = multi30k.load_set(data, "MSCOCO", "multi30k-tok")
    assert pair.tgt == "multi30k-tok de"


def test_distillation_and_its_gradient_are_those_of_the_formula(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = random_rows([6, 4, 3], 11), random_rows([5, 7, 3], 13, seed=1)
    batch = nmt.make_batch(list(zip(*rows, strict=True)))
    teachers = [small_model(seed=1), small_model(seed=2)]
    student = small_model(seed=3).train()
    objective = rounds.Distillation(student, 0.1)
    objective.teachers = dict(zip(teachers, (0.4, 0.6), strict=True))
    objective.share = 0.3
    log_p = student(batch.src, batch.tgt_in).log_softmax(-1)  # (B, T, V)
    V = log_p.size(-1)
    right = torch.nn.functional.one_hot(batch.tgt_out, V)
    theirs = [model(batch.src, batch.tgt_in).softmax(-1) for model in teachers]
    both = 0.4 * theirs[0] + 0.6 * theirs[1]
    goal = 0.7 * (0.9 * right + 0.1 / V) + 0.3 * both
    real = (batch.tgt_out != nmt.PAD)[..., None]
    known = -(real * goal * log_p).sum()
    (expected := known / 7).backward()  # another factor than 1 reaches the gradient
    gradients = (weight.grad for weight in student.parameters())
    slopes = [gradient.clone() for gradient in gradients if gradient is not None]
    student.zero_grad()
    monkeypatch.setattr(rounds, "ROWS", 4)
    (found := objective(batch) / 7).backward()
    torch.testing.assert_close(found, expected)
    for weight, slope in zip(student.parameters(), slopes, strict=True):
        torch.testing.assert_close(weight.grad, slope)


def test_distillation_leaves_the_teachers_in_evaluation_mode() -> None:
    teacher = small_model()
    objective = rounds.Distillation(small_model())
    objective.teachers = {teacher: 1.0}
    objective.train()
    assert not teacher.training
    assert len(list(objective.parameters())) == len(list(teacher.parameters()))


def test_mixed_weights() -> None:
    new, old = small_translator(seed=1), small_translator(seed=2)
    result = rounds.mixed(new, old, 0.3)
    for mixture, a, b in zip(
        *(one.model.parameters() for one in (result, new, old)), strict=True
    ):
        torch.testing.assert_close(mixture, 0.7 * a + 0.3 * b)


def test_back_translations_come_after_the_real_pairs_and_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {"I want a beer.": "ich mochte ein bier", "I want a coke.": "new"}

    class Known(nmt.Translator):
        def __init__(self) -> None: ...

        def translate(self, texts, **options):  # type: ignore[no-untyped-def,override]
            empty = ((), 0.0)
            return [nmt.Translation(text, known[text], *empty) for text in texts]

    monkeypatch.setattr(nmt.Translator, "load", lambda name: Known())
    pairs = [nmt.Pair("ich mochte ein bier", "I want a beer.")]
    pairs.append(nmt.Pair("ich mochte ein cola", "I want a coke."))
    corpus = rounds.back_translated(nmt.Corpus(pairs, [], [], ""), "de-en")
    assert corpus.train == [*pairs, nmt.Pair("new", "I want a coke.")]


# Kind, reference, wrong ones.
WRONG = """
article: Une femme et un banc. → Un femme et un banc. → Une femme et une banc.
article: Des gens dans la rue. → Des gens dans le rue.
article: Il lave un T-shirt. → Il lave une T-shirt.
agreement: Elle porte une robe noire. → Elle porte une robe noir.
agreement: Deux petites filles. → Deux petits filles.
agreement: Deux gros chiens. → Deux grosses chiens.
agreement: Un petit chien brun. → Un petit chien brune. → Un petite chien brun.
agreement: Il a des cheveux gris. → Il a des cheveux grises.
agreement: Deux chevaux blancs. → Deux chevaux blanches.
adjective place: Un chien noir court. → Un noir chien court.
adjective place: Un gros chien noir court. → Un gros noir chien court.
adjective place: Elle lave des chemises rouges. → Elle lave des rouges chemises.
# Both genders exist.
article: Un enfant et une élève.
# The noun is not next to the article.
article: Une jeune femme.
# A reference with a mistake of its own.
article: Un rue.
agreement: Un pantalon blancs.
# One form for both genders.
article: Les femmes, des rues, l'homme.
agreement: Une robe rouge, un chien jaune.
article: Un homme-sandwich.
# "noire" is right, too.
agreement: Une veste en cuir noir.
# A colour with a qualifier does not agree.
agreement: Une robe bleu clair, une veste vert foncé.
agreement: Un chien noir et blanc.
# It agrees with both nouns.
agreement: Une chemise et un pantalon noirs.
agreement: Un petit enfant, une photo en noir.
# "une blonde femme" may be said.
adjective place: Une femme blonde.
# These come before the noun anyway.
adjective place: Un petit chien, une grande rue.
adjective place: Un drapeau rouge, blanc et bleu.
# The article would change, too.
adjective place: L'écharpe verte.
"""
CASES = [re.split(": | → ", line) for line in WRONG.splitlines() if ": " in line]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_the_wrong_sentences_a_rule_makes(case: list[str]) -> None:
    kind, right, *wrong = case
    assert sorted(contrasts.RULES[kind](right)) == sorted(wrong)


def test_no_noun_has_two_genders() -> None:
    words = " ".join(contrasts.NOUNS.values()).split()
    assert len(contrasts.KINDS_OF) == 2 * len(words) == 2 * len({*words})
    assert not {"enfant", "élève", "livre", "tour", "cycliste", "porte"} & {*words}


def test_wilson_interval() -> None:
    """A published value, at the end, where mean ± deviation fails."""
    assert contrasts.interval(10, 10) == "72.2% to 100.0%"


def test_the_table_of_contrasts_is_that_of_the_bundled_model() -> None:
    text = (benchmark.RESULTS / "contrasts.md").read_text(encoding="utf-8")
    model = nmt.Translator.load(contrasts.MODEL, device="cpu").model
    assert f"weights {contrasts.digest(model)}." in text
