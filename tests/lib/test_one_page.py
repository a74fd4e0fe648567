"""The page computes what the library computes, learns, and needs only torch."""

import ast
import math
import random
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib import one_page as page
from tests.lib.small import rows

PAGE = Path(page.__file__)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """What the page sets for the whole process."""
    state = random.getstate()
    with torch.random.fork_rng():
        yield
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32)
    random.setstate(state)


def make_pairs(n: int, seed: int = 7) -> list[tuple[str, str]]:
    random.seed(seed)
    return [page.make_pair() for _ in range(n)]


def vocabularies(pairs: list[tuple[str, str]]) -> list[dict[str, int]]:
    return [page.make_vocabulary(texts) for texts in zip(*pairs, strict=True)]


def library_config(options: str = "") -> nmt.Config:
    """The page's constants as a config of the library."""
    text = f"""model.d_model={page.d_model} model.d_ff={page.d_ff}
    model.n_layers={page.N}
    model.n_heads={page.h} model.dropout={page.P_drop} train.schedule=noam train.lr=0.5
    train.warmup={page.warmup_steps} train.max_steps={page.train_steps}
    train.batch_by=sentences train.batch_sentences={page.batch_size}
    train.label_smoothing={page.epsilon_ls} {options}"""
    return nmt.load_config("tiny", **nmt.parse_overrides(text))


def library_model(ours: Any) -> nmt.Transformer:
    """The library's model, with the weights of the page's; no dropout in either."""
    sizes = len(ours.source), len(ours.target)
    theirs = nmt.Transformer(library_config().model, *sizes).eval()
    with torch.no_grad():  # both have the same parameters in the same order
        for old, new in zip(theirs.parameters(), ours.eval().parameters(), strict=True):
            assert old.shape == new.shape
            old.copy_(new)
    return theirs


def test_words_are_split_as_french_writes_them_and_may_be_unknown() -> None:
    assert page.split("L’homme n'a rien.") == ["l’", "homme", "n'", "a", "rien", "."]
    assert page.split("Zut, 3 œufs…") == ["zut", ",", "3", "œufs", "…"]
    words = page.make_vocabulary(["Once, a car.", "A car!"])
    assert list(words) == [*nmt.SPECIALS, "a", "car"]
    assert page.encode("Once a", words) == [nmt.SOS, nmt.UNK, words["a"], nmt.EOS]


def test_the_learning_rate_is_half_the_papers() -> None:
    config = library_config()
    for step in (1, 50, page.warmup_steps, page.train_steps, 10_000):
        expected = nmt.learning_rate(step, config.train, config.model.d_model)
        assert page.learning_rate(step) == pytest.approx(expected, rel=1e-12)


# With dropout, from the same seed. In float64, rounding hides no difference (in float32
# the losses of ten updates differ by up to 1e-6). After 25 updates the page translates,
# which switches dropout off.
def test_28_updates_and_all_maps_then_equal_those_of_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same seed: first weights, losses, gradients, schedule, optimizer."""
    torch.set_default_dtype(torch.float64)
    monkeypatch.setattr(page, "train_steps", 28)
    monkeypatch.setattr(page, "batch_size", 16)
    pairs = make_pairs(28 * 16)
    for split, some in (("train", pairs), ("valid", pairs[:4]), ("test", pairs[:4])):
        for column, lang in enumerate(("en", "fr")):
            lines = "".join(f"{pair[column]}\n" for pair in some)
            (tmp_path / f"{split}.{lang}").write_text(lines, encoding="utf-8")
    options = f"data.tokenizer=whitespace data.min_freq=2 data.corpus={tmp_path}"
    options += f" run_dir={tmp_path}/run train.validate_every=1 train.select=last"
    run = nmt.train(library_config(options))

    losses: list[float] = []
    cross_entropy, batches = page.cross_entropy, nmt.sentence_batches(len(pairs), 16, 0)

    def watched(logits: Tensor, tgt_out: Tensor) -> Tensor:
        loss = cross_entropy(logits, tgt_out)
        losses.append(loss.item())
        return loss

    def next_batch(pairs: list[tuple[str, str]], k: int) -> list[tuple[str, str]]:
        return [pairs[row] for row in batches[len(losses)]]

    def rounded(length: int) -> Tensor:  # the library's table is float32
        return nmt.sinusoids(length, page.d_model).double()

    torch.testing.assert_close(page.positions(64), rounded(64), rtol=0, atol=1e-7)
    monkeypatch.setattr(page, "cross_entropy", watched)
    monkeypatch.setattr(page, "random", SimpleNamespace(choices=next_batch))
    monkeypatch.setattr(page, "positions", rounded)
    torch.manual_seed(0)
    model = page.Transformer(*vocabularies(pairs))
    torch.manual_seed(0)
    page.train(model, pairs, pairs[0][0])

    expected = [row["train_loss"] for row in run.history]
    assert losses == pytest.approx(expected, rel=0, abs=1e-12) and len(losses) == 28
    ours, theirs = [*model.parameters()], [*run.model.parameters()]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)

    src, tgt_in, _ = page.make_batch(pairs[:32], model.source, model.target)
    assert (src == nmt.PAD).any() and (tgt_in == nmt.PAD).any()
    model.eval()(src, tgt_in)
    maps = run.model.attention(src, tgt_in)
    for stack, name, layers in (
        (model.encoder, "self_attention", maps.encoder),
        (model.decoder, "self_attention", maps.decoder),
        (model.decoder, "cross_attention", maps.cross),
    ):
        for layer, weights in zip(stack, layers, strict=True):
            found = getattr(layer, name).weights
            assert torch.equal(found == 0, weights == 0)
            torch.testing.assert_close(found, weights, rtol=0, atol=1e-9)


# What it learns and prints is compared in notebook 00, which runs it.
@pytest.mark.weekly
def test_the_map_crosses_where_french_puts_the_colour_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = page.main()
    capsys.readouterr()
    page.draw_map(model, "The boy sees a red car.")
    head, *rows = capsys.readouterr().out.splitlines()
    read = head.split()
    assert read == ["the", "boy", "sees", "a", "red", "car", "."]
    darkest = {}
    for row in rows:
        word, *cells = row.split()
        assert [len(cell) for cell in cells] == [len(word) for word in read]
        darkest[word] = read[max(range(7), key=lambda i: "·░▒▓█".index(cells[i][0]))]
    assert list(darkest) == ["le", "garçon", "voit", "une", "voiture", "rouge", "."]
    assert darkest["voiture"] == "car" and darkest["rouge"] == "red"


def test_translate_finds_the_words_of_greedy_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "train_steps", 25)
    pairs = make_pairs(400)
    model, texts = page.Transformer(*vocabularies(pairs)), [*dict(pairs[:40])]
    page.train(model, pairs, texts[0])
    random.seed(0)
    scrambled = [" ".join(random.choices(list(model.source), k=9)) for _ in range(20)]
    texts += [*scrambled, "", "zebra", "red " * 40]  # wrong, empty, unknown, long
    src = page.pad([page.encode(text, model.source) for text in texts])
    words, found = list(model.target), nmt.greedy_search(library_model(model), src)
    for text, hypothesis in zip(texts, found, strict=True):
        expected = " ".join(words[i] for i in hypothesis.ids)
        assert page.translate(model, text) == expected, text


# As `python -I mine.py pairs.tsv`, where standard output has another encoding.
ALONE = """import io, runpy, sys
sys.stdout, sys.argv = io.TextIOWrapper(sys.stdout.buffer, "cp1252"), sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")"""


def test_a_copy_runs_alone_on_a_file_of_pairs(tmp_path: Path) -> None:
    shorter = re.sub("(batch_size) = [0-9]+,", r"\1 = 25,", PAGE.read_text("utf-8"))
    (tmp_path / "mine.py").write_text(shorter, encoding="utf-8")
    lines = ["Ich sehe ein Haus.\tI see a house.", "Er sieht sie!\tHe sees her!\tCC"]
    lines = lines * 20 + [f"Wort{i} ist neu.\tWord{i} is new." for i in range(30)]
    text = "\n".join([*lines, "", "kaputt", "leer\t", "\tempty"])
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8-sig")
    command = [sys.executable, "-I", "-c", ALONE, "mine.py", "pairs.tsv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "70 of the 73 lines of pairs.tsv hold a pair"
    assert lines[3].startswith("     25  ")
    assert re.fullmatch(r"\d of 4 unseen sentences are translated exactly", lines[4])


REFUSED = r"""
no file | pairs.tsv | cannot read pairs\.tsv: No such file or directory
'' | pairs.tsv | pairs\.tsv needs two lines or more: .*
'a house\nun livre\n\n' | pairs.tsv | pairs\.tsv needs two lines .*
'one\tun\none\tune\n' | pairs.tsv | pairs\.tsv needs two lines .*
'\xff\xfeo\x00n\x00' | pairs.tsv | cannot read .*: it is not UTF-8
no file | '' | cannot read : .*
no file | . | cannot read \.: .*
no file | a.tsv b.tsv | give one file of pairs, or none
"""


@pytest.mark.parametrize(("content", "arguments", "message"), rows(REFUSED))
def test_what_cannot_be_used_is_one_sentence_and_no_training(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str,
    arguments: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content != "no file":
        Path("pairs.tsv").write_bytes(ast.literal_eval(f"b{content}"))
    monkeypatch.setattr(sys, "argv", ["one_page.py", *shlex.split(arguments)])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(PAGE), run_name="__main__")
    out, err = capsys.readouterr()
    assert stopped.value.code == 2 and out == ""
    assert re.fullmatch(f"error: {message}\n", err)


def test_the_grammar_agrees() -> None:
    gender = {
        nom: "mf"[g]
        for nouns in (page.PEOPLE, page.THINGS)
        for g, table in enumerate(nouns)
        for _, nom in table
    }
    forms = [*page.ARTICLES, *page.BEFORE, *page.BEHIND, *page.STATES]
    masculine, feminine = ({row[g] for row in forms} for g in (1, 2))
    wrong = {"m": feminine - masculine, "f": masculine - feminine}
    pairs = make_pairs(1000)
    for english, french in pairs:
        assert english == " ".join(page.split(english))
        assert french == " ".join(page.split(french))
        clause, _, tail = re.sub(" (et|mais) ", " # ", french).partition(" # ")
        clause = clause.replace("a perdu", "a_perdu")
        who, what = (word for word in clause.split() if word in gender)
        before, after = clause.split(f" {who} ")
        assert wrong[gender[who]].isdisjoint(before.split()), french
        assert wrong[gender[what]].isdisjoint(after.split()), french
        if tail:
            pronoun, _, state, _ = tail.split()
            assert pronoun == {"m": "il", "f": "elle"}[gender[what]]
            assert state not in wrong[gender[what]]
        assert not re.search(r"\b(la|le|une?|belle|beau) [aeiouhéâ]", french)
        assert not re.search(r"\ba [aeiou]", english)
    distinct = set(pairs)
    assert len(dict(distinct)) == len(distinct) == len({f for _, f in distinct})


def test_the_grammar_has_half_a_million_sentences() -> None:
    people, things = (sum(map(len, nouns)) for nouns in (page.PEOPLE, page.THINGS))
    before = len(page.ARTICLES) * len(page.BEFORE)
    phrases = before * people, before * things * len(page.BEHIND)
    tails = 1 + len(page.LINKS) * len(page.STATES)
    assert math.prod(phrases) * len(page.VERBS) * tails == 537_600


def test_the_page_is_a_page_and_needs_only_torch() -> None:
    text = PAGE.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert sum(map(bool, lines)) <= 260 and max(map(len, lines)) <= 88
    headings = re.findall(r"^# ---- (\d+)\. \w.* -+$", text, re.MULTILINE)
    assert headings == [str(i) for i in range(1, 12)]
    names = re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)
    assert {*names} - {*sys.stdlib_module_names} == {"torch"}
