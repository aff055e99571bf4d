"""A year of samples and daily figures in a database that has a fleet, and what they weigh."""

from collections.abc import Callable
from datetime import date, timedelta
from time import perf_counter
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from idcsched.framework.capacity import BANDWIDTH
from idcsched.inventory.models import Line
from idcsched.scheduling.models import Decision, Picture
from metrics_ingest.models import BandwidthDay, Metric, SampleDay
from metrics_ingest.samples.slots import SLOTS_A_DAY, packed
from metrics_ingest.services import history_prune

__all__ = ["decisions", "stored"]

DAYS, FIGURE_DAYS = 365, 400


def decisions() -> dict[str, float]:
    """How many decisions are on record, and what they weigh with what they were made on."""
    return {
        "decisions": Decision.objects.count(),
        "decision_bytes": weight(Decision),
        "archive_bytes": weight(Picture),
    }


def stored() -> dict[str, float]:
    """Fill the database with samples and daily figures, weigh them, and delete what is too old."""
    now = timezone.now()
    samples = _fill_samples(now.date()) * SLOTS_A_DAY
    days = _fill_days(now.date())
    found = {
        "samples": samples,
        "sample_bytes": weight(SampleDay) / samples,
        "days": days,
        "day_bytes": weight(BandwidthDay) / days,
        "year_mb": weight(SampleDay) / 1e6,
    }
    pruned, seconds = _timed(lambda: history_prune(now=now))
    found |= {"pruned_rows": pruned, "pruned_s": seconds}
    pruned, seconds = _timed(lambda: history_prune(now=now + timedelta(days=1)))
    return found | {"day_pruned_rows": pruned, "day_pruned_s": seconds, **_vacuumed(SampleDay)}


def _fill_samples(today: date) -> int:
    random, metric = np.random.default_rng(1), Metric.objects.get(code=BANDWIDTH)
    lines = list(Line.objects.all())
    for ago in range(DAYS):
        values = random.uniform(50, 900, (len(lines), SLOTS_A_DAY)).astype("<f4")
        SampleDay.objects.bulk_create(
            SampleDay(metric=metric, idc_id=line.idc_id, line=line, day=today - timedelta(days=ago), values=packed(own))
            for line, own in zip(lines, values, strict=True)
        )
    return SampleDay.objects.count()


def _fill_days(today: date) -> int:
    figures = {"peak_mbps": 900.0, "fifth_mbps": 880.0, "p95_mbps": 850.0, "mean_mbps": 475.0}
    BandwidthDay.objects.bulk_create(
        (
            BandwidthDay(line=line, day=today - timedelta(days=ago), covered_slots=SLOTS_A_DAY, **figures)
            for ago in range(FIGURE_DAYS)
            for line in Line.objects.all()
        ),
        batch_size=5000,
    )
    return BandwidthDay.objects.count()


def weight(model: type[Model]) -> int:
    """The bytes of a table with its indexes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size(%s)", [model._meta.db_table])
        return int(cursor.fetchone()[0])


def _vacuumed(model: type[Model]) -> dict[str, float]:

    with connection.cursor() as cursor:
        _, seconds = _timed(lambda: cursor.execute(f"VACUUM {model._meta.db_table}"))
    return {"vacuum_s": seconds}


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = perf_counter()
    done = act()
    return done, round(perf_counter() - begun, 2)
