"""Training in a notebook's output, chapter 07: the page of the site, with fewer and
shorter sentences."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from pydantic import Field

from ... import web
from .. import train_page
from ..play import Thing

LONGEST, PAIRS = 10, 700  # tokens of a source sentence; training pairs
FRAMES = 3, 9  # of the stored training, for readers without scripts


class Train(Thing):
    """What the training page begins with: its settings, and a sentence to translate."""

    title: ClassVar = "Train it here"
    tries: ClassVar = (
        "Press “Train” and watch the translation and the map; then take one of the "
        "ideas below, and compare its curve with the one before."
    )
    shows: ClassVar = (
        "The model learns where to look before it learns what to say, and the loss "
        "shows none of it; without a warm-up a large learning rate leaves it with the "
        "frequencies of words."
    )
    text: str = Field(train_page.EXAMPLES[0], max_length=200)
    norm: Literal["post", "pre"] = "post"
    n_layers: Literal[1, 2, 4] = 1
    n_heads: Literal[1, 2, 4] = 1
    d_model: Literal[16, 32, 64] = 32
    warmup: Literal[0, 10, 25, 50, 75, 100, 150, 200, 300, 400] = 75

    def picture(self) -> str:
        film: dict[str, Any] = json.loads(web.read("train_film.json"))
        film["frames"] = [film["frames"][i] for i in FRAMES]
        return train_page.film_table(film, "run the cell")

    def page(self, name: str) -> str:
        data = train_page.page_data(LONGEST)
        state = self.model_dump()
        data["text"] = state.pop("text")
        data["settings"] |= state
        note = f"({PAIRS} short sentences; the page of the site has ten times as many.)"
        script = f"Object.assign(data, {web.quoted(data)});\n"
        script += web.squeezed(train_page.page_script(note=note))
        packed = {
            "script": web.packed(script),
            "packed": train_page.pack(train_page.training_data(LONGEST, PAIRS)),
        }
        return web.shell("nmt-train", packed, self.picture(), UNPACK)


UNPACK = web.bundle(
    "packed",
    start="""import { unpacked } from "./packed.js";
unpacked(data.script).text().then((script) =>
  new Function("host", "data", script)(host, data));
""",
)
THING = Train
