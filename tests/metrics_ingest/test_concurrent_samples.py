"""Many writers of the same values at once: none is lost, none waits for ever, the newest wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from random import Random

import numpy as np
import pytest
from django.db import connection

from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.samples.slots import unpacked
from metrics_ingest.services import Sample, samples_store

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

LINES = 20
SLOTS = 12


def on_its_own_connection(work: Callable[[], object]) -> None:
    try:
        work()
    finally:
        connection.close()


def at_once(jobs: list[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(on_its_own_connection, job) for job in jobs]:
            result.result(200)


@pytest.fixture
def lines(idc: Idc) -> list[str]:
    isp = idc.lines.get(code="ct").isp
    created = Line.objects.bulk_create(
        Line(idc=idc, code=f"l-{number}", isp=isp, purchased_mbps=1) for number in range(LINES)
    )
    return [line.code for line in created]


def test_the_newest_wins_whoever_comes_last(lines, now):
    """Every push holds one moment of all lines, in an order of its own; the value says which moment."""
    moments = [now - timedelta(seconds=30 * number) for number in range(5 * SLOTS)]
    shuffled = Random(7)

    def push(at: datetime, value: float) -> Callable[[], object]:
        order = shuffled.sample(lines, LINES)
        samples = [Sample(idc="gz-01", line=code, metric="bandwidth_mbps", value=value, at=at) for code in order]
        return lambda: samples_store(samples=samples, now=now)

    jobs = [push(at, (at - moments[-1]).total_seconds()) for at in moments]
    shuffled.shuffle(jobs)
    at_once(jobs)

    newest = (moments[0] - moments[-1]).total_seconds()
    assert set(Latest.objects.values_list("value", "at")) == {(newest, now)}
    assert Latest.objects.count() == SampleDay.objects.count() == LINES
    for day in SampleDay.objects.all():
        held = unpacked(day.values)
        assert np.nanmax(held) == newest, "the newest slot holds the newest value"
        assert np.count_nonzero(~np.isnan(held)) in {6, 7}, "and no slot was lost"
