"""What the pages of a decision show: the recorded answer, and its lists computed anew from the recorded inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from idcsched.framework.errors import IdcschedError
from idcsched.framework.explain import ListName
from idcsched.language.wording import explained

from .models import Decision
from .replay import Explanation
from .sentences import read

__all__ = ["SHOWN", "DecisionShown", "decision_shown"]

SHOWN = 50
"""The most candidates, and the most rejections, that a page shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionShown:
    """The answer in the reader's language, with the first candidates and rejections as plain documents.

    `not_kept`: why the lists could not be computed anew, so that they are as the answer had them; empty: they were.
    """

    answer: dict[str, Any]
    candidates: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    rejected_more: int
    not_kept: str


def decision_shown(decision: Decision, *, most: int = SHOWN) -> DecisionShown:
    """Return the answer, and at most `most` candidates and rejections."""
    answer = read(decision.answer, decision.sentences)
    candidates, _count, not_kept = _explained(decision, "candidates", answer.get("candidates") or [], most)
    rejected, count, _why = _explained(decision, "rejected", answer.get("rejected") or [], most)
    return DecisionShown(
        answer=answer,
        candidates=candidates,
        rejected=rejected,
        rejected_more=count - len(rejected),
        not_kept=not_kept,
    )


def _explained(
    decision: Decision, name: ListName, recorded: Sequence[Any], most: int
) -> tuple[list[dict[str, Any]], int, str]:
    """Return the list's first entries, its length, and why it could not be computed anew ("": it could)."""
    try:
        explanation = Explanation(decision, name)
        return msgspec.to_builtins(explanation[:most]), len(explanation), ""
    except IdcschedError as error:
        return list(recorded[:most]), len(recorded), explained(error)
