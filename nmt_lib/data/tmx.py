"""TMX, the XML that translation memories are exchanged in (LISA, TMX 1.4b)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NoReturn
from xml.parsers import expat

from ..errors import CorpusError

LONGEST = 100_000  # characters of a sentence
DEEPEST = 100  # elements inside each other
WIDEST = 2**20  # bytes of a tag, a comment or anything else that comes in one piece
FORMATTING = {"bpt", "ept", "ph", "it", "ut"}  # what is inside is no text


def read_tmx(
    chunks: Iterator[bytes], langs: tuple[str, str], lost: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of a TMX file, which comes in pieces of some kilobytes.

    Entities may not be declared, since a few nested ones can stand for gigabytes.

    Raises:
        CorpusError: no XML, entities, or elements that are too large or too deep.
    """
    units = Units(langs, lost)
    parser = expat.ParserCreate()
    parser.StartElementHandler = units.start
    parser.EndElementHandler = units.end
    parser.CharacterDataHandler = units.text
    parser.EntityDeclHandler = units.refuse
    parser.SkippedEntityHandler = units.skipped
    parser.DefaultHandler = units.other
    silent = 0  # bytes since anything was recognised
    try:
        for chunk in chunks:
            before = units.events
            parser.Parse(chunk)
            silent = 0 if units.events > before else silent + len(chunk)
            if silent > WIDEST:
                raise CorpusError("a tag or a comment of a megabyte: it is no TMX")
            yield from units.take()
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:
        raise CorpusError(f"it is not well-formed XML ({error})") from None
    if not units.any:
        raise CorpusError("it has no <tu>, so it is no TMX")
    yield from units.take()


class Units:
    """Collects the texts of each ``<tu>`` by language."""

    def __init__(self, langs: tuple[str, str], lost: Counter[str]) -> None:
        self.langs, self.lost = langs, lost
        self.events = self.depth = self.codes = 0
        self.any = self.inside = self.unknown = False  # of <tu>, of <seg>; an entity
        self.pairs: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}
        self.lang, self.parts, self.length = "", [""], 0

    def take(self) -> list[tuple[str, str]]:
        """The pairs since the last call."""
        pairs, self.pairs = self.pairs, []
        return pairs

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.events, self.depth = self.events + 1, self.depth + 1
        if self.depth > DEEPEST:
            raise CorpusError(f"more than {DEEPEST} elements inside each other")
        if name == "tu":
            self.any, self.unknown, self.texts = True, False, {}
        elif name == "tuv":
            found = attributes.get("xml:lang") or attributes.get("lang") or ""
            self.lang = found.lower().replace("_", "-")
        elif name == "seg":
            self.inside, self.parts, self.length = True, [], 0
        self.codes += name in FORMATTING

    def text(self, text: str) -> None:
        self.events += 1
        if self.inside and not self.codes:
            self.length += len(text)
            if self.length <= LONGEST:
                self.parts.append(text)

    def end(self, name: str) -> None:
        self.events, self.depth = self.events + 1, self.depth - 1
        self.codes -= name in FORMATTING
        if name == "seg":
            self.inside = False
            long = self.length > LONGEST
            self.texts.setdefault(self.lang, "\0" if long else "".join(self.parts))
        elif name == "tu":
            src, tgt = map(self.find, self.langs)
            if self.unknown:
                self.lost["units with an XML entity that nothing explains"] += 1
            elif src is None or tgt is None:
                self.lost["units without one of the languages"] += 1
            elif "\0" in (src, tgt):
                self.lost[f"units of more than {LONGEST:,} characters"] += 1
            else:
                self.pairs.append((src, tgt))

    def find(self, lang: str) -> str | None:
        """The text in a language; ``en`` finds ``en-GB``, too."""
        lang = lang.lower().replace("_", "-")
        codes = [code for code in self.texts if code.startswith(f"{lang}-")]
        return next((self.texts[c] for c in (lang, *codes) if c in self.texts), None)

    def other(self, *_: object) -> None:
        self.events += 1  # a comment, an instruction

    def refuse(self, *_: object) -> NoReturn:
        raise CorpusError("it declares XML entities, which can stand for gigabytes")

    def skipped(self, *_: object) -> None:
        self.unknown = True
