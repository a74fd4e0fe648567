"""``book.play("clock")``: something to touch in a cell's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, StringConstraints
from pydantic_core import PydanticCustomError

from nmt_lib.config import Section, did_you_mean, validate_section
from nmt_lib.errors import ConfigError

from .. import web

FOLDER = web.FILES / "things"
# A word on an axis or in a cell: a longer one would not fit.
Word = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=30)
]


def one_of(*values: float) -> AfterValidator:
    """A number that is one of these, or nearly: 0.2 * 3 is 0.6."""

    def choose(number: float) -> float:
        nearest = min(values, key=lambda value: abs(value - number))
        if abs(nearest - number) < 1e-9:
            return nearest
        choices = ", ".join(f"{value:g}" for value in values)
        raise PydanticCustomError("one_of", f"Input should be one of {choices}")

    return AfterValidator(choose)


class Thing(Section):
    """Something to touch; its fields are its state, with what is shown first.

    ``things/NAME.py`` calls its class ``THING``; ``things/NAME.js`` exports
    ``draw(stage, state, given)``, and the formula as a function of its own.
    """

    title: ClassVar[str]
    tries: ClassVar[str]
    """one sentence: what to try"""
    shows: ClassVar[str]
    """one sentence: what one sees then"""
    needs: ClassVar[tuple[str, ...]] = ()
    """further modules of nmt_book/web, each after those that it imports"""

    def given(self) -> dict[str, Any]:
        """What the script needs beside the state, such as merges."""
        return {}

    def picture(self) -> str:
        """The state as HTML that sanitizers keep: see ``table``."""
        raise NotImplementedError

    def page(self, name: str) -> str:
        """The picture, and a script that draws the thing in its place."""
        data = {
            "title": self.title,
            "tries": self.tries,
            "shows": self.shows,
            "state": self.model_dump(),
            "given": self.given(),
        }
        start = (
            'import { stage } from "./kit.js";\n'
            f'import {{ draw }} from "./things/{name}.js";\n'
            "stage(host, STYLE, data, draw);\n"
        )
        modules = "kit", "pictures", *self.needs, f"things/{name}"
        script = f"const STYLE = {web.quoted(web.read('kit.css'))};\n"
        script += web.bundle(*modules, start=start)
        return web.shell("nmt-play", data, self.picture(), script)


def play(name: str, /, **state: Any) -> web.Html:
    """Something to touch, in a cell's output; it needs neither Python nor a network.

    Where no script runs (on GitHub, in a notebook that is not trusted), a table of its
    first state is shown instead.

    Args:
        name: ``"clock"`` or another one of ``nmt_book/web/things``.
        state: what it shows first, such as ``position=3``.

    Raises:
        ConfigError: an unknown name or state, or a value that is out of range.
    """
    names = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))
    if name not in names:
        raise ConfigError(
            f"there is no {name!r} to play with{did_you_mean(str(name), names)}: "
            f"give one of {', '.join(names)}"
        )
    kind: type[Thing] = import_module(f"nmt_book.web.things.{name}").THING
    thing = validate_section(kind, state, f"cannot play {name!r}")
    return web.Html(thing.page(name))


def table(
    caption: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]
) -> str:
    """Texts in rows with names; the first of ``columns`` is over the names."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>"
        + "".join(f"<td>{escape(text)}</td>" for text in texts)
        + "</tr>"
        for name, texts in rows.items()
    )
    return (
        f'<table class="dataframe"><caption>{escape(caption)}</caption>'
        f"<tr>{head}</tr>{body}</table>"
    )
