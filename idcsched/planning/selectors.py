"""What callers are shown of the advice and of backtests."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Max, QuerySet

from idcsched.accounts.roles import Principal
from idcsched.framework.decoding import convert

from .advice import Advice, Place
from .models import AdviceRun, Backtest, MoveAnswer, State, StoredAdvice

__all__ = [
    "DEAD",
    "advice_run_failed",
    "advice_run_open",
    "advice_shown",
    "backtests_visible",
    "move_answers_visible",
    "move_promised",
    "placements_answered",
]

DEAD: Final = timedelta(minutes=5)
"""After so long without a sign of life, the worker counts as gone."""


def advice_shown(principal: Principal) -> Advice:
    """Return the latest advice as far as the caller may see it, without the moves that people have answered since.

    Callers who are bound to a tenant see the moves of their own placements.
    """
    stored = StoredAdvice.objects.first()
    if stored is None:
        return Advice(currency=settings.CURRENCY)
    found = convert(stored.document, Advice)
    proposed = [move.placement for move in found.moves]
    answered = MoveAnswer.objects.filter(placement__in=proposed).values_list("placement", flat=True)
    found = found.without(frozenset(answered) if proposed else frozenset())
    return found if principal.all_tenants else found.of_tenant(principal.tenant)


def move_promised(placement: UUID, target: Place, principal: Principal) -> float | None:
    """Return what the latest advice says that the move saves a month; None: it does not propose this one."""
    for move in advice_shown(principal).moves:
        if move.placement == placement:
            same = move.target.idc == target.idc and set(move.target.lines) == set(target.lines)
            return move.saves if same else None
    return None


def backtests_visible(principal: Principal) -> QuerySet[Backtest]:
    """Return the backtests that the caller may see: of the caller's tenant, if bound to one, else all."""
    rows = Backtest.objects.all()
    return rows if principal.all_tenants else rows.filter(tenant__code=principal.tenant)


def move_answers_visible(principal: Principal) -> QuerySet[MoveAnswer]:
    """Return what people did with moves, as far as the caller may see it."""
    answers = MoveAnswer.objects.all()
    return answers if principal.all_tenants else answers.filter(tenant__code=principal.tenant)


def placements_answered() -> frozenset[UUID]:
    """Return the placements whose moves people have done or declined: they stay where they are."""
    return frozenset(MoveAnswer.objects.values_list("placement", flat=True))


def advice_run_open(now: datetime) -> AdviceRun | None:
    """Return the computing that waits for a worker, or that one is at; None if there is none.

    One that was asked for before the latest advice was computed is answered by that.
    """
    run = AdviceRun.objects.first()
    if run is None or run.state not in (State.QUEUED, State.RUNNING):
        return None
    if run.state == State.RUNNING and run.started_at is not None and run.started_at < now - DEAD:
        return None
    computed_at = StoredAdvice.objects.aggregate(latest=Max("computed_at"))["latest"]
    return None if run.state == State.QUEUED and computed_at and computed_at > run.asked_at else run


def advice_run_failed() -> AdviceRun | None:
    """Return the latest computing, if it failed."""
    run = AdviceRun.objects.first()
    return run if run is not None and run.state == State.FAILED else None
