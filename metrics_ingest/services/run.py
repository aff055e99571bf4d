import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from uuid_utils.compat import uuid7

from idcsched.audit.services import change_record
from idcsched.audit.writing import write
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.framework.messages import _
from metrics_ingest.models import Run, RunState, Source
from metrics_ingest.selectors import FAILING_FROM
from metrics_ingest.sources.counters import FIRST_READING
from metrics_ingest.sources.mapping import Mapped, Refused
from metrics_ingest.sources.run_notes import error_note, refusal_notes, unmatched_notes
from metrics_ingest.sources.schedules import parse_schedule

from .readings import readings_to_rates
from .samples import Collected, samples_collect

__all__ = ["Clock", "RunOver", "run_begin", "run_fail", "run_store", "runs_lose", "runs_prune"]

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
STORING: Final = timedelta(seconds=30)
"""The time that a run has for storing, on top of its timeout for asking. Afterwards another run may begin."""


class RunOver(Unavailable):
    """The refusal to store the values of a run that took too long and was given up as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """How a run ended."""

    state: RunState
    error: dict[str, Any] | None = None
    fetched: int = 0
    stored: int = 0
    unmatched: int = 0
    unmatched_names: Sequence[dict[str, Any]] = ()
    refusals: Sequence[dict[str, Any]] = ()

    @property
    def counts(self) -> dict[str, int]:
        refused = self.fetched - self.stored - self.unmatched
        return {"fetched": self.fetched, "stored": self.stored, "unmatched": self.unmatched, "refused": refused}


@write()
def run_begin(*, source_id: int, clock: Clock, lasting: timedelta) -> Run | None:
    """Claim the source for a run that asks for `lasting` at most; None unless the source is due, enabled and unclaimed.

    Of several workers with messages about the source only one gets a run, since each locks the source's row first. The
    clock is read afterwards, so that no run has begun before the one before it ended.
    """
    source = Source.objects.select_for_update().filter(pk=source_id, claim__isnull=True, enabled=True).first()
    if source is None:
        return None
    schedule, now = parse_schedule(source.schedule), clock()
    if source.due_at > now + schedule.may_begin_early_by:
        return None
    source.claim, source.claimed_until = uuid7(), now + lasting + STORING
    source.started_at, source.due_at = now, schedule.next_after(now)
    source.runs_total += 1
    source.save(update_fields=["claim", "claimed_until", "started_at", "due_at", "runs_total"])
    return Run.objects.create(source=source, claim=source.claim, started_at=now)


@write()
def run_store(*, run: Run, mapped: Mapped, now: datetime, allow_empty: bool = False, rules: str = "") -> Run:
    """Store what the run has found and end the run, both or neither; raises RunOver.

    A run of which nothing could be stored has failed, unless it was the first to read a counter. `rules` identifies
    the configuration and mapping by which counters were read.
    """
    _release(run, now)
    mapped = readings_to_rates(source_id=run.source_id, mapped=mapped, rules=rules, now=now)
    regions = Source.objects.values_list("regions", flat=True).get(pk=run.source_id)
    collected = samples_collect(samples=mapped.samples, now=now, regions=regions)
    return _end(run, _outcome(mapped, collected, allow_empty=allow_empty), now)


@write()
def run_fail(*, run: Run, error: IdcschedError, now: datetime) -> Run:
    """End a run that failed to ask its source; stored values stay as they are. Raises RunOver."""
    _release(run, now)
    return _end(run, _Outcome(state=RunState.FAILED, error=error_note(error)), now)


@write()
def runs_lose(*, now: datetime) -> int:
    """Mark the runs whose time is over as lost, and make their sources due again; return how many.

    The workers of these runs were killed or have lost the database, and will not end them.
    """
    lost = 0
    expired = Source.objects.filter(claim__isnull=False, claimed_until__lt=now).order_by("pk")
    for run in Run.objects.filter(claim__in=expired.values("claim")).order_by("source_id"):
        claimed = Source.objects.filter(pk=run.source_id, claim=run.claim)
        if not claimed.update(claim=None, claimed_until=None, due_at=now):
            continue  # the run has ended in the meantime
        error = Unavailable("run_lost", _("the worker ended before the run did"))
        _end(run, _Outcome(state=RunState.LOST, error=error_note(error)), now)
        lost += 1
    return lost


@write()
def runs_prune(*, before: datetime) -> int:
    """Delete ended runs that began before that time; return how many."""
    return Run.objects.filter(started_at__lt=before).exclude(state=RunState.RUNNING).delete()[0]


def _outcome(mapped: Mapped, collected: Collected, *, allow_empty: bool) -> _Outcome:
    error = None
    counts = Counter(refusal.reason.code for refusal in mapped.refused) + Counter(collected.refused)
    if not mapped.fetched and not allow_empty:
        error = error_note(Unavailable("nothing_found", _("the source has answered, with nothing in it")))
    elif mapped.fetched and not collected.stored and FIRST_READING not in counts:
        error = error_note(Unavailable("nothing_stored", _("nothing of what was found can be stored")))
    refused = [*mapped.refused, *(Refused.of(example.sample, example.reason) for example in collected.examples)]
    return _Outcome(
        state=RunState.SUCCEEDED if error is None else RunState.FAILED,
        error=error,
        fetched=mapped.fetched,
        stored=collected.stored,
        unmatched=mapped.unmatched.total(),
        unmatched_names=unmatched_notes(mapped),
        refusals=refusal_notes(counts, refused),
    )


def _release(run: Run, now: datetime) -> None:
    """Release the run's claim on its source; raises RunOver where the run has lost it."""
    released = Source.objects.filter(pk=run.source_id, claim=run.claim).update(claim=None, claimed_until=None)
    if not released:
        raise RunOver("run_over", _("the run has taken too long and was given up"))


def _end(run: Run, outcome: _Outcome, now: datetime) -> Run:
    for name, value in outcome.counts.items():
        setattr(run, name, value)
    run.state, run.error, run.finished_at = outcome.state, outcome.error, now
    run.refusals, run.unmatched_names = list(outcome.refusals), list(outcome.unmatched_names)
    run.save()
    _count(run, succeeded=outcome.state == RunState.SUCCEEDED, now=now)
    return run


def _count(run: Run, *, succeeded: bool, now: datetime) -> None:
    """Count the run on its source's row; record and log it where the source begins or ceases to fail."""
    source = Source.objects.select_for_update().get(pk=run.source_id)
    failing = source.failures >= FAILING_FROM
    source.failures = 0 if succeeded else source.failures + 1
    source.succeeded_at = now if succeeded else source.succeeded_at
    source.runs_failed += not succeeded
    source.samples_stored += run.stored
    source.samples_refused += run.refused
    source.save(update_fields=["failures", "succeeded_at", "runs_failed", "samples_stored", "samples_refused"])
    fails = source.failures >= FAILING_FROM
    if fails != failing:
        states = {False: "answering", True: "failing"}
        change_record(kind="source", key=source.code, before={"state": states[failing]}, after={"state": states[fails]})
        code = run.error["code"] if run.error else "ok"
        logger.log(logging.WARNING if fails else logging.INFO, "source %s is %s: %s", source.code, states[fails], code)
