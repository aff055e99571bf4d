"""The lists of an explanation beyond what one answer shows, part by part."""

from itertools import islice
from typing import Any, Literal

from .decision import Candidate, Decision, Rejected, Stale
from .explain import candidates, first_rejections, rejections, stale_values
from .telling import Say, Teller, say_english

__all__ = ["ListName", "listed"]

ListName = Literal["candidates", "rejected", "stale"]


def listed(
    decision: Decision, name: ListName, *, start: int, stop: int, say: Say = say_english
) -> tuple[int, tuple[Candidate | Rejected | Stale, ...]]:
    """How long that list of the decision is, and its entries from `start` to before `stop`."""
    tell, part = Teller(say), slice(start, stop)
    if name == "candidates":
        places = range(decision.feasible)
        return len(places), tuple(candidates(decision, places[part], tell, full=True))
    if name == "rejected":
        return int((first_rejections(decision) >= 0).sum()), tuple(rejections(decision, part, tell))
    values: list[Any] = list(stale_values(decision))
    return len(values), tuple(islice(values, start, stop))
