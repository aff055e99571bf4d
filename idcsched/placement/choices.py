"""The choices that a decision gives an order, best first: one candidate each, or all shares of a spread order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from uuid_utils.compat import uuid7

from idcsched.framework.claiming import narrowed_to
from idcsched.scheduling.deciding import MadeDecision

from .candidates import Candidate, candidate_of, candidates
from .lifecycle import Action
from .orders import Order, PassedOver, Take
from .usable_providers import providers_usable

__all__ = ["NO_PROVIDER", "choices", "nobody_starts_machines", "why_not"]

CONFLICT, NO_PROVIDER = "conflict", "no_provider"
MOST_LOOKED_AT = 100
"""How far down the ranking IDCs are searched for one whose provider starts machines."""
NOWHERE: Mapping[str, str] = MappingProxyType({})


def choices(
    order: Order, made: MadeDecision, *, at_most: int, avoided: Mapping[str, str] = NOWHERE
) -> Iterator[list[Take]]:
    """Yield what to take, best first; asking for the next means that the previous one was lost to another order.

    Skips candidates that a plugin does not permit, IDCs in `avoided` (code → reason), and, where machines are to be
    started, IDCs without a provider that starts them.
    """
    if not made.solution.scheduled:
        return
    if made.solution.shares is not None:
        yield from _shares(order, made)
        return
    passed_over: list[PassedOver] = []
    last_avoided = next(reversed(tuple(avoided.values())), None)
    yielded = 0
    for candidate in candidates(made.decision, at_most=at_most if order.action == Action.RESERVE else MOST_LOOKED_AT):
        because = avoided.get(candidate.idc) or why_not(order, [candidate])
        if not because:
            last = passed_over[-1].because if passed_over else last_avoided
            yield [Take(order=order, made=made, candidate=candidate, because=last, passed_over=tuple(passed_over))]
            because = CONFLICT
            yielded += 1
        if yielded == at_most:
            return
        passed_over.append(PassedOver(idc=candidate.idc, rank=candidate.rank, because=because))


def why_not(order: Order, wanted: Sequence[Candidate]) -> str:
    """Return the code of the reason why an order can't take these candidates, or start machines there; empty: none."""
    if refusal := next((candidate.refusal for candidate in wanted if candidate.refusal), ""):
        return refusal
    if order.action == Action.PROVISION and not {candidate.provider for candidate in wanted} <= providers_usable(
        candidate.provider for candidate in wanted
    ):
        return NO_PROVIDER
    return ""


def nobody_starts_machines(order: Order, made: MadeDecision) -> bool:
    """Return whether machines are to be started and no IDC that fits has a provider that starts them."""
    if order.action == Action.RESERVE or not made.solution.scheduled:
        return False
    if made.solution.shares is not None:
        candidates_of_shares = [
            candidate_of(narrowed_to(share.decision, share.position), share.decision.profile, rank=1)
            for share in made.solution.shares
        ]
        return why_not(order, candidates_of_shares) == NO_PROVIDER
    return all(
        why_not(order, [candidate]) == NO_PROVIDER for candidate in candidates(made.decision, at_most=MOST_LOOKED_AT)
    )


def _shares(order: Order, made: MadeDecision) -> Iterator[list[Take]]:
    """Yield the one choice of a spread order: a placement in each IDC, all of one group."""
    group = order.group_id or uuid7()
    takes = [
        Take(
            order=replace(order, request=share.request, group_id=group, based_on=None if number else order.based_on),
            made=made,
            candidate=candidate_of(
                narrowed_to(share.decision, share.position), share.decision.profile, rank=share.rank
            ),
        )
        for number, share in enumerate(made.solution.shares or ())
    ]
    if not why_not(order, [take.candidate for take in takes]):
        yield takes
