"""Message catalogues of programs: gettext's PO files and their binary form, MO.

Both give (message in English, translation). A message about numbers has two English
forms, and as many in the other language as it has: the first English form goes with the
first of them, the second with the last.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator

from ..errors import CorpusError

LONGEST = 100_000  # characters of a text
LARGEST = 100_000_000  # bytes of an MO file
FIELD = re.compile(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)\s*"(.*)"\s*$')
MORE = re.compile(r'\s*"(.*)"\s*$')
ESCAPED = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
MAGIC = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}


def read_po(
    lines: Iterator[str | None], lost: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The translated messages of a PO file; None is a line that is too long."""
    header = True
    for entry in _entries(lines, lost):
        fields = {k: ESCAPED.sub(_unescaped, text) for k, text in entry.items()}
        ids = [fields[k] for k in ("msgid", "msgid_plural") if k in fields]
        forms = [text for k, text in fields.items() if k.startswith("msgstr")]
        if header and ids == [""]:
            header = False
        elif "fuzzy" in entry:
            lost["messages that are marked as fuzzy"] += 1
        elif not ids or not forms:
            lost["messages without msgid or msgstr"] += 1
        else:
            yield from _pairs(ids, forms)


def _entries(
    lines: Iterator[str | None], lost: Counter[str]
) -> Iterator[dict[str, str]]:
    """The fields of each message, still escaped."""
    entry: dict[str, str] = {}
    field, size = "", 0
    for line in lines:
        line = "?" if line is None else line.strip()
        found = FIELD.match(line)
        starts = found and found[1] in ("msgctxt", "msgid") and "msgid" in entry
        if starts or (line.startswith("#") and field.startswith("msgstr")):
            yield entry
            entry, field = {}, ""
        if found:
            field, entry[found[1]] = found.groups()
            size = len(found[2])
        elif field and (more := MORE.match(line)):
            size += len(more[1])
            entry[field] = entry[field] + more[1] if size <= LONGEST else "\0"
        elif line.startswith("#~ msgid "):
            lost["messages that are obsolete"] += 1
        elif line.startswith("#,") and "fuzzy" in line:
            entry["fuzzy"] = ""
        elif line and not line.startswith("#"):
            lost["lines that are no PO"] += 1
    if entry:
        yield entry


def _unescaped(found: re.Match[str]) -> str:
    return ESCAPES.get(found[1], found[1])


def _pairs(ids: list[str], forms: list[str]) -> Iterator[tuple[str, str]]:
    yield ids[0], forms[0]
    if len(ids) > 1:
        yield ids[1], forms[-1]


def read_mo(chunks: Iterator[bytes], lost: Counter[str]) -> Iterator[tuple[str, str]]:
    """The messages of an MO file, which holds no fuzzy ones.

    Raises:
        CorpusError: it is damaged, or much larger than any catalogue.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > LARGEST:
            raise CorpusError(f"more than {LARGEST:,} bytes: it is no catalogue")
    order = MAGIC.get(bytes(data[:4]))
    if not order:
        raise CorpusError("it does not begin as an MO file does")
    left = 2 * len(data)  # entries that overlap could stand for gigabytes
    n, *tables = struct.unpack_from(f"{order}3I", data, 8)
    for i in range(n):
        texts = []
        for table in tables:
            size, start = struct.unpack_from(f"{order}2I", data, table + 8 * i)
            left -= size
            texts.append(data[start : start + size])
            if left < 0 or len(texts[-1]) < size:
                raise CorpusError("it is damaged: a message lies outside the file")
        try:
            message, translation = (text.decode() for text in texts)
        except UnicodeDecodeError:
            lost["messages that are not UTF-8"] += 1
            continue
        if message:  # else it is the header
            ids = message.rpartition("\x04")[2].split("\0")  # without the context
            yield from _pairs(ids, translation.split("\0"))
