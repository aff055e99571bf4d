import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import F
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

from .readings import readings_take
from .samples import Collected, samples_collect

__all__ = ["RunOver", "run_begin", "run_fail", "run_store", "runs_lose", "runs_prune"]

logger = logging.getLogger(__name__)

STORING: Final = timedelta(seconds=30)
"""What a run may take beyond the time in which it asks. Once that is over, another run may begin."""


class RunOver(Unavailable):
    """The run has taken too long, and has been given up for lost meanwhile: what it found must not be stored."""


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
def run_begin(*, source_id: int, now: datetime, lasting: timedelta) -> Run | None:
    """Claim the source for one run that asks for so long; None unless it is due, switched on, and nobody asks it.

    One statement decides, so that of two workers with the same message, or with two, one gets None.
    """
    source = Source.objects.filter(pk=source_id).first()
    if source is None:
        return None
    schedule, claim = parse_schedule(source.schedule), uuid7()
    claimed = Source.objects.filter(
        pk=source_id, claim__isnull=True, enabled=True, due_at__lte=now + schedule.early
    ).update(
        claim=claim,
        claimed_until=now + lasting + STORING,
        started_at=now,
        due_at=schedule.next_after(now),
        runs_total=F("runs_total") + 1,
    )
    if not claimed:
        return None
    return Run.objects.create(source=source, claim=claim, started_at=now)


@write()
def run_store(*, run: Run, mapped: Mapped, now: datetime, allow_empty: bool = False, rules: str = "") -> Run:
    """Store what the run has found and end it, both or neither; raises RunOver.

    A run of which nothing could be stored has failed, unless it was the first to read a counter. `rules` says by which
    configuration and mapping counters were read.
    """
    _release(run, now)
    mapped = readings_take(source_id=run.source_id, mapped=mapped, rules=rules, now=now)
    regions = Source.objects.values_list("regions", flat=True).get(pk=run.source_id)
    collected = samples_collect(samples=mapped.samples, now=now, regions=regions)
    return _end(run, _outcome(mapped, collected, allow_empty=allow_empty), now)


@write()
def run_fail(*, run: Run, error: IdcschedError, now: datetime) -> Run:
    """End a run that found nothing to store: what is stored stays as it is. Raises RunOver."""
    _release(run, now)
    return _end(run, _Outcome(state=RunState.FAILED, error=error_note(error)), now)


@write()
def runs_lose(*, now: datetime) -> int:
    """Give up the runs whose time is over, and have their sources asked again; says how many.

    Their workers were killed, or have lost the database: nobody else will end them.
    """
    lost = 0
    expired = Source.objects.filter(claim__isnull=False, claimed_until__lt=now).order_by("pk")
    for run in Run.objects.filter(claim__in=expired.values("claim")).order_by("source_id"):
        taken = Source.objects.filter(pk=run.source_id, claim=run.claim)
        if not taken.update(claim=None, claimed_until=None, due_at=now):
            continue  # it has just ended after all
        error = Unavailable("run_lost", _("the worker ended before the run did"))
        _end(run, _Outcome(state=RunState.LOST, error=error_note(error)), now)
        lost += 1
    return lost


@write()
def runs_prune(*, before: datetime) -> int:
    """Forget runs that began before then; says how many."""
    return Run.objects.filter(started_at__lt=before).exclude(state=RunState.RUNNING).delete()[0]


def _outcome(mapped: Mapped, collected: Collected, *, allow_empty: bool) -> _Outcome:
    error = None
    counts = Counter(each.reason.code for each in mapped.refused) + Counter(collected.refused)
    if not mapped.fetched and not allow_empty:
        error = error_note(Unavailable("nothing_found", _("the source has answered, with nothing in it")))
    elif mapped.fetched and not collected.stored and FIRST_READING not in counts:
        error = error_note(Unavailable("nothing_stored", _("nothing of what was found can be stored")))
    refused = [*mapped.refused, *(Refused.of(each.sample, each.reason) for each in collected.examples)]
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
    """Give the claim back, if it is still this run's."""
    kept = Source.objects.filter(pk=run.source_id, claim=run.claim).update(claim=None, claimed_until=None)
    if not kept:
        raise RunOver("run_over", _("the run has taken too long and was given up"))


def _end(run: Run, outcome: _Outcome, now: datetime) -> Run:
    for name, value in outcome.counts.items():
        setattr(run, name, value)
    run.state, run.error, run.finished_at = outcome.state, outcome.error, now
    run.refusals, run.unmatched_names = list(outcome.refusals), list(outcome.unmatched_names)
    run.save()
    _tell(run, succeeded=outcome.state == RunState.SUCCEEDED, now=now)
    return run


def _tell(run: Run, *, succeeded: bool, now: datetime) -> None:
    """Count the run on its source's row, and say so where the source begins to fail, or ceases to."""
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
        words = {False: "answering", True: "failing"}
        change_record(kind="source", key=source.code, before={"state": words[failing]}, after={"state": words[fails]})
        said = run.error["code"] if run.error else "ok"
        logger.log(logging.WARNING if fails else logging.INFO, "source %s is %s: %s", source.code, words[fails], said)
