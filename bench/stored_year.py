"""Samples, daily figures and records in a database that has a fleet: what they weigh, and what deleting them takes."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from idcsched.framework.capacity import BANDWIDTH
from idcsched.inventory.models import Line
from idcsched.scheduling.models import Decision, IdcOutcome, Picture
from idcsched.scheduling.services import decisions_expire
from metrics_ingest.models import BandwidthDay, Metric, SampleDay
from metrics_ingest.samples.checking import KEPT
from metrics_ingest.samples.slots import SLOTS_A_DAY, packed
from metrics_ingest.services import history_prune

__all__ = ["decisions", "kept", "stored"]

DAYS, FIGURE_DAYS = 365, 400
KEPT_DAYS = KEPT.days + 1
READS, WRITTEN, ROUNDS = 200, 10_000, 5
PLAIN, PARTS = "metrics_ingest_sampleday", "bench_sampleday"
COPIED = f"""
    INSERT INTO {PLAIN} (metric_id, idc_id, line_id, day, values)
    SELECT metric_id, idc_id, line_id, day - %s, values FROM {PLAIN} WHERE day = %s
"""
PARTITIONED = f"""
    CREATE TABLE {PARTS} (LIKE {PLAIN} INCLUDING DEFAULTS) PARTITION BY RANGE (day);
    CREATE UNIQUE INDEX ON {PARTS} (metric_id, line_id, day) WHERE line_id IS NOT NULL;
    CREATE UNIQUE INDEX ON {PARTS} (metric_id, idc_id, day) WHERE line_id IS NULL
"""
"""A twin with a part for each day; an index by day is not needed then."""
A_LINES_DAYS = "SELECT day, values FROM {table} WHERE metric_id = %s AND line_id = %s AND day >= %s"
A_DAYS_LINES = """
    INSERT INTO {table} (id, metric_id, idc_id, line_id, day, values)
    SELECT id, metric_id, idc_id, line_id, day, values FROM {table} WHERE day = %s ORDER BY id LIMIT %s
    ON CONFLICT (metric_id, line_id, day) WHERE line_id IS NOT NULL DO UPDATE SET values = excluded.values
"""


def decisions() -> dict[str, float]:
    """How many decisions are on record, what they weigh with what they were made on, and how soon they are deleted."""
    found: dict[str, float] = {
        "decisions": Decision.objects.count(),
        "decision_bytes": weight(Decision),
        "archive_bytes": weight(Picture),
        "outcomes": IdcOutcome.objects.count(),
        "outcome_bytes": weight(IdcOutcome),
    }
    expired, seconds = _timed(lambda: decisions_expire(before=timezone.now()))
    return found | {"expired": expired, "expired_s": seconds, "outcomes_vacuum_s": _vacuumed(IdcOutcome)}


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
    return found | {"day_pruned_rows": pruned, "day_pruned_s": seconds, "vacuum_s": _vacuumed(SampleDay)}


def kept() -> dict[str, float]:
    """Fill the database with the days of samples that are kept, and delete the oldest; beside it with partitions."""
    today, settled = timezone.now().date(), {"kept_days": float(KEPT.days), "fleet_lines": float(Line.objects.count())}
    _fill_samples(today, days=1)
    with connection.cursor() as cursor:
        for ago in range(1, KEPT_DAYS + 1):
            cursor.execute(COPIED, [ago, today])
        cursor.execute(PARTITIONED)
        for ago in range(KEPT_DAYS + 1):
            day = today - timedelta(days=ago)
            cursor.execute(
                f"CREATE TABLE {_part(day)} PARTITION OF {PARTS} FOR VALUES FROM (%s) TO (%s)",
                [day, day + timedelta(days=1)],
            )
        cursor.execute(f"INSERT INTO {PARTS} SELECT * FROM {PLAIN}")
        for table in (PLAIN, PARTS):
            cursor.execute(f"VACUUM ANALYZE {table}")
    settled |= {"kept_rows": SampleDay.objects.count(), "kept_mb": weight(SampleDay) / 1e6}
    reads = _in_turns(_read_lines, today)
    writes = _in_turns(_write_lines, today)
    pruned, seconds = _timed(lambda: history_prune(now=timezone.now()))
    settled |= {"kept_day_pruned_rows": pruned, "kept_day_pruned_s": seconds, "kept_vacuum_s": _vacuumed(SampleDay)}
    with connection.cursor() as cursor:
        oldest = _part(today - timedelta(days=KEPT_DAYS))
        _, seconds = _timed(lambda: cursor.execute(f"DROP TABLE {oldest}"))
    return settled | {"part_dropped_s": seconds, "part_reads": reads, "part_writes": writes, "part_written": WRITTEN}


def _part(day: date) -> str:
    return f"{PARTS}_{day:%Y%m%d}"


def _in_turns(act: Callable[[str, date, int], None], today: date) -> float:
    """How many times as long it takes with partitions, at best."""
    took = [[_timed(partial(act, table, today, turn))[1] for table in (PLAIN, PARTS)] for turn in range(ROUNDS)]
    plain, parts = (min(each) for each in zip(*took, strict=True))
    return round(parts / plain, 2)


def _read_lines(table: str, today: date, turn: int) -> None:
    """The days of a line, as its page and its bill read them."""
    metric, lines = Metric.objects.get(code=BANDWIDTH), Line.objects.order_by("pk").values_list("pk", flat=True)
    with connection.cursor() as cursor:
        for line in lines[turn * READS : (turn + 1) * READS]:
            cursor.execute(A_LINES_DAYS.format(table=table), [metric.pk, line, today - KEPT])
            cursor.fetchall()


def _write_lines(table: str, today: date, turn: int) -> None:
    """A new value of many lines, as they come every five minutes."""
    with connection.cursor() as cursor:
        cursor.execute(A_DAYS_LINES.format(table=table), [today, WRITTEN])


def _fill_samples(today: date, days: int = DAYS) -> int:
    random, metric = np.random.default_rng(1), Metric.objects.get(code=BANDWIDTH)
    lines = list(Line.objects.all())
    for ago in range(days):
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


def _vacuumed(model: type[Model]) -> float:
    with connection.cursor() as cursor:
        return _timed(lambda: cursor.execute(f"VACUUM {model._meta.db_table}"))[1]


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = perf_counter()
    done = act()
    return done, round(perf_counter() - begun, 3)
