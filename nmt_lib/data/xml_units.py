"""TMX 1.4 and XLIFF 1.2 and 2, the XML that translation programs exchange."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element, XMLPullParser

from ..errors import CorpusError, one_line
from .languages import find_language

UNITS = {"tu", "trans-unit", "segment"}  # of TMX, XLIFF 1.2 and XLIFF 2
WIDEST = 4_000_000  # characters without the end of a unit
DEEPEST = 100  # elements in each other
FORMATTING = {"bpt", "ept", "ph", "it", "ut"}  # what is inside is no text
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
SIDES = {  # attributes of XLIFF → element whose language they give
    "source-language": "source",
    "srcLang": "source",
    "target-language": "target",
    "trgLang": "target",
}
# What XML forbids, and characters that are written by their numbers.
ODD = re.compile(
    "[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|&#(?:[0-9]+|x[0-9a-fA-F]+);"
)


def read_units(
    chunks: Iterator[bytes], langs: tuple[str, str], lost: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of a TMX or XLIFF file, which comes in pieces of some kilobytes.

    Characters that XML forbids, and bytes that are not of the file's encoding, become
    U+FFFD, which ``clean`` calls damaged.

    Raises:
        CorpusError: entities are declared, no unit has both languages, or 4 MB end
            none.
        SyntaxError: it is no XML.
    """
    n, unit, seen = 0, None, set[str]()
    for unit, sides in _units(chunks):
        texts = [
            (child.get(XML_LANG) or child.get("lang") or sides.get(child.tag, ""), text)
            for child in unit
            for text in (child.findall("seg") or [child][: child.tag in SIDES.values()])
        ]
        codes = tuple(code for code, _ in texts)
        found = [find_language(lang, codes) for lang in langs]
        if all(found):
            n += 1
            src, tgt = (_text(texts[where[0]][1]) for where in found)
            yield src, tgt
            if more := sum(map(len, found)) - 2:
                lost["further translations in a unit"] += more
        else:
            seen |= {*codes[: 9 - len(seen)]}
            lost["units without one of the languages"] += 1
    if unit is None:
        raise CorpusError(
            "it has no <tu>, <trans-unit> or <segment>, so it is no TMX or XLIFF"
        )
    if not n:
        names = (
            one_line(", ".join(sorted(filter(None, seen))), 100) or "no language at all"
        )
        raise CorpusError(f"it has no unit in {langs[0]} and {langs[1]}, but {names}")


def _text(element: Element) -> str:
    for inner in list(element.iter()):
        if inner.tag in FORMATTING:
            inner[:], inner.text = [], ""
    return "".join(element.itertext())


def _units(chunks: Iterator[bytes]) -> Iterator[tuple[Element, dict[str, str]]]:
    """Each unit, and the languages of its <source> and <target>.

    Elements are freed once they are read, and names have no namespace. Entities may not
    be declared, since a few nested ones can stand for gigabytes.
    """
    parser: Any = XMLPullParser(("start", "end"))
    path: list[Element] = []  # what is open
    units = size = 0  # open units; characters since one of them was closed
    for text in chain(_allowed(chunks), [None]):
        if text is None:
            parser.close()
        elif "<!ENTITY" in text:
            raise CorpusError("it declares XML entities, which can stand for gigabytes")
        elif (size := size + len(text)) > WIDEST:
            raise CorpusError("4 MB without the end of a unit: it is no TMX or XLIFF")
        else:
            parser.feed(text)
        for event, element in parser.read_events():
            if event == "start":
                path.append(element)
                if len(path) > DEEPEST:
                    raise CorpusError(f"it is nested more than {DEEPEST} deep")
                element.tag = element.tag.rpartition("}")[2]
                units += element.tag in UNITS
                continue
            path.pop()
            if element.tag in UNITS:
                units, size = units - 1, 0
                given = (pair for outer in path for pair in outer.items())
                yield element, {SIDES[k]: code for k, code in given if k in SIDES}
            if path and not units:
                del path[-1][:]


def _allowed(chunks: Iterator[bytes]) -> Iterator[str]:
    """The text of an XML file; no piece ends within a number or the word <!ENTITY."""
    head = next(chunks, b"")
    declared = re.match(rb"<\?xml[^>]*encoding=[\"']([\w.-]+)", head)
    encoding = declared[1].decode() if declared else "utf-8"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif "utf" in encoding.lower():
        encoding = "utf-8-sig"
    elif len(bytes(range(256)).decode(encoding, "replace")) != 256:
        raise CorpusError(f"its encoding is {encoding}: save it as UTF-8")
    rest = ""
    for piece in codecs.iterdecode(chain([head], chunks), encoding, "replace"):
        text = rest + piece
        cut = max(text.rfind("&", -12), text.rfind("<", -12))
        text, rest = (text, "") if cut < 0 else (text[:cut], text[cut:])
        yield ODD.sub(_mended, text)
    yield ODD.sub(_mended, rest)


def _mended(match: re.Match[str]) -> str:
    character = unescape(match[0])
    return "\ufffd" if character in "\ufffd" or ODD.match(character) else match[0]
