"""BLEU of a sentence that the reader types, chapter 10."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from ..play import Thing, table


class Bleu(Thing):
    """An output and its reference."""

    title: ClassVar = "BLEU while you type"
    tries: ClassVar = (
        "Change one word in the middle, then one at the end; say the right thing in "
        "other words; make it shorter, word by word."
    )
    shows: ClassVar = (
        "A wrong word breaks every n-gram that it is part of, more of them in the "
        "middle than at an end; what an output means plays no part; and the brevity "
        "penalty alone stands against outputs that stop early."
    )
    output: str = Field("The cat drank the the milk in the kitchen.", max_length=300)
    reference: str = Field(
        "The small cat drank the milk in the kitchen.", max_length=300
    )

    def given(self) -> dict[str, Any]:
        words = self.reference.split()
        ideas = {
            "as the reference": self.reference,
            "half of it": " ".join(words[: len(words) // 2]),
            "backwards": " ".join(reversed(words)),
            "one word again and again": " ".join(len(words) * ["the"]),
        }
        return {"ideas": {"as it was": self.output, **ideas}}

    def picture(self) -> str:
        from sacrebleu.metrics import BLEU

        score = BLEU().corpus_score([self.output], [[self.reference]])
        rows = {
            f"n = {n}": [str(matches), str(total)]
            for n, (matches, total) in enumerate(
                zip(score.counts, score.totals, strict=True), 1
            )
        }
        caption = (
            f"“{self.output}”, with “{self.reference}” as reference, has BLEU "
            f"{score.score:.1f} (brevity penalty {score.bp:.2f}); run the cell to type "
            "another output"
        )
        return table(caption, ("", "n-grams found", "of"), rows)


THING = Bleu
