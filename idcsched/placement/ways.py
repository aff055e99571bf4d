"""The ways in which what was decided can be taken, the best first: a candidate, or all shares of what is spread."""

from collections.abc import Iterator
from dataclasses import replace

from uuid_utils.compat import uuid7

from idcsched.framework.claiming import picked
from idcsched.scheduling.schedule import Made

from .candidates import candidate_of, candidates
from .taking import Order, Take

__all__ = ["ways_to_take"]

CONFLICT = "conflict"


def ways_to_take(order: Order, made: Made, *, at_most: int) -> Iterator[list[Take]]:
    """Asked for the next, it takes it that somebody else was quicker; what a plugin does not permit is passed over."""
    if not made.solution.scheduled:
        return
    if made.solution.shares is not None:
        yield from _shares(order, made)
        return
    refused: list[str] = []
    for candidate in candidates(made.decision, at_most=at_most):
        if not candidate.refusal:
            yield [Take(order=order, made=made, candidate=candidate, because=tuple(refused))]
        refused.append(candidate.refusal or CONFLICT)


def _shares(order: Order, made: Made) -> Iterator[list[Take]]:
    """One placement an IDC, all of one group; there is no second way: it takes a fresh decision."""
    group = order.group_id or uuid7()
    takes = [
        Take(
            order=replace(order, request=share.request, group_id=group, based_on=None if number else order.based_on),
            made=made,
            candidate=candidate_of(picked(share.decision, share.position), rank=share.rank),
        )
        for number, share in enumerate(made.solution.shares or ())
    ]
    if not any(take.candidate.refusal for take in takes):
        yield takes
