"""Queries among keys, chapter 04."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field, model_validator

from nmt_lib.model.attention import scaled_dot_product_attention

from ..play import Thing, Word, table

Rows = list[list[float]]


class Scores(Thing):
    """One attention with vectors of two numbers (paper, equation 1)."""

    title: ClassVar = "A query among the keys"
    tries: ClassVar = (
        "Drag the blue query around the golden keys, or press a row of the table to "
        "follow another word; then move the factor of the scores, with its usual value "
        "marked."
    )
    shows: ClassVar = (
        "A longer query, like a larger factor, gives nearly everything to the key that "
        "fits best; a query of zeros, or the factor 0, takes the plain mean of all "
        "values."
    )
    words: list[Word] = Field(["chair", "is", "new", "it"], min_length=1, max_length=8)
    Q: Rows = Field([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    """(T, 2) from -3 to 3"""
    K: Rows = Field([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    """(T, 2) from -3 to 3"""
    V: Rows = Field([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.5, 0.5]])
    """(T, d_v)"""
    features: list[Word] = Field(["thing", "quality"], min_length=2, max_length=2)
    values: list[Word] = Field(["fem.", "masc."], min_length=1)
    row: int = Field(3, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Scores:
        T, d_v = len(self.words), len(self.values)
        for name, width in (("Q", 2), ("K", 2), ("V", d_v)):
            rows: Rows = getattr(self, name)
            if [len(vector) for vector in rows] != T * [width]:
                raise ValueError(f"{name} must have the shape ({T}, {width})")
        if any(abs(x) > 3 for vector in [*self.Q, *self.K] for x in vector):
            raise ValueError("numbers in Q and K must be from -3 to 3")
        if self.row >= T:
            raise ValueError(f"row must be less than {T}, the number of words")
        return self

    def picture(self) -> str:
        query, key, value = (
            torch.tensor([[vectors]]) for vectors in (self.Q, self.K, self.V)
        )
        output, weights = scaled_dot_product_attention(query, key, value)
        rows = {
            f"{t}: {word}": [f"{x:.2f}" for x in weights[0, 0, t].tolist()]
            + [f"{x:.2f}" for x in output[0, 0, t].tolist()]
            for t, word in enumerate(self.words)
        }
        caption = "Weights and outputs; run the cell to drag the queries"
        return table(caption, ["query", *self.words, *self.values], rows)


THING = Scores
