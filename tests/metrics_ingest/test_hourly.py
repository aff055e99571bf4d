"""The traffic of lines by the hour, as shapes are learnt from it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from idcsched.inventory.models import Idc, Line
from metrics_ingest.hourly import hourly_traffic
from metrics_ingest.models import Metric
from metrics_ingest.services import history_store

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db", "in_shanghai")]

HOUR = timedelta(hours=1)


def load(line: Line, metric: Metric, start: datetime, values: np.ndarray) -> None:
    history_store(metric=metric, idc=line.idc, line=line, start=start, values=values)


def test_it_works(line: Line, bandwidth: Metric, now: datetime) -> None:
    """Two billing days and twenty hours before Wednesday 20:02 in Shanghai; each slot's value is its number."""
    start = datetime(2031, 5, 4, 16, tzinfo=UTC)  # Monday, midnight in Shanghai
    load(line, bandwidth, start, np.arange(68 * 12 + 1))
    traffic = hourly_traffic(now=now, history=timedelta(days=2, hours=22))
    assert (traffic.start, traffic.end) == (start, datetime(2031, 5, 7, 12, tzinfo=UTC))
    assert traffic.lines.tolist() == [line.pk]
    assert traffic.hours_of_week.tolist() == list(range(68))
    np.testing.assert_allclose(traffic.mbps[0], np.arange(68) * 12 + 5.5)
    assert traffic.hour(start + 1.5 * HOUR) == 1.5
    assert traffic.hour(start - HOUR) == -1


def test_gaps_are_not_zeros(idc: Idc, bandwidth: Metric, now: datetime) -> None:
    ct, cu = sorted(idc.lines.all(), key=lambda line: line.pk)
    load(ct, bandwidth, datetime(2031, 5, 7, 10, tzinfo=UTC), np.array([6.0, np.nan, 8.0]))
    load(cu, bandwidth, datetime(2031, 5, 7, 9, tzinfo=UTC), np.array([5.0]))
    traffic = hourly_traffic(now=now)
    assert traffic.lines.tolist() == [ct.pk, cu.pk]
    np.testing.assert_array_equal(traffic.mbps[:, -3:], [[np.nan, 7, np.nan], [5, np.nan, np.nan]])
    assert np.isnan(traffic.mbps[:, :-3]).all()


def test_many_lines_come_in_order(idc: Idc, bandwidth: Metric, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics_ingest.hourly.BATCH", 1)
    for line in idc.lines.all():
        load(line, bandwidth, datetime(2031, 5, 7, 11, tzinfo=UTC), np.full(12, line.pk, dtype=float))
    traffic = hourly_traffic(now=now)
    assert traffic.mbps[:, -1].tolist() == traffic.lines.tolist() == sorted(line.pk for line in idc.lines.all())


@pytest.mark.parametrize(
    ("zone", "now", "hours"),
    [
        pytest.param("Europe/Berlin", datetime(2031, 3, 31, 12, tzinfo=UTC), [0, 1, 3, 4], id="an hour is skipped"),
        pytest.param(
            "Europe/Berlin", datetime(2031, 10, 27, 12, tzinfo=UTC), [0, 1, 2, 2, 3], id="an hour comes twice"
        ),
        pytest.param("Asia/Kolkata", datetime(2031, 10, 27, 12, tzinfo=UTC), [0, 1, 2, 3], id="half an hour off"),
    ],
)
def test_hours_are_those_of_the_billing_zone(
    line: Line, bandwidth: Metric, settings: object, zone: str, now: datetime, hours: list[int]
) -> None:
    settings.BILLING_ZONE = zone
    load(line, bandwidth, now - HOUR, np.ones(12))
    traffic = hourly_traffic(now=now, history=timedelta(days=2))
    sunday = traffic.hours_of_week.tolist().index(6 * 24)
    assert [hour - 144 for hour in traffic.hours_of_week[sunday:].tolist()][: len(hours)] == hours
    assert traffic.end <= now < traffic.end + HOUR


def test_where_nothing_was_ever_measured(now: datetime) -> None:
    assert hourly_traffic(now=now).mbps.shape == (0, 39 * 24 + 20)
