"""Latest values as columns: all of a metric's, those of some IDCs, those written since."""

from collections.abc import Collection

import pytest
from django.db import connection
from django.utils import timezone

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.latest_values import NO_LINE, values_moved
from metrics_ingest.models import Latest, Metric
from metrics_ingest.services import Sample, metric_create, samples_store

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]


@pytest.fixture
def metric() -> int:
    isp_create(code="ct")
    region_create(code="A")
    for code in "ab":
        idc_create(code=code, region="A", lines=[{"isp": "ct", "purchased_mbps": 1000}])
    measured("cpu_load", "a", 0.25)
    return Metric.objects.get(code="cpu_load").pk


def measured(code: str, idc: str, value: float, line: str | None = None) -> None:
    now = timezone.now()
    samples_store(samples=[Sample(idc=idc, line=line, metric=code, value=value, at=now)], now=now)


def values(metrics: Collection[int], **which: object) -> list[float]:
    return sorted(values_moved(metrics, **which)["value"].tolist())  # type: ignore[arg-type]


def test_it_works(metric: int) -> None:
    (row,) = values_moved([metric])
    held = Latest.objects.get(metric_id=metric)
    assert (row["metric"], row["idc"], row["line"]) == (metric, held.idc_id, NO_LINE)
    assert (row["value"], row["at"]) == (0.25, held.at.timestamp())


def test_a_lines_value_names_the_line(metric: int) -> None:
    measured("bandwidth_mbps", "b", 7.0, line="ct")
    (row,) = values_moved([Metric.objects.get(code="bandwidth_mbps").pk])
    assert row["line"] == Line.objects.get(idc__code="b").pk


def test_of_some_metrics_and_idcs(metric: int) -> None:
    measured("cpu_load", "b", 0.5)
    other = metric_create(code="x", direction="lower", scope="idc").pk
    measured("x", "a", 3.0)
    a, b = Idc.objects.order_by("code").values_list("pk", flat=True)
    assert values([metric]) == [0.25, 0.5]
    assert values([metric, other]) == [0.25, 0.5, 3.0]
    assert values([metric, other], idcs=[a]) == [0.25, 3.0]
    assert values([metric], idcs=[b]) == [0.5]
    assert values([metric], idcs=[]) == []
    assert values([]) == []


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_what_was_written_since(metric: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        (since,) = cursor.fetchone()
    measured("cpu_load", "b", 0.5)
    assert values([metric], since=since) == [0.5]
    assert values([metric], since=since, idcs=Idc.objects.values_list("pk", flat=True)) == [0.25, 0.5]
