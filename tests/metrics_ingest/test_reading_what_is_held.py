"""Storing samples reads only the rows of their values, whatever statistics PostgreSQL has about the tables.

The statistics are from its last count of the rows, which it makes by itself after many changes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.db import connection

from idcsched.inventory.models import Idc, Line
from metrics_ingest.services import Sample, metric_create, samples_store

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]

IDCS, METRICS, DAYS = 40, 5, 3
TABLES = "('metrics_ingest_latest', 'metrics_ingest_sampleday')"
READ = f"SELECT sum(idx_tup_fetch + seq_tup_read) FROM pg_stat_xact_user_tables WHERE relname IN {TABLES}"
FORGET = (
    f"DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relname IN {TABLES})",
    f"UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relname IN {TABLES}",
)
COUNT = ("ANALYZE metrics_ingest_latest, metrics_ingest_sampleday",)
MOST_READS = 4
"""The rows read for one value: its latest one, to change it and, if it is newer, to announce it; its day, to read and
change it.
"""

Push = Callable[..., None]


def said(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(READ)
        return int(cursor.fetchone()[0])


@contextmanager
def only_what_is_pushed(count: int) -> Iterator[None]:
    before = rows_read()
    yield
    assert rows_read() - before <= MOST_READS * count


@pytest.fixture(params=["idc", "line"])
def push(request: pytest.FixtureRequest, idc: Idc) -> Push:
    """A function `push(at, idcs, metrics)` that stores a value of each metric for each IDC, or for its line.

    It asserts that no more rows are read than are needed for that.
    """
    isp = idc.lines.get(code="ct").isp
    idcs = Idc.objects.bulk_create(Idc(code=f"i-{number}", region=idc.region) for number in range(IDCS))
    Line.objects.bulk_create(Line(idc=one, code="ct", isp=isp, purchased_mbps=1) for one in idcs)
    for number in range(METRICS):
        metric_create(code=f"m{number}", direction="lower", scope=request.param)
    line = "ct" if request.param == "line" else None

    def pushed(at: datetime, idcs: int = IDCS, metrics: int = METRICS) -> None:
        samples = [
            Sample(idc=f"i-{number}", line=line, metric=f"m{metric}", value=1.0, at=at)
            for number in range(idcs)
            for metric in range(metrics)
        ]
        with only_what_is_pushed(len(samples)):
            samples_store(samples=samples, now=at + timedelta(days=30))

    return pushed


def fill_and_push(push: Push, now: datetime) -> None:
    """Store several days of all values, then late values of each day, and then newer ones."""
    days = [now - timedelta(days=number) for number in reversed(range(DAYS))]
    for at in days:
        push(at)
    for at in days:
        push(at - timedelta(minutes=5))
    push(now + timedelta(minutes=5))


def test_it_works(push, now):
    """PostgreSQL has no statistics of the tables, as on an installation's first day."""
    said(*FORGET)
    fill_and_push(push, now)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(None, id="there was nothing"),
        pytest.param((1, 1), id="there was one value"),
        pytest.param((1, METRICS), id="all was about one IDC"),
        pytest.param((IDCS, 1), id="all was of one metric"),
    ],
)
def test_rows_were_counted_while(first, push, now):
    said(*FORGET)
    if first is not None:
        push(now - timedelta(days=DAYS), *first)
    said(*COUNT)
    fill_and_push(push, now)


def test_rows_were_counted_since(push, now):
    fill_and_push(push, now)
    said(*COUNT)
    push(now + timedelta(minutes=10))


def test_what_was_set_for_the_look_up_is_as_it_was(push, now):
    """The settings of the query planner that the look-up needs do not last for the rest of the transaction."""
    for at in (now, now - timedelta(minutes=5)):
        push(at)
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM pg_settings WHERE source = 'session' AND category LIKE 'Query Tuning%'")
            assert cursor.fetchall() == []
