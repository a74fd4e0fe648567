"""Cleaning counts what it leaves out; a split by group leaks nothing."""

import itertools
import warnings
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.data.clean import Report, clean, looks_swapped
from nmt_lib.data.mend import line_offsets, mend, mend_text
from nmt_lib.data.split import fold, grouped_split, seen_share
from tests.lib.small import rows

GOOD = [(f"The {n} cats sleep.", f"有{n}只猫在睡觉。") for n in range(20)]
DIRTY = {
    "damaged characters": [
        ("caf\ufffd is nice", "咖啡很好"),
        ("a\0b", "猫"),
        ("a\rb", "猫"),
        ("a\x9b2J", "猫"),
        ("cat" + "\u0345\u0300" * 200, "猫"),
    ],
    "empty": [("", "猫"), ("A cat.", " \u3000 ")],
    "both sides equal": [("OK", " OK "), ("Not translated.", "NOT translated")],
    "longer than 1000 characters": [("cat " * 251, "猫")],
    "there already": [("The  4 cats sleep. ", "有4只猫在睡觉。")],
    "letters, but none of the usual script": [("Hello there.", "Good evening!")],
    "in the language of the other side": [
        ("The cats sleep, the cats sleep.", "The cats sleep, the cats sleep, 咖.")
    ],
    "not the same tags": [("Run <b>it</b>!", "运行！")],
    "unusual lengths": [("A dog.", "狗" * 90)],
}


def test_each_reason_is_counted_and_the_rest_is_kept() -> None:
    odd = [
        ("Markdown is fast.", "Markdown 查看器 Settings"),  # more Latin than Chinese
        ("42", "42 %"),  # no letters at all
        ("Run <b>it</b>!", "<b>运行</b>！"),
    ]
    dirt = [pair for pairs in DIRTY.values() for pair in pairs]
    report = Report()
    assert clean([*GOOD, *odd, *dirt], report) == [*GOOD, *odd]
    assert report.left_out == {reason: len(pairs) for reason, pairs in DIRTY.items()}
    assert report.examples == {reason: pairs[0] for reason, pairs in DIRTY.items()}


# Three scripts, one way of writing; Serbian has two ways.
SCRIPTS = "ねこ 猫が好き ネコ 東京", "Мачка Mačka Кућа Kuća", "고양이 韓國 집에 물"


@pytest.mark.parametrize("texts", SCRIPTS)
def test_a_language_of_several_scripts_loses_nothing(texts: str) -> None:
    pairs = [(f"cat {i}", text) for i, text in enumerate(texts.split() * 5)]
    report = Report()
    assert clean(pairs, report) == pairs and not report.left_out


def test_accents_are_written_in_one_way() -> None:
    assert clean([("an e\u0301", "zażo\u0301łć")], Report()) == [("an é", "zażółć")]


SAME = """
Été ! | ete
Straße | STRASSE
it's | Its.
مَرحبا | مرحبا
"""


@pytest.mark.parametrize(("one", "other"), rows(SAME))
def test_what_counts_as_the_same_sentence(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_numbers_and_signs_stay_different() -> None:
    """Otherwise, all that have no letters would be one large group."""
    assert len({fold(text) for text in ("room 1", "room 2", "!!", "??", "🙂", "")}) == 6


NUMBERS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(st.lists(NUMBERS, max_size=80), st.integers(0, 10), st.integers(0, 99))
def test_no_sentence_is_in_two_parts(
    numbers: list[tuple[int, int]], n: int, seed: int
) -> None:
    pairs = [nmt.Pair(f"so {i}", f"ta {j}") for i, j in numbers]
    split = grouped_split(pairs, n, seed)
    parts = split.train, split.valid, split.test
    assert Counter(itertools.chain(*parts)) == Counter(pairs)
    for side in ("src", "tgt"):
        texts = [{fold(getattr(pair, side)) for pair in part} for part in parts]
        assert sum(map(len, texts)) == len(set().union(*texts)), "two parts share one"
    assert max(len(split.valid), len(split.test)) <= n
    assert grouped_split(pairs, n, seed) == split


def test_a_group_that_one_frequent_word_chains_together_is_trained_on() -> None:
    chained = [nmt.Pair(f"sentence {i}", "Tak.") for i in range(30)]
    single = [nmt.Pair(f"other {i}", f"inne {i}") for i in range(30)]
    split = grouped_split([*chained, *single], 10, 0)
    assert split.largest == 30 and len(split.valid) == len(split.test) == 10
    assert {p.tgt for p in [*split.valid, *split.test]}.isdisjoint({"Tak."})


def test_english_on_the_other_side_is_noticed() -> None:
    pairs = [nmt.Pair(f"This is the {i} and that.", f"To jest {i}.") for i in range(9)]
    assert looks_swapped(pairs, "pl", "en") and not looks_swapped(pairs, "en", "pl")
    assert not looks_swapped(pairs, "de", "pl")
    assert not looks_swapped([], "en", "pl") and not looks_swapped(
        pairs[:1], "pl", "en"
    )


def write(folder: Path, n: int = 60, extra: str = "") -> Path:
    file = folder / "pairs.tsv"
    lines = [f"the cat {i // 2}\tkot {i}\n" for i in range(n)]
    file.write_text("".join(lines) + extra, encoding="utf-8")
    return file


def data(file: Path, **options: str) -> DataConfig:
    fields = {"src_lang": "en", "tgt_lang": "pl", "tokenizer": "bpe"} | options
    return DataConfig(corpus=str(file), **fields)  # type: ignore[arg-type]


def test_a_file_is_a_corpus(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"60 of 62 pairs .*, left out: empty 1, both"):
        corpus = nmt.load_corpus(data(write(tmp_path, extra="a\t\nsame\tsame\n")))
    # Groups of two do not fill three places.
    assert [len(p) for p in (corpus.train, corpus.valid, corpus.test)] == [56, 2, 2]
    assert seen_share(corpus.test, corpus.train) == 0
    assert "pairs in the largest group: 2" in corpus.provenance
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nmt.load_corpus(data(write(tmp_path)))  # nothing to say
    with pytest.warns(UserWarning, match="on the other side"):
        nmt.load_corpus(data(write(tmp_path), src_lang="pl", tgt_lang="en"))
    with pytest.raises(nmt.CorpusError, match=r"nothing is left .*\(4 of 4 pairs"):
        nmt.load_corpus(data(write(tmp_path, n=4)))


def shifted(pairs: list[tuple[str, str]], lines: int) -> list[tuple[str, str]]:
    """The pairs with lines lost (below 0) or added in the middle of the targets."""
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    middle = len(pairs) // 2
    targets[middle : middle + max(0, -lines)] = ["Something new."] * lines
    targets += ["The end."] * -lines
    return list(zip(sources, targets, strict=False))


TINY = nmt.load_corpus(nmt.load_config("tiny").data)
LINES = [(pair.src, pair.tgt) for pair in TINY.valid]


@pytest.mark.parametrize("lines", [-7, -1, 1, 2])
def test_lines_that_lost_their_translations_find_them_again(lines: int) -> None:
    report = Report()
    pairs = mend(shifted(LINES, lines), report)
    assert len(set(LINES) & set(pairs)) >= len(LINES) - abs(lines) - 3
    (moved,) = report.mended.values()
    assert abs(moved - len(LINES) // 2) <= abs(lines) + 3


@pytest.mark.parametrize("side", [0, 1])
def test_a_moses_file_that_lost_lines_is_mended_or_refused(
    side: int, tmp_path: Path
) -> None:
    for lost, lines in ((2, LINES), (11, LINES), (1, LINES[:60])):
        texts = list(map(list, zip(*lines, strict=True)))
        del texts[side][50 : 50 + lost]
        for lang, column in zip(("en", "fr"), texts, strict=True):
            (tmp_path / f"a.{lang}").write_text("\n".join(column) + "\n")
        if lost == 2:
            pairs = nmt.load_pairs(tmp_path / "a", "en", "fr")[0]
            assert len({*lines} & {(p.src, p.tgt) for p in pairs}) >= len(lines) - 5
        else:
            with pytest.raises(nmt.CorpusError, match=rf"a: .* longer by {lost}, and"):
                nmt.load_pairs(tmp_path / "a", "en", "fr")


def test_untranslated_lines_hide_no_shift() -> None:
    pairs = [(src, tgt if i % 3 else "") for i, (src, tgt) in enumerate(LINES)]
    offsets = line_offsets(*zip(*shifted(pairs, -1), strict=True))
    assert abs((offsets == -1).sum() - len(LINES) // 2) < 5
    assert not line_offsets(["a", "bb", "ccc"], [""] * 3).any()


def test_nothing_moves_in_a_file_without_a_shift_or_a_sorted_one() -> None:
    ordered = sorted(LINES, key=lambda pair: len(pair[0]))
    for pairs in (LINES, LINES[:2], LINES[:1], [], shifted(ordered, 1)):
        assert not any(line_offsets(*zip(*pairs, strict=True)) if pairs else [])
    report = Report()
    assert mend(ordered, report) == ordered and not report.mended
    assert report.remarks == ["a shift cannot be told: the lines are sorted"]


def test_lengths_that_agree_by_chance_are_no_evidence() -> None:
    """All sentences of few words: their lengths come again and again."""
    words = [(("a" * i, "b" * (7 * i % 5 + 1)) for i in range(1, 6)) for _ in "123"]
    rows = list(itertools.product(*map(list, words)))
    pairs = [tuple(" ".join(w[side] for w in row) for side in (0, 1)) for row in rows]
    assert not line_offsets(*zip(*pairs, strict=True)).any()


MENDED = """
&quot;A &amp; B&quot; | "A & B"
&amp;quot;no&amp;quot; | "no"
it&#39;s &#x27;so&#x27; | it's 'so'
R&D; AT&T, 1 &lt 2 | R&D; AT&T, 1 &lt 2
ZaÅ¼Ã³Å‚Ä‡ gÄ™Å›lÄ… | Zażółć gęślą
Ã\xa0 bientÃ´t | à bientôt
Ça va, à bientôt, 咖啡 | Ça va, à bientôt, 咖啡
"""


@pytest.mark.parametrize(("text", "mended"), rows(MENDED))
def test_entities_and_wrong_encodings_are_mended(text: str, mended: str) -> None:
    assert mend_text(text) == mended


def test_what_may_be_right_is_kept_and_shown() -> None:
    odd = {
        "other digits": ("Room 12 is free.", "房间13有空。"),
        "half of the words are equal": ("Open the Jupyter lab", "打开 Jupyter lab"),
        "letters of a rare script": ("The cаts sleep.", "猫在睡觉。"),  # а is Cyrillic
    }
    often = [(f"Cat {i} sees the A.", f"第{i}只猫看见 A。") for i in range(90)]
    report, pairs = Report(), [*GOOD, *often, *odd.values()]
    assert clean(pairs, report) == pairs
    assert report.odd == dict.fromkeys(odd, 1) and not report.left_out
    assert report.examples == odd and not report.remarks


def test_languages_too_alike_lose_nothing() -> None:
    pairs = [(f"{src} British", f"{src} American") for src, _ in LINES]
    report = Report()
    assert clean(pairs, report) == pairs and not report.remarks
    sources = [src for src, _ in LINES]
    clean(zip(sources, sources[7:], strict=False), report)
    assert report.remarks == ["both sides seem to be in one language"]
