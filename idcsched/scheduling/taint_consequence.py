"""What a taint would have done to the orders that went to an IDC: each is decided again on what was known then."""

from collections import Counter

import msgspec
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import Answer
from idcsched.framework.errors import IdcschedError
from idcsched.framework.request import Hypothetical, HypotheticalTaint

from .models import Decision, IdcOutcome
from .replay import answer_again, policy_of, recorded_inputs
from .selectors import decisions_visible

__all__ = ["Consequence", "MovedTo", "taint_consequence"]

MOST_DECIDED = 50
"""The most orders that are decided again, so that the answer comes while one waits for it."""


class MovedTo(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the orders would have gone to this IDC."""

    idc: str
    count: int


class Consequence(msgspec.Struct, frozen=True, kw_only=True):
    """What the taint would have done: of the last `considered` orders that could have gone to the IDC `chosen` did, and
    of these as many as were `examined` are decided again.

    `unplaced` of them would have found no place; `stayed` would have come all the same. The bills are what those that
    move add to a month, here and where they would have gone; null where that is not known of any.
    """

    idc: str
    considered: int
    chosen: int
    examined: int
    stayed: int
    moved: tuple[MovedTo, ...]
    unplaced: int
    billed: float | None
    would_be_billed: float | None
    currency: str

    @property
    def moving(self) -> int:
        """How many orders would have gone elsewhere."""
        return self.examined - self.stayed - self.unplaced


def taint_consequence(taint: HypotheticalTaint, principal: Principal, *, last: int = 200) -> Consequence:
    """Return what the taint would have done to the last decisions that the principal may see.

    Decisions whose inputs were not kept, and those whose profile can't decide any more, are not examined.
    """
    about = IdcOutcome.objects.filter(idc=taint.idc, decision__in=decisions_visible(principal))
    newest = list(about.order_by("-decision_id").values_list("decision_id", "chosen")[:last])
    chosen = [decision for decision, was_chosen in newest if was_chosen]
    what_if = Hypothetical(taints=(taint,))
    goals, bills, stayed, unplaced, examined = Counter[str](), list[tuple[float, float]](), 0, 0, 0
    for decision in Decision.objects.filter(pk__in=chosen[:MOST_DECIDED], inputs__isnull=False).order_by("-pk"):
        try:
            policy = policy_of(decision.profile, decision.profile_revision)
            again = answer_again(recorded_inputs(decision), policy, "then", same_policy=True, what_if=what_if)
        except IdcschedError:
            continue
        examined += 1
        places = _places(again)
        if not places:
            unplaced += 1
        elif taint.idc in places:
            stayed += 1
        else:
            goals[places[0]] += 1
            if (then := (decision.answer.get("bill") or {}).get("per_month")) is not None and again.bill:
                bills.append((then, again.bill.per_month))
    return Consequence(
        idc=taint.idc,
        considered=len(newest),
        chosen=len(chosen),
        examined=examined,
        stayed=stayed,
        moved=tuple(MovedTo(idc=idc, count=count) for idc, count in goals.most_common()),
        unplaced=unplaced,
        billed=round(sum(then for then, _ in bills), 2) if bills else None,
        would_be_billed=round(sum(would_be for _, would_be in bills), 2) if bills else None,
        currency=settings.CURRENCY,
    )


def _places(answer: Answer) -> list[str]:
    """Return the IDCs that the order would stand in."""
    if isinstance(answer.idcs, tuple):
        return [share.idc for share in answer.idcs]
    return [answer.idc.code] if answer.idc else []
