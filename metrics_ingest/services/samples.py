from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from idcsched.accounts.roles import Principal
from idcsched.audit.writing import write
from idcsched.feed.models import Topic
from idcsched.feed.services import feed_extend
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import Idc
from idcsched.inventory.scope import idcs_within, scope_check_many
from metrics_ingest.samples.checking import Checked, Sample, samples_check
from metrics_ingest.samples.storage import batch_store

__all__ = ["MAX_COLLECTED", "MAX_SAMPLES", "Collected", "Refusal", "Sample", "samples_collect", "samples_store"]

MAX_SAMPLES: Final = 10_000
MAX_COLLECTED: Final = 100_000
EXAMPLES: Final = 3
"""How many of the samples refused for one reason are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A sample that was not stored, and why not."""

    sample: Sample
    reason: FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The result of storing samples: how many are stored, how many were refused by code, and a few examples of each.

    A refused sample counts once, by its first fault.
    """

    stored: int
    refused: Mapping[str, int]
    examples: Sequence[Refusal]


@write()
def samples_store(*, samples: Sequence[Sample], now: datetime, principal: Principal | None = None) -> int:
    """Store the samples, latest values and history, all or none; return how many were given.

    Idempotent and independent of order: an older sample never replaces a newer latest value, stored or in the same
    call. With a principal, only within its regions. Raises Invalid, with every bad sample named by its index, and
    Forbidden.
    """
    _refuse_too_many(samples, MAX_SAMPLES)
    checked = samples_check(samples, now)
    if checked.faults:
        raise Invalid.of(
            FieldError(f"/{place}{item.pointer}", item.code, item.detail, item.params)
            for place, items in checked.faults.items()
            for item in items
        )
    if principal is not None and principal.regions is not None:
        _scope_check(principal, samples)
    batch_store(checked.sound)
    _announce(samples, checked)
    return len(samples)


@write()
def samples_collect(*, samples: Sequence[Sample], now: datetime, regions: Sequence[str] | None = None) -> Collected:
    """Store the sound samples, and return what is wrong with the others: for collectors.

    Samples of IDCs outside of the regions, where some are given, are refused. Idempotent and independent of order, in
    one transaction, as `samples_store` is. Raises Invalid `too_many`.
    """
    _refuse_too_many(samples, MAX_COLLECTED)
    checked = samples_check(samples, now, None if regions is None else idcs_within(regions))
    batch_store(checked.sound)
    _announce(samples, checked)
    return _collected(samples, checked)


def _scope_check(principal: Principal, samples: Sequence[Sample]) -> None:
    """Raise Forbidden at the first sample of an IDC outside of the principal's regions."""
    first: dict[str, int] = {}
    for place, sample in enumerate(samples):
        first.setdefault(sample.idc, place)
    idcs = sorted(Idc.objects.filter(code__in=first).select_related("region"), key=lambda idc: first[idc.code])
    scope_check_many(principal, idcs, [f"/{first[idc.code]}" for idc in idcs])


def _refuse_too_many(samples: Sequence[Sample], limit: int) -> None:
    if len(samples) > limit:
        raise Invalid("too_many", _("at most {limit} samples at once"), limit=limit)


def _announce(samples: Sequence[Sample], checked: Checked) -> None:
    """Append to the feed the metrics and IDCs of which new samples are stored."""
    metrics = {sample.metric for place, sample in enumerate(samples) if place not in checked.faults}
    if metrics:
        feed_extend(topic=Topic.METRICS, keys=sorted(metrics), idcs=np.unique(checked.sound.idc).tolist())


def _collected(samples: Sequence[Sample], checked: Checked) -> Collected:
    refused: Counter[str] = Counter()
    examples = []
    for place, (reason, *_others) in checked.faults.items():
        refused[reason.code] += 1
        if refused[reason.code] <= EXAMPLES:
            examples.append(Refusal(sample=samples[place], reason=reason))
    return Collected(stored=len(samples) - len(checked.faults), refused=dict(refused), examples=examples)
