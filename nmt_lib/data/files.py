"""Files of sentence pairs as people have them: text in columns, CSV, JSON, Parquet,
Moses and zip files of it, TMX, XLIFF, and message catalogues of programs (PO).

``read_pairs`` yields one pair after another. Whatever cannot be used is counted with
its reason; a damaged file is a single ``CorpusError``. Lines, cells and what is
unpacked have a largest size, so a hostile file cannot fill the memory.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import polib

from ..errors import CorpusError, one_line, printable, warn
from .languages import NAMES, find_language
from .xml_units import read_units

LONGEST = 100_000  # characters of a line; a longer one is no sentence
PIECE, PIECES = 2**16, 300  # bytes read at once; most pieces of what is read whole
UNPACKED = 200  # times its size is what a packed file may hold; text needs about 4
SMALL = 10_000_000  # bytes that it may hold in any case
LONE = "lines without a partner"  # at the end of the longer Moses file
TOO_LONG = f"texts of more than {LONGEST:,} characters"
XML = (".tmx", ".xlf", ".xliff")
EXTENSIONS = (".tsv", ".txt", ".csv", ".jsonl", ".json", *XML, ".po")
SIDES = ("src", "source"), ("tgt", "trg", "target")  # names of columns
NO_DATA = {  # what is often downloaded in place of a file
    b"version https://git-lfs": "a Git LFS pointer: `git lfs pull` fetches the file",
    rb"\s*(?i:<!doctype html|<html)": "a web page: download the file itself",
}
UNREADABLE = (
    *(OSError, EOFError, LookupError, RuntimeError, ValueError, SyntaxError),
    *(OverflowError, zlib.error, zipfile.BadZipFile),
)

Pairs = Iterator[tuple[str, str]]
Lines = Iterator["str | None"]  # None: TOO_LONG


def read_pairs(
    path: str | os.PathLike[str],
    src: str,
    tgt: str,
    lost: Counter[str],
    columns: list[str] | None = None,
) -> Pairs:
    """The sentence pairs of a file, (text in ``src``, text in ``tgt``), not cleaned.

    - ``.tsv`` and ``.txt``: source TAB target (TAB anything), as from ManyThings, or
      with numbers before them, as from Tatoeba; or columns that a first line names.
      Quotation marks are ordinary characters.
    - ``.csv``, ``.jsonl`` with one object on each line, ``.json`` with an array of
      them, and ``.parquet``: columns with names, or one with the name ``translation``
      that holds two.
    - ``name.en`` and ``name.pl`` (Moses), given as either of them, or as ``name``. If
      one is longer, ``mend`` looks for the place where the other lost lines.
    - ``.tmx``, ``.xlf`` and ``.xliff``.
    - ``.po``, which translates from English.
    - ``.zip`` with two Moses files, as from OPUS, or with one file of another kind,
      but not ``.parquet``.

    Each but ``.zip`` and ``.parquet`` may end in ``.gz`` as well. A column is named by
    its language (*pl*, *pl_PL*, *Polish*) or its side (*src*, *source*; *tgt*, *trg*,
    *target*). Where there is no *en-US*, *en* stands for it, and the other way round.

    Args:
        path: the file.
        src: the source language, such as *en*.
        tgt: the target language.
        lost: to count what cannot be used, by its reason.
        columns: to name the two columns that are read, or to give their numbers.

    Raises:
        CorpusError: there is no such file, its kind is unknown, it is damaged or not
            UTF-8, or it lacks one of the languages.
    """
    path, langs = Path(os.path.expanduser(path)).absolute(), (src, tgt)
    try:
        with ExitStack() as stack:
            files = moses_files(path, langs)
            if path.is_dir() and not files:
                raise CorpusError("it is a folder: give a file in it")
            if not files and not path.is_file():
                raise CorpusError(
                    f"there is no such file, nor two that end in .{src} and .{tgt}"
                )
            for file in files or [path]:
                check_content(file)
            kind = "" if files else path.suffix.lower()
            if kind == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                members = _members(archive, langs)
                parts = {
                    member.filename: _unpacked(archive, member) for member in members
                }
            else:
                parts = {file.name: _chunks(file) for file in files or [path]}
            columns = [] if columns is None else columns
            if kind == ".parquet":
                pairs = _objects(_parquet(path, langs), langs, lost, columns)
            else:
                pairs = _pairs(parts, langs, lost, columns)
            for texts in pairs:
                longest = max(map(len, texts))
                if longest > LONGEST:
                    lost[TOO_LONG] += 1
                elif longest < 30 and names_columns(texts, langs):
                    lost[_titles(texts)] += 1
                else:
                    yield texts
    except CorpusError as error:
        raise CorpusError(printable(f"{path}: {error}")) from None
    except UNREADABLE as error:
        why = one_line(error, 200) or "it is cut off"
        raise CorpusError(f"{printable(path)}: cannot be read ({why})") from None


def check_content(file: Path) -> None:
    """Raises a CorpusError for what is often downloaded in place of a file."""
    with file.open("rb") as opened:
        head = opened.read(100)
    for beginning, what in NO_DATA.items():
        if re.match(beginning, head):
            raise CorpusError(f"{file.name} is {what}")


def moses_files(path: Path, langs: tuple[str, str]) -> list[Path]:
    """Two Moses files of which ``path`` is one, or the stem; else an empty list."""
    path = path.absolute()  # "." has no name
    name = path.name.removesuffix(".gz")
    for stem in (name.removesuffix(f".{lang}") for lang in langs):
        files = []
        for lang in langs:
            plain = path.with_name(f"{stem}.{lang}")
            candidates = plain, plain.with_name(plain.name + ".gz")
            files += [file for file in candidates if file.is_file()][:1]
        if len(files) == 2:
            return files
    return []


def _pairs(
    parts: dict[str, Iterator[bytes]],
    langs: tuple[str, str],
    lost: Counter[str],
    columns: list[str],
) -> Pairs:
    """The pairs of two Moses files, or of one file by its extension."""
    if len(parts) == 2:
        sources, targets = (_lines(parts[name], f" of {name}") for name in parts)
        return _moses(sources, targets, lost)
    [(name, chunks)] = parts.items()
    kind = Path(name.lower().removesuffix(".gz")).suffix
    if kind in (".tsv", ".txt", ".csv"):
        return _table(_lines(chunks), kind == ".csv", langs, lost, columns)
    if kind in (".jsonl", ".json"):
        return _objects(_json(chunks, lost), langs, lost, columns)
    if kind in XML:
        return read_units(chunks, langs, lost)
    if kind == ".po":
        entries = _po(_lines(chunks), lost)
        other = langs[langs[0].startswith("en")]
        header = one_line(entries.metadata.get("Language") or other, 40)
        if not find_language(other, (header.replace("@", "-"),)):
            warn(f"{name}: its header says that it is {header}, not {other}")
        if langs[1].startswith("en"):
            return ((b, a) for a, b in messages(entries, lost))
        if langs[0].startswith("en"):
            return messages(entries, lost)
        raise CorpusError("catalogues translate from English: one language must be en")
    raise CorpusError(
        f"no known kind of file: it must end in {', '.join(EXTENSIONS)}, .parquet "
        f"or .zip, or be one of two files that end in .{langs[0]} and .{langs[1]}"
    )


def _chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked, whatever its name says."""
    with path.open("rb") as file:
        opened: Any = gzip.open if file.read(2) == b"\x1f\x8b" else open
    with opened(path, "rb") as file:
        yield from _bounded(file, path.stat().st_size)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CorpusError(f"{member.filename} is packed in an unusual way: unzip it")
    with archive.open(member) as file:
        yield from _bounded(file, member.compress_size)


def _bounded(file: Any, size: int) -> Iterator[bytes]:
    unpacked = 0
    while chunk := file.read(PIECE):
        unpacked += len(chunk)
        _check_size(unpacked, size)
        yield chunk


def _check_size(unpacked: int, size: int) -> None:
    if unpacked > UNPACKED * size + SMALL:
        raise CorpusError(
            f"it unpacks to more than {UNPACKED} times its size, which no text does"
        )


def _members(archive: zipfile.ZipFile, langs: tuple[str, str]) -> list[zipfile.ZipInfo]:
    """The two Moses files of an archive, or its only file of another kind."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    moses = [
        [
            member
            for member in members
            if member.filename.lower().endswith(f".{lang.lower()}")
        ]
        for lang in langs
    ]
    if all(len(matches) == 1 for matches in moses):
        return [moses[0][0], moses[1][0]]
    candidates = [
        member
        for member in members
        if member.filename.lower().endswith(EXTENSIONS)
        and Path(member.filename).name[0] not in "_."
    ]
    if len(candidates) == 1:
        return candidates
    names = ", ".join(member.filename for member in members[:8])
    raise CorpusError(
        f"it holds no two files that end in .{langs[0]} and .{langs[1]}, nor a single "
        f"file of pairs, but {names or 'nothing'}"
    )


def _lines(chunks: Iterator[bytes], where: str = "") -> Lines:
    """Lines of UTF-8, or of UTF-16 with a mark. Only line feeds end them, or carriage
    returns in a file that begins without a line feed."""
    head = next(chunks, b"")
    end = "\r" if b"\r" in head and b"\n" not in head else "\n"
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-8-sig"
    rest, too_long, n = "", False, 0
    try:
        for text in codecs.iterdecode(chain([head], chunks), encoding):
            *complete, rest = (rest + text).split(end)
            for line in complete:
                line = line.removeprefix("\ufeff")  # of a file that was appended
                yield None if too_long or len(line) > LONGEST else line
                too_long, n = False, n + 1
            if len(rest) > LONGEST:
                rest, too_long = "", True
    except UnicodeDecodeError as error:
        n += 1 + error.object[: error.start].count(b"\n")
        raise CorpusError(
            f"not UTF-8 ({error.reason}) in line {n}{where}: save it as UTF-8"
        ) from None
    if rest or too_long:
        yield None if too_long else rest


def _within(lines: Lines, lost: Counter[str]) -> Iterator[str]:
    for line in lines:
        if line is None:
            lost[TOO_LONG] += 1
        else:
            yield line.removesuffix("\r")


def _moses(sources: Lines, targets: Lines, lost: Counter[str]) -> Pairs:
    end: Any = object()
    for source, target in zip_longest(sources, targets, fillvalue=end):
        if source is None or target is None:
            lost[TOO_LONG] += 1
            continue
        src, tgt = ("" if t is end else t.removesuffix("\r") for t in (source, target))
        if end in (source, target) and (src or tgt):
            lost[LONE] += 1
        yield src, tgt


def find_columns(titles: tuple[str, ...], langs: tuple[str, str]) -> list[int]:
    """Where the source and the target are, as far as the titles say so."""
    where = []
    for lang, names in zip(langs, SIDES, strict=True):
        found = find_language(lang, titles, *names)
        if len(found) > 1:
            several = one_line(", ".join(titles[i] for i in found), 100)
            raise CorpusError(f"several columns could be {lang}: {several}")
        where += found
    return where


def names_columns(texts: tuple[str, str], langs: tuple[str, str]) -> bool:
    """Whether a pair is a line of names, as where two files were put together."""
    if not texts[0].casefold().lstrip(" '\"").startswith(_starts(langs)):
        return False  # at once, for the sake of long lists of words
    where = [
        find_language(lang, texts, *names)
        for lang, names in zip(langs, SIDES, strict=True)
    ]
    if where == [[1], [0]]:
        raise CorpusError("its columns change places where a line names them again")
    return where == [[0], [1]]


@lru_cache
def _starts(langs: tuple[str, str]) -> tuple[str, ...]:
    """How a name of either column may begin."""
    codes = [lang[:2].casefold() for lang in langs]
    names = [name for code in codes for name in NAMES.get(code, ())]
    return (*codes, *names, *chain(*SIDES))


def _titles(cells: Iterable[str]) -> str:
    """Why a line of names is left out."""
    return f"lines that name columns: {one_line(' | '.join(cells), 60)}"


def _unnamed(titles: Iterable[str], langs: tuple[str, str]) -> CorpusError:
    names = one_line(", ".join(titles), 100) or "unreadable"
    return CorpusError(
        f"its columns seem to be {names}: name two of them {langs[0]} and {langs[1]}"
    )


def _table(
    lines: Lines,
    quoted: bool,
    langs: tuple[str, str],
    lost: Counter[str],
    columns: list[str],
) -> Pairs:
    """CSV, where cells are ``quoted`` and a first line has names; or plain text.

    Of plain text without names, the first two columns that are not numbers are taken.
    """
    texts, sep = _within(lines, lost), "" if quoted else "\t"
    for head in texts:
        if declared := re.fullmatch("sep=(.)", head):
            sep = declared[1]
        elif head.strip():
            break
        else:
            lost["empty"] += 1
    else:
        raise CorpusError("it is empty")
    sep, texts = sep or max(",;\t", key=head.count), chain([head], texts)
    rows = _quoted(texts, sep, lost) if quoted else (t.split(sep, 100) for t in texts)
    titles = next(rows, [])
    where = find_columns(tuple(titles), langs)
    columns += [titles[i] for i in where]
    named = len(where) == 2
    if not named:
        # Names are words without spaces, unlike all of the next line.
        first = [titles, *islice(rows, 1)]
        words = [all(re.fullmatch(r"[^\W\d][\w-]*", c) for c in row) for row in first]
        named = words[0] and not words[-1]
        if quoted or (named and (where or len(titles) > 2)):
            raise _unnamed(titles, langs)
        sample = enumerate(zip(*first[named:], strict=False))
        where = [i for i, cell in sample if not all(map(str.isdecimal, cell))][:2]
        where = where if len(where) == 2 else [0, 1]
        columns[:] = [str(i + 1) for i in where]
        rows = chain(first, rows)
    for cells in rows:
        if named and cells == titles:  # where two files were put together, again
            lost[_titles(cells)] += 1
        elif len(cells) > max(where):
            yield cells[where[0]], cells[where[1]]
        else:
            few = any(map(str.strip, cells))
            lost[
                f"lines without two columns, parted by {sep!r}" if few else "empty"
            ] += 1


def _quoted(texts: Iterator[str], sep: str, lost: Counter[str]) -> Iterator[list[str]]:
    """The rows of CSV."""
    lines = (text + "\n" for text in texts)
    rows, n_read = csv.reader(lines, delimiter=sep, strict=True), 0
    example = ""
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            lost["lines whose quotation marks do not match"] += rows.line_num - n_read
            n_read = rows.line_num
            continue
        n, n_read = rows.line_num - n_read, rows.line_num
        # What could be a row may follow a quotation mark that was never closed.
        if any(sep in line for cell in cells for line in cell.split("\n")[1:]):
            example = example or one_line(cells, 60)
            lost[f"lines that may be part of one cell, as in {example}"] += n
        else:
            yield cells


def _parquet(path: Path, langs: tuple[str, str]) -> Iterator[Any]:
    """The rows of a Parquet file, with the columns that are needed."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    size, unpacked = path.stat().st_size, 0
    try:
        with ParquetFile(path) as file:
            titles = tuple(file.schema_arrow.names)
            names = [titles[i] for i in find_columns(titles, langs)]
            if len(names) < 2:
                names = [title for title in titles if title == "translation"]
            if not names:
                raise _unnamed(titles, langs)
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            _check_size(sum(g.total_byte_size + 10 * g.num_rows for g in groups), size)
            for batch in file.iter_batches(100, columns=names):
                unpacked += batch.nbytes
                _check_size(unpacked, size)
                yield from batch.to_pylist()
    except ArrowException as error:
        raise CorpusError(f"cannot be read ({one_line(error, 200)})") from None


def _json(chunks: Iterator[bytes], lost: Counter[str]) -> Iterator[Any]:
    """The JSON values of all lines, or of a single array."""
    head = next(chunks, b"")
    chunks = chain([head], chunks)
    if re.match(rb"[^\w{]*\[", head):
        whole = b"".join(islice(chunks, PIECES))
        if next(chunks, b""):
            raise CorpusError(
                f"more than {PIECES * PIECE // 10**6} MB, which would be read at once: "
                "of JSON, write one object on each line"
            )
        yield from json.loads(whole)
        return
    for line in _within(_lines(chunks), lost):
        try:
            if line.strip():
                yield json.loads(line)
            else:
                lost["empty"] += 1
        except (ValueError, RecursionError):
            lost["lines that are no JSON"] += 1


def _objects(
    rows: Iterator[Any],
    langs: tuple[str, str],
    lost: Counter[str],
    columns: list[str],
) -> Pairs:
    unnamed: tuple[str, ...] = ()
    for row in rows:
        row = row.get("translation", row) if isinstance(row, dict) else row
        titles = tuple(row) if isinstance(row, dict) else ()
        names = [titles[i] for i in find_columns(titles, langs)]
        texts = [row[name] for name in names]
        if len(names) == 2 and all(isinstance(text, str) for text in texts):
            columns[:] = names
            yield texts[0], texts[1]
        else:
            unnamed = unnamed or titles[: 100 * (len(names) < 2)]
            lost[f"objects without text under {langs[0]} and {langs[1]}"] += 1
    if unnamed and not columns:
        raise _unnamed(unnamed, langs)


def messages(entries: Iterable[Any], lost: Counter[str]) -> Pairs:
    """The messages of a catalogue, in English, with their translations.

    A message about numbers has two English forms, and as many in the other language as
    it has: the first English one goes with the first of them, the second with the last.
    """
    for entry in entries:
        if entry.obsolete or "fuzzy" in entry.flags:
            lost["messages that are obsolete or marked as fuzzy"] += 1
            continue
        forms = list(entry.msgstr_plural.values()) or [entry.msgstr]
        yield entry.msgid, forms[0]
        if entry.msgid_plural:
            yield entry.msgid_plural, forms[-1]


def _po(lines: Lines, lost: Counter[str]) -> Any:
    """The messages of a PO file, but its header."""
    # polib ends lines at other characters, too, and joins comments slowly.
    texts = [" ".join(line.splitlines()).strip() for line in _within(lines, lost)]
    return polib.pofile(
        "\n".join("" if re.match("#(?![,~])", text) else text for text in texts)
    )
