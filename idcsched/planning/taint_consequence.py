"""What taints would have done to the orders that went to their IDCs: each is decided again on what was known then."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import IdcschedError
from idcsched.framework.profile import Profile as Policy
from idcsched.framework.request import Hypothetical, HypotheticalTaint
from idcsched.placement.models import Placement
from idcsched.scheduling.models import IdcOutcome
from idcsched.scheduling.replay import answer_again, policy_of, recorded_inputs
from idcsched.scheduling.selectors import decisions_visible

__all__ = ["MOST_DECIDED", "Consequence", "MovedTo", "taint_consequence", "taints_consequence"]

MOST_DECIDED = 50
"""The most orders that are decided again, so that the answer comes while one waits for it."""


class MovedTo(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the orders would have gone to this IDC, whole or with more of their machines."""

    idc: str
    count: int


class Consequence(msgspec.Struct, frozen=True, kw_only=True):
    """What the taint would have done: of the last `considered` orders that could have gone to the IDC `chosen` did, of
    which the last `tried` were to be decided again, and `examined` could be.

    `stayed` of them would stand with the same number of machines in the same IDCs, `unplaced` nowhere, the others
    elsewhere, at least in part. `billed` and `would_be_billed` are what these add to the bills of a month, here and
    there, as far as both are known: that is of `priced` orders. Of taints on several IDCs `idc` names them all, and the
    figures are about the orders that went to any of them.
    """

    idc: str
    considered: int
    chosen: int
    tried: int
    examined: int
    stayed: int
    moved: tuple[MovedTo, ...]
    unplaced: int
    priced: int
    billed: float
    would_be_billed: float
    currency: str

    @property
    def moving(self) -> int:
        """How many orders would have gone elsewhere."""
        return self.examined - self.stayed - self.unplaced

    @property
    def dearer(self) -> int:
        """What the bills of a month would be higher by, between the two amounts as they are shown, without decimals."""
        return max(0, round(self.would_be_billed) - round(self.billed))

    @property
    def cheaper(self) -> int:
        """What the bills of a month would be lower by, likewise."""
        return max(0, round(self.billed) - round(self.would_be_billed))


def taint_consequence(taint: HypotheticalTaint, principal: Principal, *, last: int = 200) -> Consequence:
    """Return what the taint would have done to the last decisions that the principal may see.

    Decisions whose inputs were not kept, and those whose profile can't decide any more, are not examined.
    """
    return taints_consequence([taint], principal, last=last)


def taints_consequence(taints: Sequence[HypotheticalTaint], principal: Principal, *, last: int = 200) -> Consequence:
    """Return what taints on one or more IDCs, all set at once, would have done, as `taint_consequence` does."""
    visible, idcs = decisions_visible(principal), list(dict.fromkeys(taint.idc for taint in taints))
    about = IdcOutcome.objects.filter(idc__in=idcs, decision__in=visible).order_by("-decision_id")
    outcomes = _by_decision(about.values_list("decision_id", "chosen")[: last * len(idcs)])
    orders = _orders(list(outcomes.items())[:last])
    chosen = [decision for decision, was_chosen in orders.items() if was_chosen]
    tried = chosen[:MOST_DECIDED]
    what_if, policy = Hypothetical(taints=tuple(taints)), cache(_policy)
    goals, bills, stayed, unplaced, examined = Counter[str](), list[tuple[float, float]](), 0, 0, 0
    for decision in visible.filter(pk__in=tried, inputs__isnull=False).order_by("-pk"):
        if (profile := policy(decision.profile, decision.profile_revision)) is None:
            continue
        try:
            again = answer_again(recorded_inputs(decision), profile, "then", same_policy=True, what_if=what_if)
        except IdcschedError:
            continue
        examined += 1
        answer = msgspec.to_builtins(again)
        then, would_be = _shares(decision.answer), _shares(answer)
        if not would_be:
            unplaced += 1
        elif would_be == then:
            stayed += 1
        else:
            goals.update((would_be - then).keys())
            if (billed := _billed(decision.answer)) is not None and (would_be_billed := _billed(answer)) is not None:
                bills.append((billed, would_be_billed))
    return Consequence(
        idc=", ".join(idcs),
        considered=len(orders),
        chosen=len(chosen),
        tried=len(tried),
        examined=examined,
        stayed=stayed,
        moved=tuple(MovedTo(idc=idc, count=count) for idc, count in goals.most_common()),
        unplaced=unplaced,
        priced=len(bills),
        billed=round(sum(billed for billed, _ in bills), 2),
        would_be_billed=round(sum(would_be for _, would_be in bills), 2),
        currency=settings.CURRENCY,
    )


def _by_decision(outcomes: Iterable[tuple[UUID, bool]]) -> Mapping[UUID, bool]:
    """Return the decisions in their order, with whether any of the IDCs was chosen."""
    chosen: dict[UUID, bool] = {}
    for decision, was_chosen in outcomes:
        chosen[decision] = chosen.get(decision, False) or was_chosen
    return chosen


def _orders(outcomes: Iterable[tuple[UUID, bool]]) -> Mapping[UUID, bool]:
    """Return one decision an order, with whether it chose the IDC, or one of them.

    A commit's record stands for the same order as the recommendation that it was made from. The recommendation is the
    one to decide again: the commit knew no other IDCs.
    """
    newest = dict(outcomes)
    commits = Placement.objects.filter(decision_id__in=newest, based_on__isnull=False)
    recommended = dict(commits.values_list("decision_id", "based_on"))
    return {recommended.get(decision) or decision: chosen for decision, chosen in newest.items()}


def _policy(code: str, revision: int) -> Policy | None:
    """Return the revision, or None where it is gone or can't be compiled any more."""
    try:
        return policy_of(code, revision)
    except IdcschedError:
        return None


def _shares(answer: Mapping[str, Any]) -> Counter[str]:
    """Return how many machines of a spread order an answer puts into each IDC; of any other order 1, the whole."""
    if shares := answer.get("idcs"):
        return Counter({share["idc"]: share["machine_count"] for share in shares})
    return Counter() if answer["idc"] is None else Counter([answer["idc"]["code"]])


def _billed(answer: Mapping[str, Any]) -> float | None:
    return (answer.get("bill") or {}).get("per_month")
