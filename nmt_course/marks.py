"""What a submission gets: points and words for each part, and notes for the teacher."""

from __future__ import annotations

from dataclasses import dataclass, field

from .submissions import Submission


@dataclass
class Part:
    name: str
    points: float
    score: float | None = None  # None: a written answer that a person has to read
    says: str = ""
    by_hand: bool = False
    written: str = ""  # the text of a written answer


@dataclass
class Marks:
    parts: list[Part]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: int = 0  # of the student's processes, with torch

    @property
    def score(self) -> float:
        return sum(part.score or 0 for part in self.parts)

    @property
    def of(self) -> float:
        return sum(part.points for part in self.parts)

    @property
    def open(self) -> int:
        """How many written answers wait for a reader."""
        return sum(part.score is None for part in self.parts)


@dataclass
class Result:
    submission: Submission
    marks: Marks
    work: str = ""  # what was handed in, as HTML
    finished: bool = False  # else there are no marks after the parts that have some

    def stop(self, *notes: str) -> None:
        """What has no marks gets none."""
        for part in self.marks.parts:
            if part.score is None and not part.written:
                part.score, part.says = 0.0, part.says or "not marked: see the notes"
        self.marks.notes += dict.fromkeys(notes)
        self.finished = True
