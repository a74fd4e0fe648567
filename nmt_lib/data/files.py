"""Files of sentence pairs as people have them: text in columns, CSV, JSON lines, Moses
and zip files of it, TMX, and the message catalogues of programs (PO and MO).

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
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import polib

from ..errors import CorpusError, one_line
from .tmx import read_tmx

LONGEST = 100_000  # characters of a line; a longer one is no sentence
PIECE, PIECES = 2**16, 300  # bytes read at once; most pieces of what is read whole
UNPACKED = 200  # times its size is what a packed file may hold; text needs about 4
SMALL = 10_000_000  # bytes that it may hold in any case
TOO_LONG = f"texts of more than {LONGEST:,} characters"
EXTENSIONS = (".tsv", ".txt", ".csv", ".jsonl", ".json", ".tmx", ".po", ".mo")
UNREADABLE = (
    *(OSError, EOFError, LookupError, RuntimeError, ValueError, SyntaxError),
    *(OverflowError, struct.error, zlib.error, zipfile.BadZipFile),
)

Pairs = Iterator[tuple[str, str]]
Lines = Iterator["str | None"]  # None: TOO_LONG


def read_pairs(
    path: str | os.PathLike[str], src: str, tgt: str, lost: Counter[str]
) -> Pairs:
    """The sentence pairs of a file, (text in ``src``, text in ``tgt``), not cleaned.

    - ``.tsv`` and ``.txt``: source TAB target (TAB anything), as from ManyThings;
      number TAB source TAB number TAB target, as from Tatoeba; or columns that a first
      line names by their languages. Quotation marks are ordinary characters.
    - ``.csv``, and ``.jsonl`` with one object on each line, or ``.json`` with an array
      of them: columns named by their languages.
    - ``name.en`` and ``name.pl`` (Moses), given as either of them, or as ``name``.
    - ``.tmx``, and ``.po`` and ``.mo``, which translate from English.
    - ``.zip`` with two Moses files, as from OPUS, or with one file of another kind.

    Each but ``.zip`` may end in ``.gz`` as well.

    Args:
        path: the file.
        src: the source language, as the file names it.
        tgt: the target language.
        lost: to count what cannot be used, by its reason.

    Raises:
        CorpusError: there is no such file, its kind is unknown, it is damaged or not
            UTF-8, or it lacks one of the languages.
    """
    path, langs = Path(os.path.expanduser(path)), (src, tgt)
    try:
        with ExitStack() as stack:
            files = moses_files(path, langs)
            if not files and not path.is_file():
                raise CorpusError("there is no such file")
            if not files and path.suffix.lower() == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                members = _members(archive, langs)
                parts = {
                    member.filename: _unpacked(archive, member) for member in members
                }
            else:
                parts = {file.name: _chunks(file) for file in files or [path]}
            for texts in _pairs(parts, langs, lost):
                if max(map(len, texts)) > LONGEST:
                    lost[TOO_LONG] += 1
                else:
                    yield texts
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}") from None
    except UNREADABLE as error:
        why = one_line(error, 200) or "it is cut off"
        raise CorpusError(f"{path}: cannot be read ({why})") from None


def moses_files(path: Path, langs: tuple[str, str]) -> list[Path]:
    """Two Moses files of which ``path`` is one, or the stem; else an empty list."""
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
    parts: dict[str, Iterator[bytes]], langs: tuple[str, str], lost: Counter[str]
) -> Pairs:
    """The pairs of two Moses files, or of one file by its extension."""
    if len(parts) == 2:
        sources, targets = map(_lines, parts.values())
        return _moses(sources, targets, lost)
    [(name, chunks)] = parts.items()
    kind = Path(name.lower().removesuffix(".gz")).suffix
    if kind in (".tsv", ".txt"):
        return _columns(_lines(chunks), langs, lost)
    if kind == ".csv":
        return _csv(_lines(chunks), langs, lost)
    if kind in (".jsonl", ".json"):
        return _objects(_json(chunks, lost), langs, lost)
    if kind == ".tmx":
        return read_tmx(chunks, langs, lost)
    if kind in (".po", ".mo"):
        entries = _po(_lines(chunks), lost) if kind == ".po" else _mo(_whole(chunks))
        if langs[1].startswith("en"):
            return ((b, a) for a, b in _messages(entries, lost))
        if langs[0].startswith("en"):
            return _messages(entries, lost)
        raise CorpusError("catalogues translate from English: one language must be en")
    raise CorpusError(
        f"no known kind of file: it must end in {', '.join(EXTENSIONS)} or .zip, or be "
        f"one of two files that end in .{langs[0]} and .{langs[1]}"
    )


def _chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked."""
    size = path.stat().st_size
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as file:
        yield from _bounded(file, size)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CorpusError(f"{member.filename} is packed in an unusual way: unzip it")
    with archive.open(member) as file:
        yield from _bounded(file, member.compress_size)


def _bounded(file: Any, size: int) -> Iterator[bytes]:
    room = UNPACKED * size + SMALL
    while chunk := file.read(PIECE):
        room -= len(chunk)
        if room < 0:
            raise CorpusError(
                f"it unpacks to more than {UNPACKED} times its size, which no text does"
            )
        yield chunk


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


def _lines(chunks: Iterator[bytes]) -> Lines:
    """Lines of UTF-8, or of UTF-16 with a mark; only line feeds end a line."""
    head = next(chunks, b"")
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-8-sig"
    rest, too_long, n = "", False, 0
    try:
        for text in codecs.iterdecode(chain([head], chunks), encoding):
            *complete, rest = (rest + text).split("\n")
            for line in complete:
                yield None if too_long or len(line) > LONGEST else line
                too_long, n = False, n + 1
            if len(rest) > LONGEST:
                rest, too_long = "", True
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"not UTF-8 ({error.reason}), somewhere from line {n + 1} on: save it as "
            "UTF-8"
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
    n_src = n_tgt = 0
    for source, target in zip_longest(sources, targets, fillvalue=end):
        n_src, n_tgt = n_src + (source is not end), n_tgt + (target is not end)
        if source is None or target is None:
            lost[TOO_LONG] += 1
        elif n_src == n_tgt:
            yield source.removesuffix("\r"), target.removesuffix("\r")
    if n_src != n_tgt:
        raise CorpusError(
            f"one side has {n_src} lines, the other {n_tgt}: line n of one must "
            "translate line n of the other"
        )


def _find_columns(names: Iterable[str], langs: tuple[str, str]) -> list[int]:
    """The indices of both languages' columns; empty if a name is missing."""
    titles = [name.strip().lower() for name in names]
    codes = [lang.lower() for lang in langs]
    return list(map(titles.index, codes)) if {*codes} <= {*titles} else []


def _columns(lines: Lines, langs: tuple[str, str], lost: Counter[str]) -> Pairs:
    where: list[int] = []
    for line in _within(lines, lost):
        cells = line.split("\t", 100)
        if not where:
            if where := _find_columns(cells, langs):
                continue
            tatoeba = cells[0].isdecimal() and len(cells) == 4 and cells[2].isdecimal()
            where = [1, 3] if tatoeba else [0, 1]
        if len(cells) > max(where):
            yield cells[where[0]], cells[where[1]]
        else:
            lost["lines of too few columns" if line.strip() else "empty"] += 1


def _csv(lines: Lines, langs: tuple[str, str], lost: Counter[str]) -> Pairs:
    texts = (line + "\n" for line in _within(lines, lost))
    header = next(texts, "")
    for delimiter in (",", ";", "\t"):
        names = header.strip().replace('"', "").split(delimiter)
        if where := _find_columns(names, langs):
            break
    else:
        raise CorpusError(
            f"its first line names no columns {langs[0]} and {langs[1]}, but "
            f"{header.strip()[:80]!r}: name them so"
        )
    rows, n_read = csv.reader(texts, delimiter=delimiter, strict=True), 0
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            cells = []
            lost["lines whose quotation marks do not match"] += rows.line_num - n_read
            n_read = rows.line_num
            continue
        n, n_read = rows.line_num - n_read, rows.line_num
        if n > 1:
            lost["lines of cells that run over several lines"] += n
        elif len(cells) > max(where):
            yield cells[where[0]], cells[where[1]]
        else:
            lost["lines of too few columns" if cells else "empty"] += 1


def _json(chunks: Iterator[bytes], lost: Counter[str]) -> Iterator[Any]:
    """The JSON values of all lines, or of a single array."""
    head = next(chunks, b"")
    chunks = chain([head], chunks)
    if re.match(rb"[^\w{]*\[", head):
        yield from json.loads(_whole(chunks))
        return
    for line in _within(_lines(chunks), lost):
        try:
            if line.strip():
                yield json.loads(line)
            else:
                lost["empty"] += 1
        except (ValueError, RecursionError):
            lost["lines that are no JSON"] += 1


def _objects(rows: Iterator[Any], langs: tuple[str, str], lost: Counter[str]) -> Pairs:
    for row in rows:
        row = row.get("translation", row) if isinstance(row, dict) else {}
        src, tgt = map(row.get, langs) if isinstance(row, dict) else (None, None)
        if isinstance(src, str) and isinstance(tgt, str):
            yield src, tgt
        else:
            lost[f"objects without text under {langs[0]} and {langs[1]}"] += 1


def _messages(entries: Iterable[Any], lost: Counter[str]) -> Pairs:
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


def _po(lines: Lines, lost: Counter[str]) -> Iterator[Any]:
    """The messages of a PO file, one by one: polib is slow with long texts."""
    block = ""
    for line in chain(lines, [""]):
        # polib ends lines at other characters, too, and joins comments slowly.
        line = "?" if line is None else " ".join(line.splitlines()).strip()
        if line[:1] != "#" or line[1:2] in ",~":
            block += line + "\n"
        if len(block) > LONGEST:
            raise CorpusError(f"no empty line in {LONGEST:,} characters: it is no PO")
        if not line:
            try:
                entries = polib.pofile(block, encoding="utf-8")
                if "msgid " in block and not entries and not entries.metadata:
                    raise OSError("neither a message nor a header")
                yield from entries
            except OSError:
                lost["messages that are no PO"] += max(1, block.count("msgid "))
            block = ""


def _mo(data: bytes) -> Iterable[Any]:
    """The messages of an MO file; with texts that overlap, they could be gigabytes."""
    order = "<" if data.startswith(b"\xde") else ">"
    n, *tables = struct.unpack_from(f"{order}3I", data, 8)
    room = 2 * len(data)
    for table in tables:
        rows = data[table : table + 8 * n]
        for size, start in struct.iter_unpack(f"{order}2I", rows):
            room -= size
            if room < 0 or start + size > len(data):
                raise CorpusError("it is damaged: a message lies outside the file")
    return polib.mofile(data, encoding="utf-8")


def _whole(chunks: Iterator[bytes]) -> bytes:
    data = b"".join(islice(chunks, PIECES))
    if next(chunks, b""):
        raise CorpusError(
            f"more than {PIECES * PIECE // 10**6} MB, which would be read at once: of "
            "JSON, write one object on each line"
        )
    return data
