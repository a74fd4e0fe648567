"""Parts that stay outside the student's process, so that their calls can be counted.

In place of such a part, the answer gets a stand-in that only knows replies. When there
is none left, the run ends with a question. The test notes it, computes the reply, and
runs the answer again with one more reply. So an answer cannot get a result without
asking for it, whatever it does to its own process.
"""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from ..check.kit import ask, beside_answer


class Question(BaseException):
    """Ends a run; its arguments are the name of a part, and those of its call."""


class Outside(nn.Module):
    """In place of a part. All stand-ins of a run share their replies."""

    __name__ = "model"  # for hints

    def __init__(self, name: str, replies: list[Tensor]) -> None:
        super().__init__()
        self.name, self.replies = name, replies

    def forward(self, *args: Tensor) -> Tensor:
        if not self.replies:
            raise Question(self.name, *args)
        return self.replies.pop(0).clone()


@beside_answer
def attempt(answer: Any, *args: Any) -> Any:
    """What a scene returns, or the question with which it ended."""
    *rest, scene = args
    try:
        return "returns", scene(answer, *rest)
    except Question as question:
        return question.args


def overheard(
    answer: Any, scene: Any, parts: Any, whole: Any, *args: Any
) -> tuple[Any, list[Any]]:
    """What ``scene(answer, whole, *args)`` returns in the end, and all calls of parts.

    Args:
        parts: the modules to replace, by their names in ``whole``; if ``whole`` is
            None, the only part is in its place.
    """
    calls, replies = list[Any](), list[Tensor]()
    while True:
        left, hollow = replies[:], copy.deepcopy(whole)
        for name in parts:
            stand_in = Outside(name, left)
            if whole is None:
                hollow = stand_in
            else:
                hollow.set_submodule(name, stand_in)
        name, *given = ask(attempt, answer, hollow, *args, scene)
        if name == "returns":
            return given[0], calls
        calls.append((name, *given))
        replies.append(parts[name](*given).detach())
