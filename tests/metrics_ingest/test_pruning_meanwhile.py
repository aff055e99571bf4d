"""Old samples go while others write: nobody waits long, and nothing goes that may stay."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event

import numpy as np
import pytest
from django.db import connection

from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Metric, SampleDay
from metrics_ingest.samples.slots import SLOT, day_number, slot_floor, slot_of_day, unpacked
from metrics_ingest.services import Sample, history_prune, history_store, pruning, rollups_refresh, samples_store

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]

LINES, DAYS_THERE, PUSHES = 20, 60, 12
BOUNDARY = timedelta(days=40)


@pytest.fixture
def lines(idc: Idc, now: datetime) -> list[Line]:
    """Lines with sixty days of history each, of which twenty are to be deleted."""
    isp = idc.lines.get(code="ct").isp
    found = Line.objects.bulk_create(
        Line(idc=idc, code=f"l-{number}", isp=isp, purchased_mbps=1) for number in range(LINES)
    )
    metric = Metric.objects.get(code="bandwidth_mbps")
    for line in found:
        start = slot_floor(now) - timedelta(days=DAYS_THERE)
        values = np.ones(DAYS_THERE * 288, dtype=np.float32)
        history_store(metric=metric, idc=idc, line=line, start=start, values=values)
    return found


def impatient(work: Callable[[], object]) -> None:
    """Do the work on a connection that fails if it waits for a lock longer than a minute."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '60s'")
        work()
    finally:
        connection.close()


def times(now: datetime, number: int) -> tuple[datetime, datetime]:
    """Return a time near now and one near the oldest that samples may have; each number has its own slots."""
    return now - number * SLOT, now - BOUNDARY + timedelta(minutes=10) + number * SLOT


def push(lines: list[Line], now: datetime, number: int) -> Callable[[], object]:
    samples = [
        Sample(idc="gz-01", line=line.code, metric="bandwidth_mbps", value=100.0 + number, at=at)
        for line in lines
        for at in times(now, number)
    ]
    return lambda: samples_store(samples=samples, now=now)


def test_it_works(lines: list[Line], now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the oldest days are deleted, others store the newest and the oldest samples that may come, and refresh
    roll-ups.
    """
    monkeypatch.setattr(pruning, "STEP", 25)
    over = Event()

    def prune() -> None:
        while not over.is_set():
            history_prune(now=now)

    with ThreadPoolExecutor(10) as pool:
        pruners = [pool.submit(impatient, prune) for _ in range(2)]
        work = [push(lines, now, number) for number in range(PUSHES)] + [lambda: rollups_refresh(now=now)] * 3
        for each in [pool.submit(impatient, each) for each in work]:
            each.result(200)
        over.set()
        for each in pruners:
            each.result(200)

    history_prune(now=now)
    first = (now - BOUNDARY).date()
    held = SampleDay.objects.filter(line__in=lines)
    assert held.order_by("day").first().day == first
    assert held.count() == LINES * (day_number(now.date()) - day_number(first) + 1)
    found = {(row.line_id, row.day): unpacked(row.values) for row in held}
    for number in range(PUSHES):
        for day, slot in map(slot_of_day, times(now, number)):
            assert {found[line.pk, day][slot] for line in lines} == {100.0 + number}
