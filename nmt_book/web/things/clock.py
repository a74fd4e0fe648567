"""The clock of positions, chapter 02."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field

from ..play import Thing, table


class Clock(Thing):
    """Two positions as the hands of clocks (paper, section 3.5)."""

    title: ClassVar = "A clock with many hands"
    tries: ClassVar = (
        "Move the position, or drag a hand; then change the base, and see how far "
        "apart the hands of the two positions are."
    )
    shows: ClassVar = (
        "Wherever the two positions are, the angles between their hands are the same, "
        "because they depend only on the distance; a smaller base makes the slow "
        "hands faster."
    )
    position: int = Field(3, ge=0, le=300)
    distance: int = Field(4, ge=0, le=20)
    base: Literal[10, 100, 10000] = 10000
    d_model: Literal[2, 4, 6, 8] = 8

    def picture(self) -> str:
        rows = {}
        for i in range(self.d_model // 2):
            rate = self.base ** (-2 * i / self.d_model)
            angle = self.position * rate
            numbers = (
                f"{2 * math.pi / rate:.1f}",
                f"{math.sin(angle):.2f}",
                f"{math.cos(angle):.2f}",
                f"{math.degrees(self.distance * rate):.1f}°",
            )
            rows[f"hand {i}"] = numbers
        caption = (
            f"A clock at position {self.position}, and how far each hand turns until "
            f"position {self.position + self.distance}; run the cell to move it"
        )
        columns = ("", "positions in a turn", "sine", "cosine", "turns by")
        return table(caption, columns, rows)


THING = Clock
