"""What the pages of a decision show: the recorded answer, and its lists computed anew from the recorded inputs."""

from dataclasses import dataclass
from typing import Any

import msgspec

from idcsched.framework.decision import Decision as Outcome
from idcsched.framework.errors import IdcschedError
from idcsched.framework.explain import ListName, page_of_list
from idcsched.language.wording import explained, say

from .models import Decision
from .replay import decided_then
from .sentences import read

__all__ = ["SHOWN", "DecisionShown", "decision_shown"]

SHOWN = 50
"""The most candidates, and the most rejections, that a page shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionShown:
    """The answer in the reader's language, with the first candidates and rejections as plain documents.

    `outcome` is the decision, made again on its recorded inputs. Where that could not be, it is None, `not_kept` says
    why, and the lists are as the answer had them.
    """

    answer: dict[str, Any]
    candidates: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    rejected_more: int
    not_kept: str
    outcome: Outcome | None


def decision_shown(decision: Decision, *, most: int = SHOWN) -> DecisionShown:
    """Return the answer, and at most `most` candidates and rejections."""
    answer = read(decision.answer, decision.sentences)
    try:
        outcome, not_kept = decided_then(decision), ""
    except IdcschedError as error:
        outcome, not_kept = None, explained(error)
    candidates, _count = _listed(outcome, "candidates", answer, most)
    rejected, count = _listed(outcome, "rejected", answer, most)
    return DecisionShown(
        answer=answer,
        candidates=candidates,
        rejected=rejected,
        rejected_more=count - len(rejected),
        not_kept=not_kept,
        outcome=outcome,
    )


def _listed(outcome: Outcome | None, name: ListName, answer: dict[str, Any], most: int) -> tuple[list[Any], int]:
    """Return the list's first entries, and its length."""
    if outcome is None:
        recorded = answer.get(name) or []
        return list(recorded[:most]), len(recorded)
    count, entries = page_of_list(outcome, name, start=0, stop=most, say=say)
    return msgspec.to_builtins(entries), count
