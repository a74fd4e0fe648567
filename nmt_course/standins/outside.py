"""Parts that stay outside the student's process, so that their calls can be counted.

A stand-in for such a part knows replies only. When it has none left, the run ends with
a question; the test notes it, works out the reply, and runs the answer again with one
reply more. Whatever an answer does to its own process, it gets no number without asking
for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..check.kit import ask, beside_answer


class Question(BaseException):
    """Ends a run: the name of the part that is asked, and its arguments."""


class Outside(nn.Module):
    """In place of a part; all stand-ins of a run share their replies."""

    __name__ = "model"  # for hints

    def __init__(self, name: str, replies: list[Tensor]) -> None:
        super().__init__()
        self.name, self.replies = name, replies
        self.empty = nn.Parameter(torch.zeros(0))  # it has a device, as a model has

    def forward(self, *args: Tensor) -> Tensor:
        if not self.replies:
            raise Question(self.name, *args)
        return self.replies.pop(0).clone()


@beside_answer
def attempt(answer: Any, scene: Any, *args: Any) -> Any:
    """What the scene gives, or else the question with which it ended."""
    try:
        return "gives", scene(answer, *args)
    except Question as question:
        return question.args


def overheard(
    answer: Any,
    scene: Callable[..., Any],
    arguments: Callable[[list[Tensor]], Any],
    parts: dict[str, Callable[..., Tensor]],
) -> tuple[Any, list[Any]]:
    """Plays a scene with an answer: what it gives in the end, and all questions before.

    Args:
        arguments: makes those of the scene, with stand-ins that have these replies.
        parts: by the names of their stand-ins.
    """
    questions, replies = list[Any](), list[Tensor]()
    while True:
        name, *given = ask(attempt, answer, scene, *arguments(replies[:]))
        if name == "gives":
            return given[0], questions
        replies.append(parts[name](*given).detach())
        questions.append((name, *given))
