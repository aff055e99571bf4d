"""Trials of sources: a source is asked once, and nothing is stored."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from idcsched.framework.errors import IdcschedError
from idcsched.inventory.scope import idcs_within
from metrics_ingest.models import Source
from metrics_ingest.samples.checking import Sample, samples_check
from metrics_ingest.selectors import rates_since_stored
from metrics_ingest.sources.collecting import gather
from metrics_ingest.sources.mapping import Mapped, Refused
from metrics_ingest.sources.preparing import prepare

__all__ = ["SHOWN", "Trial", "source_try"]

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of a trial; `samples` are the first that would be stored, `error` is why the source gave none."""

    fetched: int = 0
    storable: int = 0
    samples: tuple[Sample, ...] = ()
    refused: tuple[Refused, ...] = ()
    refused_count: int = 0
    unmatched: tuple[tuple[str, str | None, int], ...] = ()
    unmatched_count: int = 0
    error: IdcschedError | None = None


def source_try(*, source: Source, now: datetime) -> Trial:
    """Ask the source once, even if it is not due or switched off; its failure is in the result, not raised."""
    try:
        prepared = prepare(source)
        mapped = gather(source, prepared, now=now, trial=True)
        if mapped.readings:
            rates = rates_since_stored(source_id=source.pk, readings=mapped.readings, rules=prepared.rules, now=now)
            mapped = mapped.with_rates(rates)
        within = None if source.regions is None else idcs_within(source.regions)
        return _trial(mapped, now, within)
    except IdcschedError as error:
        return Trial(error=error)


def _trial(mapped: Mapped, now: datetime, within: Collection[int] | None) -> Trial:
    faults = samples_check(mapped.samples, now, within).faults
    sound = [sample for place, sample in enumerate(mapped.samples) if place not in faults]
    refused = mapped.refused + [Refused.of(mapped.samples[place], reasons[0]) for place, reasons in faults.items()]
    return Trial(
        fetched=mapped.fetched,
        storable=len(sound),
        samples=tuple(sound[:SHOWN]),
        refused=tuple(refused[:SHOWN]),
        refused_count=len(refused),
        unmatched=tuple((idc, line, count) for (idc, line), count in mapped.unmatched.most_common(SHOWN)),
        unmatched_count=mapped.unmatched.total(),
    )
