"""Files of sentence pairs: the same pairs from each kind, and no silent losses."""

import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nmt_lib as nmt
from nmt_lib.data import files as pair_files
from nmt_lib.data import xml_units
from tests.lib.small import little_memory

PAIRS = [
    ("Two dogs run.", "Dwa psy biegną."),
    ('He said "hi", loudly.', 'Powiedział "cześć", głośno.'),
    ("NA", "None"),  # words, not missing values
    ("It's 5 < 6 & 7 > 3.", "5 < 6 & 7 > 3."),
    ('"Quoted', 'niedomknięty"'),
    ("Żółw is Polish", "łabędź; gęś"),
]
NESTED = '{{"id": 1, "translation": {{"en": {0}, "pl": {1}}}}}\r\n'
ENTRY = "\n#: a.py:1\nmsgid {0}\nmsgstr {1}\n"
Texts = list[tuple[str, str]]


def each(line: str, pairs: Texts, change: Callable[[str], str] = str) -> str:
    """A line for each pair, its texts in place of ``{0}`` and ``{1}``."""
    return "".join(line.format(*map(change, texts)) for texts in pairs)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def tsv(pairs: Texts) -> bytes:
    return each("{0}\t{1}\tCC-BY 2.0 #1\n", pairs).encode()


def sheet(pairs: Texts, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, delimiter=delimiter)
    rows.writerows([["id", "pl", "en"], *([7, b, a] for a, b in pairs)])
    return text.getvalue().encode()


def memory(pairs: Texts) -> bytes:
    unit = (
        '<tu><tuv xml:lang="en-GB"><seg>{}<ph>&lt;b&gt;</ph></seg></tuv>'
        '<tuv xml:lang="PL"><seg>{}</seg></tuv></tu>\n'
    )
    head = '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><body>'
    return f"{head}{each(unit, pairs, escape)}</body></tmx>".encode()


def xliff(pairs: Texts, langs: str = 'source-language="en-GB"') -> bytes:
    unit = (
        "<trans-unit><source>{}<ph>&lt;b&gt;</ph></source><seg-source/>"
        "<target><g>{}</g></target><alt-trans><source>a</source><target>b</target>"
        "</alt-trans></trans-unit>"
    )
    return f"""<xliff xmlns="urn:x:1.2"><file {langs} target-language="pl"><body>\
<group>{each(unit, pairs, escape)}</group></body></file></xliff>""".encode()


def xliff_2(pairs: Texts) -> bytes:
    segment = "<segment><source><pc>{}</pc></source><target>{}</target></segment>"
    return f"""<xliff xmlns="urn:x:2.0" srcLang="en" trgLang="pl"><file><unit>\
{each(segment, pairs, escape)}</unit></file></xliff>""".encode()


def parquet(pairs: Texts, src: str = "en", tgt: str = "pl") -> bytes:
    return stored([{src: a, tgt: b, "id": 7} for a, b in pairs])


def stored(table: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(table), file, compression="zstd")
    return file.getvalue()


def catalogue(pairs: Texts) -> bytes:
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    return f"{head}{each(ENTRY, pairs, quoted)}".encode()


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"_about.txt": b"a\tb\n"} | files).items():
            archive.writestr(name, content)
    return file.getvalue()


def moses(pairs: Texts) -> dict[str, bytes]:
    lines = {"en": "{0}\n", "pl": "{1}\n"}.items()
    return {f"Set.en-pl.{lang}": each(line, pairs).encode() for lang, line in lines}


MADE = {
    "a.tsv": tsv(PAIRS),
    "bom.txt": b"\xef\xbb\xbf" + tsv(PAIRS),
    "windows.tsv": tsv(PAIRS).replace(b"\n", b"\r\n"),
    "mac.tsv": tsv(PAIRS).replace(b"\n", b"\r"),
    "excel.txt": tsv(PAIRS).decode().encode("utf-16"),
    "named.tsv": each("id\t{1}\t{0}\n", [("EN", "PL"), *PAIRS]).encode(),
    "tatoeba.tsv": each("7\t{0}\t63\t{1}\n", PAIRS).encode(),
    "packed.tsv.gz": gzip.compress(tsv(PAIRS)),
    "a.csv": sheet(PAIRS),
    "semicolons.csv": sheet(PAIRS, ";"),
    "a.jsonl": each('{{"en": {0}, "pl": {1}}}\n', PAIRS, json.dumps).encode(),
    "nested.jsonl": each(NESTED, PAIRS, quoted).encode(),
    "array.json": json.dumps([{"en": a, "pl": b} for a, b in PAIRS]).encode(),
    "a.tmx": memory(PAIRS),
    "packed.tmx.gz": gzip.compress(memory(PAIRS)),
    "windows.tmx": b'<?xml version="1.0" encoding="iso-8859-2"?>'
    + memory(PAIRS).decode().partition("?>")[2].encode("iso-8859-2"),
    "a.xlf": xliff(PAIRS),
    "2.xliff": xliff_2(PAIRS),
    "a.parquet": parquet(PAIRS),
    "nested.parquet": stored(
        [{"id": 7, "translation": {"pl": b, "en": a}} for a, b in PAIRS]
    ),
    "a.po": catalogue(PAIRS),
    "opus.zip": zipped(moses(PAIRS)),
    "pol-eng.zip": zipped({"pol.txt": tsv(PAIRS)}),
}


def read(path: Path, src: str = "en", tgt: str = "pl") -> tuple[Texts, Counter[str]]:
    lost: Counter[str] = Counter()
    return list(nmt.read_pairs(path, src, tgt, lost)), lost


NAMED = ["named.tsv", "a.csv", "a.jsonl", "a.tmx", "a.po"]  # each side has a name


@pytest.mark.parametrize("name", MADE)
def test_each_kind_of_file_gives_the_same_pairs(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(MADE[name])
    assert read(tmp_path / name) == (PAIRS, Counter())
    if name in NAMED:
        assert read(tmp_path / name, "pl", "en")[0] == [(b, a) for a, b in PAIRS]


COLUMNS = {  # first line → columns that are read
    "src\tsrc_prompt\ttrg\ttrg_prompt": ["src", "trg"],
    "note\tsource\ttarget": ["source", "target"],
    "\tEnglish (UK)\tPolski": ["English (UK)", "Polski"],
    "en_US\tn\tPL": ["en_US", "PL"],
    "sep=;\nen;x;pl": ["en", "pl"],
    "": ["2", "3"],
}


@pytest.mark.parametrize("head", COLUMNS)
def test_columns_are_found_by_name(head: str, tmp_path: Path) -> None:
    named, columns = COLUMNS[head], list[str]()
    sep = ";" if "sep" in head else "\t"
    titles = head.rpartition("\n")[2].split(sep) if head else ["", *named]
    lines = [head] * bool(head)
    for texts in PAIRS[:3]:
        cells = dict.fromkeys(titles, "7") | dict(zip(named, texts, strict=True))
        lines.append(sep.join(cells.values()))
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    found = nmt.read_pairs(tmp_path / "a.tsv", "en", "pl", Counter(), columns)
    assert list(found) == PAIRS[:3] and columns == named


@pytest.mark.parametrize(
    ("code", "asked"), [("en", "en-US"), ("en_US", "en"), ("en-GB", "en-US")]
)
@pytest.mark.parametrize(
    "name", ["a.tmx", "a.xlf", "a.parquet", "named.tsv", "a.jsonl"]
)
def test_a_language_stands_for_its_country_but_no_country_for_another(
    name: str, code: str, asked: str, tmp_path: Path
) -> None:
    content = parquet(PAIRS, code)
    if name != "a.parquet":
        content = re.sub(rb'en-GB|\bEN\b|(?<=\{")en', code.encode(), MADE[name])
    (tmp_path / name).write_bytes(content)
    if "GB" in code:
        with pytest.raises(nmt.CorpusError, match=code):
            read(tmp_path / name, asked)
    else:
        assert read(tmp_path / name, asked)[0] == PAIRS


@pytest.mark.parametrize("given", ["Set.en-pl", "Set.en-pl.en", "Set.en-pl.pl.gz"])
def test_two_moses_files_are_named_by_either_or_by_their_stem(
    given: str, tmp_path: Path
) -> None:
    english, polish = moses(PAIRS).values()
    (tmp_path / "Set.en-pl.en").write_bytes(gzip.compress(english))  # by a browser
    (tmp_path / "Set.en-pl.pl.gz").write_bytes(gzip.compress(polish))
    assert read(tmp_path / given) == (PAIRS, Counter())
    (tmp_path / "Set.en-pl.en").write_bytes(english + b"more\n")
    with pytest.raises(nmt.CorpusError, match=r"-pl.*: one side is longer by 1"):
        nmt.load_pairs(tmp_path / given, "en", "pl")


def test_a_stem_may_end_in_a_language(tmp_path: Path) -> None:
    (tmp_path / "a.en.en").write_text("hello\n")
    (tmp_path / "a.en.fr").write_text("bonjour\n")
    for given in ("a.en", "a.en.en", "a.en.fr"):
        assert read(tmp_path / given, "fr", "en")[0] == [("bonjour", "hello")]
        assert read(tmp_path / given, "en", "fr")[0] == [("hello", "bonjour")]


def test_forms_contexts_and_fuzzy_messages_of_a_catalogue(tmp_path: Path) -> None:
    entries = (
        'msgctxt "menu"\nmsgid ""\n"Open "\n"file\\n"\nmsgstr "Otwórz\\tplik"\n\n'
        '#, python-format\nmsgid "%d file"\nmsgid_plural "%d files"\n'
        'msgstr[0] "%d plik"\nmsgstr[1] "%d pliki"\nmsgstr[2] "%d plików"\n\n'
        '#, fuzzy\nmsgid "Close"\nmsgstr "Otwórz"\n\n'
        '#~ msgid "old"\n#~ msgstr "stare"\n'
        'msgid "New"\nmsgstr ""\n\n'
    )
    (tmp_path / "a.po").write_bytes(catalogue([]) + entries.encode())
    pairs, lost = read(tmp_path / "a.po")
    assert pairs == [
        ("Open file\n", "Otwórz\tplik"),
        ("%d file", "%d plik"),
        ("%d files", "%d plików"),
        ("New", ""),
    ]
    assert list(lost.values()) == [2] and "fuzzy" in str(lost)
    with pytest.raises(nmt.CorpusError, match="translate from English"):
        read(tmp_path / "a.po", "de", "pl")
    named = catalogue(PAIRS).replace(b"Content", b'Language: pl_PL\\n"\n"Content')
    (tmp_path / "a.po").write_bytes(named)
    read(tmp_path / "a.po", "pl", "en")  # says nothing
    with pytest.warns(UserWarning, match="a.po: its header .* is pl_PL, not cy"):
        read(tmp_path / "a.po", "en", "cy")


FUZZY = '#, fuzzy\n\nmsgid "Close"\nmsgstr "a"\n'  # a flag on a line of its own
LONG = "x" * (pair_files.LONGEST + 1)
COUNTED = {  # content → pairs that are read, and what is lost
    "long.tsv": (f"a\tb\n{LONG}\tc\nd\te\n", 2, {pair_files.TOO_LONG: 1}),
    "wide.tsv": ("a\tb" + "\tc" * 40_000 + "\nd\te\n", 2, {}),
    "one.tsv": (
        "a\tb\nnothing\n\nd\te\n",
        2,
        {"lines without two columns, parted by '\\t'": 1, "empty": 1},
    ),
    "open.csv": ('en,pl\n"a,b\nc,d\ne,f\n', 0, {"quotation marks do not": 3}),
    "sloppy.csv": ('en,pl\na,"b "c" d"\ne,f\n', 1, {"quotation marks do not": 1}),
    "cell.csv": ('en,pl\na,"b\nc"\ne,f\n', 2, {}),
    "swallowed.csv": ('en,pl\na,"b\nc,d"\ne,f\n', 1, {"'b\\nc,d'": 2}),
    "short.csv": ("en,pl\na\n\nb,c\n", 1, {"without two columns": 1, "empty": 1}),
    "odd.jsonl": (
        '{"en": "a", "pl": "b"}\n{"en": 1, "pl": "c"}\n{"en": "d"}\n[1]\n{\n'
        + "[" * 50_000
        + '\n{"en": null, "pl": "e"}\n9\n',
        1,
        {"objects without text": 5, "no JSON": 2},
    ),
    "flag.po": (catalogue(PAIRS).decode() + FUZZY, 6, {"fuzzy": 1}),
    "words.tsv": (
        "Saesneg\tPwyleg\na b\tc d\nSaesneg\tPwyleg\ne\tf\n",
        2,
        {"name columns: Saesneg | Pwyleg": 2},
    ),
    "appended.tsv": (  # to another, with its mark and its line of names
        "en\tpl\na b\tc d\n\ufeffen\tpl\ne f\tg h\n",
        2,
        {"name columns": 1},
    ),
    "odd.tmx": (
        memory([("a\x0b", "b"), ("&#X;", "d")]).decode().replace("&amp;#X", "&#x1F"),
        2,
        {},
    ),
    "twice.tmx": (
        '<tmx><tu><tuv lang="en"><seg>a</seg></tuv><tuv lang="pl"><seg>b</seg></tuv>'
        '<tuv lang="pl"><seg>c</seg></tuv></tu></tmx>',
        1,
        {"further translations": 1},
    ),
    "half.xlf": (
        xliff(PAIRS[:1])
        .decode()
        .replace("</group>", "<trans-unit><source>a</source></trans-unit></group>"),
        1,
        {"without one of the languages": 1},
    ),
    "part.tmx": (
        '<tmx><tu><tuv lang="en"><seg>a</seg></tuv></tu>'
        f'<tu><tuv lang="en"><seg>{LONG}</seg></tuv>'
        '<tuv lang="pl"><seg>b</seg></tuv></tu>'
        '<tu><tuv lang="en_US"><seg>c</seg></tuv><tuv lang="pl"><seg>d</seg></tuv></tu>'
        "</tmx>",
        1,
        {"without one of the languages": 1, "more than 100,000": 1},
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_cannot_be_used_is_counted(name: str, tmp_path: Path) -> None:
    content, n, reasons = COUNTED[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    pairs, lost = read(tmp_path / name)
    assert len(pairs) == n and lost.total() == sum(reasons.values()), lost
    for reason, times in reasons.items():
        assert any(reason in r and lost[r] == times for r in lost), lost


LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9))
REFUSED = {
    "latin.tsv": (
        "a\tb\na\tż\n".encode("iso8859-2"),
        "not UTF-8 .* in line 2: save it as UTF-8",
    ),
    "pairs.doc": (b"a\tb\n", "no known kind of file"),
    "unnamed.csv": (b"Englisch,Polnisch\na,b\n", "seem to be Englisch, Polnisch: name"),
    "prompts.tsv": (b"a\tb\tc\nd e\tf g\th i\n", "seem to be a, b, c: name two"),
    "other.tsv": (b"English\tFrench\na b\tc d\n", "seem to be English, French"),
    "twice.csv": (b"en,pl,en\na,b,c\n", "several columns could be en: en, en"),
    "turned.tsv": (b"en\tpl\na b\tc d\npl\ten\ne f\tg h\n", "columns change places"),
    "keys.json": (b'[{"a": "b", "c": "d"}]', "seem to be a, c: name two of them"),
    "keys.parquet": (parquet(PAIRS, "a", "b"), "seem to be a, b, id: name two"),
    "cut.parquet": (parquet(PAIRS)[:-9], "cannot be read"),
    "bomb.parquet": (stored([{"en": "x" * 20_000_000, "pl": ""}]), "more than 200"),
    "empty.csv": (b"", "it is empty"),
    "pointer.csv": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "laughs.tmx": (
        f'<!DOCTYPE tmx [<!ENTITY a0 "ha">{LAUGHS}]><tmx>&a8;</tmx>'.encode(),
        "declares XML entities",
    ),
    "outside.tmx": (
        b'<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx>&x;</tmx>',
        "declares XML entities",
    ),
    "coded.tmx": (
        f'<!DOCTYPE tmx [<!ENTITY a0 "ha">{LAUGHS}]><tmx>&a8;</tmx>'.encode("utf-16"),
        "declares XML entities",
    ),
    "unknown.tmx": (memory(PAIRS).replace(b"dogs", b"&nbsp;"), "undefined .*&nbsp;"),
    "deep.tmx": (b"<a>" * 5000, "nested more than 100"),
    "tag.tmx": (b'<tmx a="' + b"x" * 5_000_000, "4 MB without"),
    "gbk.tmx": (b"<?xml version='1.0' encoding='gbk'?><tmx/>", "encoding is gbk: save"),
    "cut.tmx": (memory(PAIRS)[:-20], "cannot be read"),
    "no.tmx": (b'<?xml version="1.0" encoding="none"?><tmx/>', "cannot be read"),
    "page.tmx": (b"<html></html>", "is a web page"),
    "none.tmx": (b"<tmx></tmx>", "no <tu>"),
    "bad.po": (b'# c\nmsgid "a"\n?\n', r"cannot be read \(Syntax error .*line 3"),
    "deep.json": (b"[" * 99_999, "cannot be read"),
    "cut.zip": (zipped(moses(PAIRS))[:-30], "cannot be read"),
    "other.zip": (zipped({"a.doc": b""}), "holds no two files that end in .en and .pl"),
    "steering.zip": (zipped({"\x1b]0;\x9b.doc": b""}), r"but .*\\x1b\]0;\\x9b\.doc"),
    "bomb.zip": (zipped({"a.tsv": bytes(60_000_000)}), "unpacks to more than 200"),
    "bomb.tsv.gz": (gzip.compress(bytes(60_000_000)), "unpacks to more than 200 times"),
    "cut.tsv.gz": (gzip.compress(tsv(PAIRS))[:-9], "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_used_says_why_in_one_line(
    name: str, tmp_path: Path
) -> None:
    content, message = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    with (
        little_memory(20_000_000),
        pytest.raises(nmt.CorpusError, match=message) as caught,
    ):
        read(tmp_path / name)
    assert name in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path, why in {
        Path("no.tsv"): re.escape(f"{Path.cwd() / 'no.tsv'}: there is no such file"),
        tmp_path: "is a folder",
        Path("."): "is a folder",
        tmp_path / "a\0.tsv": "no such file|cannot be read",
        Path("\x1b[2J\x9b.tsv"): r"\\x1b\[2J\\x9b\.tsv",  # would steer a terminal
    }.items():
        with pytest.raises(nmt.CorpusError, match=why):
            read(path)


def test_a_line_of_many_megabytes_needs_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    with file.open("wb") as out:
        for _ in range(40):
            out.write(b"x" * 1_000_000)
        out.write(b"\na\tb\n")
    with little_memory(5_000_000):
        assert read(file) == ([("a", "b")], Counter({pair_files.TOO_LONG: 1}))


def test_an_array_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"[" + b" " * 20_000_000)
    with pytest.raises(nmt.CorpusError, match="more than 19 MB"):
        read(file)


DIRT = [b"\0", b'"', b"\t", b"\n", b"\r", b"\xff", b"\xed\xa0\x80", b"<", b"&", b"\\"]
DIRT += [b"]]>", b"\xef\xbf\xbe", "\u2028\x85\ufeff".encode(), b"{" * 99, b'""']


@pytest.mark.parametrize("name", MADE)
def test_damage_is_one_error_or_is_counted(name: str, tmp_path: Path) -> None:
    """No other error, and no pair goes without being counted, in 30 damaged files."""
    draw, file = random.Random(name), tmp_path / name
    for _ in range(30):
        content = bytearray(MADE[name])
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(content))
            what = draw.choice([*DIRT, b"cut", b"bit"])
            if what == b"cut":
                del content[at : at + draw.randrange(1, 60)]
            elif what == b"bit":
                content[at] ^= 1 << draw.randrange(8)
            else:
                content[at:at] = what
        file.write_bytes(bytes(content) or b"\0")
        try:
            pairs, report = nmt.load_pairs(file, "en", "pl")
        except nmt.CorpusError as error:
            assert "\n" not in str(error) and name in str(error)
            continue
        for pair in pairs:
            text = (pair.src + pair.tgt).encode()
            assert pair.src and pair.tgt and b"\0" not in text
        assert len(pairs) + report.left_out.total() >= expected(name, bytes(content))


def expected(name: str, content: bytes) -> int:
    """How many pairs or lines a file holds, counted without reading it."""
    if name.endswith((".gz", ".zip", ".parquet")):
        return 0  # packed, or with offsets
    if name.endswith((".tmx", ".xlf", ".xliff")):
        return len(re.findall(b"<(?:tu|trans-unit|segment)>", content))
    if name.endswith(".po"):
        return content.count(b"\nmsgid ")
    encoding = "utf-16" if name.startswith("excel") else "utf-8"
    lines = content.decode(encoding, "replace").split("\n")
    header = name.endswith(".csv") or name.startswith("named")
    sep = {"a.csv": ",", "semicolons.csv": ";"}.get(name, "")  # in each row
    return sum(sep in line for line in lines if line.strip("\r\ufeff")) - header


def units(content: bytes, size: int) -> Iterator[tuple[str, str]]:
    """The pairs of a TMX file that comes in pieces of this size."""
    pieces = (content[i : i + size] for i in range(0, len(content), size))
    return xml_units.read_units(pieces, ("en", "pl"), Counter())


def test_a_tmx_of_many_units_needs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_units, "WIDEST", 10_000)  # of a unit, not of the file
    content = memory(PAIRS * 500)
    with little_memory(2_000_000):
        assert sum(1 for _ in units(content, 5000)) == 3000


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_tmx_reads_pieces_of_any_size(size: int) -> None:
    assert list(units(memory(PAIRS), size)) == PAIRS
