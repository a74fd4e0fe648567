"""TMX, the XML that translation memories are exchanged in (LISA, TMX 1.4b)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element, XMLPullParser

from ..errors import CorpusError

WIDEST = 2**20  # bytes of a <tu>, or of what is between two
FORMATTING = {"bpt", "ept", "ph", "it", "ut"}  # what is inside is no text
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_tmx(
    chunks: Iterator[bytes], langs: tuple[str, str], lost: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of a TMX file, which comes in pieces of some kilobytes.

    Raises:
        CorpusError: entities are declared, or a megabyte has no <tu>.
        SyntaxError: it is no XML.
    """
    unit = None
    for unit in _units(chunks):
        texts: dict[str, str] = {}
        for variant in unit.findall("tuv"):
            code = _prefix(variant.get(XML_LANG) or variant.get("lang") or "")
            for segment in variant.findall("seg"):
                texts.setdefault(code, _text(segment))
        # ``en`` finds ``en-GB``, too, but ``en`` first.
        codes = (
            min((c for c in texts if c.startswith(_prefix(lang))), key=len, default="")
            for lang in langs
        )
        src, tgt = map(texts.get, codes)
        if src is None or tgt is None:
            lost["units without one of the languages"] += 1
        else:
            yield src, tgt
    if unit is None:
        raise CorpusError("it has no <tu>, so it is no TMX")


def _prefix(lang: str) -> str:
    return f"{lang.lower().replace('_', '-')}-"


def _text(segment: Element) -> str:
    for element in list(segment.iter()):
        if element.tag in FORMATTING:
            element[:], element.text = [], ""
    return "".join(segment.itertext())


def _units(chunks: Iterator[bytes]) -> Iterator[Element]:
    """Each <tu>; elements are freed once they are read, and names have no namespace.

    Entities may not be declared, since a few nested ones can stand for gigabytes. In
    UTF-16, the letters of a declaration have zeros between them.
    """
    parser: Any = XMLPullParser(("start", "end"))
    path: list[Element] = []  # what is open
    tail, units, size = b"", 0, 0  # open <tu>; bytes since one of them was closed
    for chunk in chain(chunks, [b""]):
        tail = (tail + chunk).replace(b"\0", b"")
        if b"<!ENTITY" in tail:
            raise CorpusError("it declares XML entities, which can stand for gigabytes")
        tail, size = tail[-8:], size + len(chunk)
        if size > WIDEST:
            raise CorpusError("a megabyte without the end of a <tu>: it is no TMX")
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
        for event, element in parser.read_events():
            if event == "start":
                path.append(element)
                element.tag = element.tag.rpartition("}")[2]
                units += element.tag == "tu"
                continue
            path.pop()
            if element.tag == "tu":
                units, size = units - 1, 0
                yield element
            if path and not units:
                path[-1].clear()
