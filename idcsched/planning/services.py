"""Backtests and advice in the background: asked for, computed by a worker, kept for a while."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final
from uuid import UUID

import msgspec
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.audit.services import change_record
from idcsched.audit.writing import row_check, write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, Invalid, NotFound
from idcsched.framework.messages import _
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.jobs.announcing import announce
from idcsched.language.wording import explained
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.profile_checks import profile_check
from idcsched.scheduling.services import DRAFT

from .advice import Advice, advice
from .backtest import BacktestResult, backtest
from .models import AdviceRun, Backtest, MoveAnswer, MoveState, State, StoredAdvice
from .recorded import MOST_DAYS, recorded_period
from .selectors import DEAD, advice_run_open, advice_shown, move_answers_visible, placements_answered

__all__ = [
    "advice_ask",
    "advice_run",
    "advice_run_asked",
    "advice_runs_sweep",
    "backtest_create",
    "backtest_give_up",
    "backtest_run",
    "backtests_prune",
    "backtests_resume",
    "move_answer",
    "move_answer_withdraw",
]

MOVE_ANSWER: Final = "move_answer"
ATTEMPTS: Final = 3
ADVICE_SECONDS: Final = 30.0
ADVICE_KEPT: Final = 30
MAX_FAILURE: Final = 500
GRACE: Final = timedelta(seconds=10)
"""How long a message may take before the sweep sends another."""
OPTIMUM_SECONDS: Final = 60.0
BEAT: Final = 1.0
"""Seconds between two signs of life."""


@transaction.atomic
def backtest_create(
    *,
    profile: Profile,
    days: int,
    principal: Principal,
    body: Mapping[str, Any] | None = None,
    others: Sequence[str] = (),
    optimum: bool = False,
) -> Backtest:
    """Ask what the orders of the last `days` would have cost under a profile, a draft of it, and other profiles,
    and with `optimum` for somebody who knows all orders beforehand.

    The orders are those that the principal may see. Raises Invalid for an unknown profile or a draft that could not be
    saved.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Invalid("out_of_range", _("this must be between {low} and {high}"), "/days", low=1, high=MOST_DAYS)
    policies = [{"name": profile.code, "body": _body_in_force(profile)}]
    if body is not None:
        profile_check(profile.code, body)
        policies.append({"name": DRAFT, "body": dict(body)})
    for place, code in enumerate(others):
        other = Profile.objects.select_related("active").filter(code=code).first()
        if other is None:
            raise Invalid("unknown", _("there is no profile {name}"), f"/profiles/{place}", name=code)
        policies.append({"name": code, "body": _body_in_force(other)})
    row = Backtest.objects.create(
        actor=principal.username,
        tenant=None if principal.all_tenants else Tenant.objects.get(code=principal.tenant),
        profile=profile.code,
        days=days,
        policies=policies,
        optimum=optimum,
    )
    _announce(row.pk)
    return row


def backtest_run(*, backtest_id: UUID) -> dict[str, int]:
    """Run a backtest unless another worker does; return how many orders were decided.

    A worker that is killed leaves no result, and the sweep has the backtest begun anew.
    """
    row = _claimed(backtest_id)
    if row is None:
        return {"decided": 0}
    try:
        result = _run(row)
    except _GivenUp:
        return {"decided": 0}
    except IdcschedError as refusal:
        _end(row, State.FAILED, failure=explained(refusal))
    except (OperationalError, InterfaceError):
        raise  # the database is away: the sweep finds the backtest without a sign of life
    except Exception as error:
        _end(row, State.FAILED, failure=f"{type(error).__name__}: {error}")
        raise
    else:
        _end(row, State.DONE, result=msgspec.to_builtins(result))
        return {"decided": result.orders * len(result.courses)}
    return {"decided": 0}


def _claimed(backtest_id: UUID) -> Backtest | None:
    """Return the backtest if no other worker has it and it may still be tried."""
    now = timezone.now()
    mine = Backtest.objects.filter(_waiting(now), pk=backtest_id)
    if not mine.update(state=State.RUNNING, beat_at=now, attempts=F("attempts") + 1, done=0, total=0):
        return None
    row = Backtest.objects.filter(pk=backtest_id).first()
    if row is not None and row.attempts > ATTEMPTS:
        _end(row, State.FAILED, failure="it was interrupted too often")
        return None
    return row


def backtest_give_up(*, backtest: Backtest) -> None:
    """Delete a backtest, its result, too; a worker that is at it stops."""
    Backtest.objects.filter(pk=backtest.pk).delete()


@transaction.atomic
def advice_ask(*, actor: str) -> AdviceRun:
    """Have a worker compute new advice, unless one is about to or at it; return that computing.

    If the message is lost, the sweep sends another.
    """
    open_run = advice_run_open(timezone.now())
    if open_run is not None:
        return open_run
    run = AdviceRun.objects.create(actor=actor)
    transaction.on_commit(lambda: announce("idcsched.planning.tasks.advise", run.pk))
    return run


def advice_run() -> Advice:
    """Compute the advice for what stands now, and keep it in place of the oldest."""
    run = AdviceRun.objects.create(state=State.RUNNING, started_at=timezone.now())
    return _computed(run.pk)


def advice_run_asked(*, run_id: int) -> Advice | None:
    """Do the computing that somebody has asked for; None if another worker does."""
    waiting = AdviceRun.objects.filter(pk=run_id, state=State.QUEUED)
    return _computed(run_id) if waiting.update(state=State.RUNNING, started_at=timezone.now()) else None


def _computed(run_id: int) -> Advice:
    run = AdviceRun.objects.filter(pk=run_id)
    try:
        live.catch_up()
        now = timezone.now()
        found = advice(live.current(), now=now, seconds=ADVICE_SECONDS, staying=placements_answered())
        with transaction.atomic():
            StoredAdvice.objects.create(computed_at=now, document=msgspec.Raw(msgspec.json.encode(found)))
            run.update(state=State.DONE, finished_at=timezone.now())
            for rows in (StoredAdvice.objects.order_by("-computed_at"), AdviceRun.objects.order_by("-asked_at")):
                kept = rows.values_list("pk", flat=True)[:ADVICE_KEPT]
                rows.model._default_manager.exclude(pk__in=list(kept)).delete()
    except (OperationalError, InterfaceError):
        raise  # the database is away: the sweep finds the computing that has lasted too long
    except Exception as error:
        why = explained(error) if isinstance(error, IdcschedError) else f"{type(error).__name__}: {error}"
        run.update(state=State.FAILED, finished_at=timezone.now(), failure=why[:MAX_FAILURE])
        raise
    return found


def advice_runs_sweep(*, now: datetime) -> dict[str, int]:
    """Announce the computings of advice that no worker has, and end those whose worker is gone."""
    waiting = AdviceRun.objects.filter(state=State.QUEUED, asked_at__lt=now - GRACE).values_list("pk", flat=True)
    for run_id in list(waiting):
        announce("idcsched.planning.tasks.advise", run_id)
    gone = AdviceRun.objects.filter(state=State.RUNNING, started_at__lt=now - DEAD)
    ended = gone.update(state=State.FAILED, finished_at=now, failure="the worker stopped before it was done")
    return {"announced": len(waiting), "ended": ended}


@write()
def move_answer(*, placement: UUID, state: MoveState, reason: str = "", principal: Principal) -> MoveAnswer:
    """Note what was done with the move that is proposed for a placement; an earlier answer is replaced.

    Raises Invalid for a move that is declined without a reason, NotFound where the caller sees neither a proposed move
    of that placement nor an answer to one.
    """
    if state == MoveState.DECLINED and not reason:
        raise Invalid("required", _("say why, for whoever reads the list next"), "/reason")
    answer = move_answers_visible(principal).select_for_update(of=("self",)).filter(placement=placement).first()
    before = _described(answer)
    if answer is None:
        found = advice_shown(principal)
        move = next((move for move in found.moves if move.placement == placement), None)
        if move is None:
            raise NotFound("not_found", _("no move of that placement is proposed"))
        answer = MoveAnswer(
            placement=placement,
            tenant=Tenant.objects.get(code=move.tenant),
            currency=found.currency,
            move=msgspec.to_builtins(move),
        )
    answer.state, answer.reason, answer.actor, answer.at = state, reason, principal.username, timezone.now()
    row_check(answer)
    answer.save()
    change_record(kind=MOVE_ANSWER, key=str(placement), before=before, after=_described(answer))
    return answer


@write()
def move_answer_withdraw(*, placement: UUID, principal: Principal) -> MoveAnswer:
    """Take back what was noted of a move, so that the placement may be proposed again; raises NotFound."""
    answer = move_answers_visible(principal).select_for_update(of=("self",)).filter(placement=placement).first()
    if answer is None:
        raise NotFound("not_found", _("nothing was noted of a move of that placement"))
    change_record(kind=MOVE_ANSWER, key=str(placement), before=_described(answer), after=None)
    MoveAnswer.objects.filter(pk=answer.pk).delete()
    return answer


def _described(answer: MoveAnswer | None) -> dict[str, Any] | None:
    """Return the answer as the history shows it."""
    if answer is None:
        return None
    move = answer.move
    places = {name: " ".join([move[name]["idc"], *move[name]["lines"]]) for name in ("from", "to")}
    return {"state": answer.state, "reason": answer.reason, **places, "saves": move["saves"]}


def backtests_resume(*, now: datetime) -> dict[str, int]:
    """Announce to the workers the backtests that none of them has: the message was lost, or the worker is gone."""
    waiting = Backtest.objects.filter(_waiting(now), created_at__lt=now - GRACE).values_list("pk", flat=True)
    for backtest_id in list(waiting):
        _announce(backtest_id)
    return {"resumed": len(waiting)}


def backtests_prune(*, before: datetime) -> dict[str, int]:
    """Delete the backtests that were over by that time."""
    return {"pruned": Backtest.objects.filter(finished_at__lt=before).delete()[0]}


def _run(row: Backtest) -> BacktestResult:
    begun = monotonic()
    decisions = Decision.objects.all() if row.tenant_id is None else Decision.objects.filter(tenant=row.tenant_id)
    period = recorded_period(days=row.days, now=row.created_at, decisions=decisions)
    policies = {
        policy["name"]: compile_profile(
            convert(policy["body"], ProfileBody), registry(), code=policy["name"], revision=0
        )
        for policy in row.policies
    }
    result = backtest(
        period,
        policies,
        optimum_seconds=OPTIMUM_SECONDS if row.optimum else 0.0,
        progress=_Progress(row, len(period.orders) * len(policies)),
    )
    return msgspec.structs.replace(result, seconds=round(monotonic() - begun, 1))


class _GivenUp(Exception):
    """The backtest is no longer there, or another worker has it."""


class _Progress:
    """Counts the decided orders, and saves the count once a second as a sign of life; raises _GivenUp."""

    def __init__(self, row: Backtest, total: int) -> None:
        self._own = Backtest.objects.filter(pk=row.pk, attempts=row.attempts)
        self._done, self._saved_at = 0, 0.0
        self._own.update(total=total)

    def __call__(self) -> None:
        self._done += 1
        if monotonic() - self._saved_at >= BEAT:
            self._saved_at = monotonic()
            if not self._own.update(done=self._done, beat_at=timezone.now()):
                raise _GivenUp


def _waiting(now: datetime) -> Q:
    """Return the condition for backtests that wait for a worker, or whose worker is gone."""
    return Q(state=State.QUEUED) | Q(state=State.RUNNING, beat_at__lt=now - DEAD)


def _end(row: Backtest, state: State, **values: Any) -> None:
    """Save how the backtest ended, unless another worker has taken it over."""
    own = Backtest.objects.filter(pk=row.pk, attempts=row.attempts, state=State.RUNNING)
    own.update(state=state, finished_at=timezone.now(), done=F("total"), **values)


def _body_in_force(profile: Profile) -> dict[str, Any]:
    body: dict[str, Any] = profile.active.body if profile.active else {}
    return body


def _announce(backtest_id: UUID) -> None:
    transaction.on_commit(lambda: announce("idcsched.planning.tasks.backtest_run", str(backtest_id)))
