"""A pair that turns: rotary positions, the deeper page of chapter 12."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from pydantic import Field

from ..play import Thing, table

QUERY = (0.9, 0.3, 0.6, -0.7, 0.2, 0.9, 0.8, 0.5)  # (d_k,)
KEY = (0.8, -0.4, 0.3, -0.9, 0.7, 0.6, 0.9, 0.2)


class Rotary(Thing):
    """A query and a key of eight numbers, each at its position."""

    title: ClassVar = "Pairs that turn"
    tries: ClassVar = "Move both along; then leave them there and change the distance."
    shows: ClassVar = (
        "Each pair turns at its own speed, and the query and the key turn alike, so "
        "the angle between them stays; only the distance changes the score, and the "
        "slow pairs hardly notice it."
    )
    position: int = Field(1, ge=0, le=100)
    distance: int = Field(2, ge=0, le=20)

    def given(self) -> dict[str, Any]:
        return {"query": QUERY, "key": KEY}

    def picture(self) -> str:
        q, k = (
            torch.view_as_complex(torch.tensor(x, dtype=torch.float64).view(-1, 2))
            for x in (QUERY, KEY)
        )  # (d_k / 2,) a pair is a complex number, and turning is a product
        theta = self.distance * 10000.0 ** (-torch.arange(0, 8, 2) / 8)  # (d_k / 2,)
        products = (q * k.conj() * torch.polar(torch.ones(()), theta)).real
        rows = {
            f"pair {i}": [f"{angle.rad2deg():.1f}°", f"{product:.2f}"]
            for i, (angle, product) in enumerate(zip(theta, products, strict=True))
        }
        t, s = self.position + self.distance, self.position
        caption = (
            f"A query at position {t} and a key at {s}: "
            f"their score is {products.sum():.2f}; run the cell to move them"
        )
        return table(caption, ("", "turned against the key", "adds"), rows)


THING = Rotary
