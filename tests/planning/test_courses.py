"""A made-up period of two lines: what is known when an order comes, and what the month costs with the orders."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from idcsched.framework.capacity import Claim
from idcsched.framework.facts import MetricFact
from idcsched.framework.overlay import Allocation
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import profile, request, snapshot, world
from idcsched.planning.backtest import backtest
from idcsched.planning.bills import monthly_costs
from idcsched.planning.course import Course, as_done, run
from idcsched.planning.period import PastOrder, Period
from idcsched.planning.table import result_table
from metrics_ingest.billing.charges import Tariff

START = datetime(2031, 3, 3, tzinfo=UTC)
"""A Monday."""
DAY, HOUR = 86_400.0, 3600.0
LEAD, DAYS = 30, 30
DAILY = np.repeat([400.0] * 20 + [900.0] * 2 + [400.0] * 2, 12)
"""400 Mbps, and 900 from 20:00 to 22:00: the 95th percentile is 900."""
FLAT = np.ones(168)
IN_THE_NIGHT = np.tile([1.0] * 6 + [0.0] * 18, 7)
MONTH = {"purchased_mbps": 5000.0, "charge_type": "p95_month"}
KNOWN = world(
    {
        "cheap": {"lines": {"ct": {**MONTH, "price_per_mbps": 10}}, "stock": {"cpu": 100}, "metrics": {"x": 1}},
        "dear": {"lines": {"ct": {**MONTH, "price_per_mbps": 30}}, "metrics": {"x": 2}},
    },
    metrics=[MetricFact(code="bandwidth_mbps", scope="line", max_age=600)],
)
SNAPSHOT = snapshot(KNOWN)
BY_BILL = profile("network_flow", "resource", ("bill", "billing_cost", {"weight": 1}))
BY_X = profile("network_flow", "resource", ("x", "metric", {"weight": 1, "args": {"metric": "x"}}))


def order(number: int, day: float, *, stays: float = 100.0, mbps: float = 100, **fields: Any) -> PastOrder:
    """An order that comes some days after the lead."""
    at = START.timestamp() + (LEAD + day) * DAY
    given = {"code": f"o-{number}", "at": at, "until": at + stays * DAY, "labels": {}, "flow": FLAT}
    asked = request(SNAPSHOT, machines=[{"bandwidth_mbps": mbps, "cpu": 10}])
    return PastOrder(**{**given, "request": asked, "snapshot": lambda: SNAPSHOT, **fields})


def period(*orders: PastOrder, **changes: Any) -> Period:
    made = Period(
        lines={("cheap", "ct"): 0, ("dear", "ct"): 1},
        tariffs=tuple(
            Tariff(charge_type="p95_month", purchased_mbps=5000.0, price_per_mbps=price) for price in (10.0, 30.0)
        ),
        isps=("ct", "ct"),
        regions=("north", "south"),
        traffic=np.tile(DAILY, (2, LEAD + DAYS)).astype(np.float32),
        start=START,
        zone=ZoneInfo("UTC"),
        lead=LEAD,
        orders=orders,
        fade=5 * DAY,
        currency="CNY",
    )
    return replace(made, **changes)


def standing(idc: str, mbps: float, cpu: float = 10, machines: int = 1) -> Allocation:
    claims = (
        Claim(resource="bandwidth_mbps", amount=mbps, line="ct"),
        Claim(resource="cpu", amount=cpu),
    )
    return Allocation(idc=idc, claims=claims, tenant="cn", business="live", machines=machines)


def test_it_works() -> None:
    """Each line carries 900 Mbps without the order. The order of 100 Mbps adds 1,000 CNY on the cheap line, 3,000 on
    the dear one.
    """
    known = period(order(1, 0.0))
    result = backtest(known, {"bill": BY_BILL, "dear": BY_X})
    assert (result.without_orders, result.days, result.orders, result.done) == (900 * 10 + 900 * 30, 30, 1, None)
    assert [(course.name, course.added) for course in result.courses] == [("bill", 1000.0), ("dear", 3000.0)]
    assert result.courses[0].by_charge_type == {"p95_month": 1000.0}
    assert [course.by_region for course in result.courses] == [{"north": 1000.0}, {"south": 3000.0}]
    assert "bill         1,000             33%" in result_table(result)


@pytest.mark.parametrize(
    ("flow", "day", "stays", "added"),
    [
        pytest.param(FLAT, 0.0, 100.0, 1000, id="all month"),
        pytest.param(IN_THE_NIGHT, 0.0, 100.0, 0, id="in the night the line is far below its percentile"),
        pytest.param(0.5 * FLAT, 0.0, 100.0, 500, id="half of it flows"),
        pytest.param(FLAT, 29.5, 100.0, 0, id="one evening of thirty: what is dropped"),
        pytest.param(FLAT, 0.0, 0.5, 0, id="gone before the first evening"),
    ],
)
def test_what_flows_is_billed(flow: Any, day: float, stays: float, added: float) -> None:
    (course,) = backtest(period(order(1, day, stays=stays, flow=flow)), {"bill": BY_BILL}).courses
    assert course.added == pytest.approx(added, abs=0.01)


PAPER: tuple[tuple[Tariff, float], ...] = (
    (Tariff(charge_type="p95_month", purchased_mbps=5000.0, price_per_mbps=10.0), 8000.0),
    (Tariff(charge_type="fourth_peak_month", purchased_mbps=5000.0, price_per_mbps=10.0), 8000.0),
    (Tariff(charge_type="daily_peak_average", purchased_mbps=5000.0, price_per_mbps=0.5), 9100.0),
    (Tariff(charge_type="volume", purchased_mbps=5000.0, price_per_gb=0.1), 17_226.0),
    (Tariff(charge_type="fixed", purchased_mbps=5000.0, price_per_mbps=10.0), 0.0),
)


@pytest.mark.parametrize(("tariff", "added"), [pytest.param(*each, id=each[0].charge_type) for each in PAPER])
def test_ten_orders_cost_what_paper_says(tariff: Tariff, added: float) -> None:
    """Ten orders of 100 Mbps on a line that carries 400 Mbps: four all month, three for ten days, two for the day after
    the third, and one from 00:00 to 06:00 all month.

    So the line carries 1,100 Mbps for ten days and 800 afterwards, 100 more in the nights, 200 more on the fourth day.
    Of 8,640 values the highest 432 are dropped: 72 of 1,400, 216 of 1,300, and 144 of the 648 of 1,200, which is
    billed. The peaks are one of 1,400, nine of 1,200 and twenty of 900: the fourth is 1,200, their mean 1,006.67, at
    0.5 CNY a day. By volume, 382,800 Mbps hours are 172,260 GB. In truth they stood on the other line, for 8,000, too.
    """
    whole = [order(number, 0.0) for number in range(4)]
    ten_days = [order(4 + number, 0.0, stays=10.0) for number in range(3)]
    one_day = [order(7 + number, 3.0, stays=1.0) for number in range(2)]
    placed = [*whole, *ten_days, order(9, 0.0, flow=IN_THE_NIGHT), *one_day]
    known = period(
        *(replace(one, done=(standing("cheap", 100),)) for one in placed),
        tariffs=(PAPER[0][0], tariff),
        traffic=np.full((2, (LEAD + DAYS) * 288), 400.0, dtype=np.float32),
    )
    result = backtest(known, {"dear": BY_X})
    (course,) = result.courses
    assert (course.added, course.by_charge_type, course.unplaced) == (added, {tariff.charge_type: added}, 0)
    assert result.done is not None
    assert result.done.added == 8000.0
    assert [(way.origin, way.target, way.orders, way.mbps) for way in course.ways] == [
        (("cheap",), ("dear",), 10, 1000)
    ]


def test_an_order_sees_where_the_earlier_ones_stand() -> None:
    first, second = order(1, 0.0), order(2, 2.5, stays=10)
    course = Course(period(first, second))
    course.take(first, [standing("cheap", 100)])
    seen = course.seen_by(second)
    cheap, dear = (seen.idcs.row_of[code] for code in ("cheap", "dear"))
    assert latest(seen) == {"cheap": 500.0, "dear": 400.0}, "at noon, with what flows of the first"
    assert seen.lines.percentile[[cheap, dear]].tolist() == [900.0, 900.0], "of seven days; the first came two ago"
    assert seen.lines.pending[[cheap, dear]].tolist() == [50.0, 0.0], "it has faded by half"
    assert seen.lines.ordered[cheap] == 100.0
    assert seen.stock.left["cpu"][cheap] == 90
    assert [(fact.idc, fact.machines) for fact in seen.headcounts.facts] == [("cheap", 1)]
    assert seen.history is not None
    assert seen.history.weekday == (START.weekday() + 2) % 7
    assert seen.history.hours[cheap, -48:-24].tolist() == [500.0] * 20 + [1000.0] * 2 + [500.0] * 2
    assert seen.history.hours[cheap, 0] == 400.0
    assert np.flatnonzero(seen.lines.busiest_of(np.array([dear]))[0]).tolist() == [
        day * 24 + hour for day in range(7) for hour in (20, 21)
    ]


def test_after_a_week_the_percentile_has_moved() -> None:
    first, second = order(1, 0.0), order(2, 7.5)
    course = Course(period(first, second))
    course.take(first, [standing("cheap", 100)])
    seen = course.seen_by(second)
    assert seen.lines.percentile.tolist() == [1000.0, 900.0]
    assert seen.lines.pending.tolist() == [0.0, 0.0]


def latest(seen: Snapshot) -> dict[str, float]:
    return dict(zip(seen.idcs.codes, seen.metrics["bandwidth_mbps"].values.tolist(), strict=True))


def test_an_order_that_has_left_is_no_longer_seen() -> None:
    first, second = order(1, 0.0, stays=1.0), order(2, 2.0)
    course = Course(period(first, second))
    course.take(first, [standing("cheap", 100)])
    seen = course.seen_by(second)
    assert latest(seen)["cheap"] == 400.0
    assert (seen.lines.pending.max(), seen.stock.left["cpu"].tolist()[0], seen.headcounts.facts) == (0.0, 100.0, ())


def test_before_the_period_nothing_is_known() -> None:
    early = order(1, -LEAD + 3.0)
    seen = Course(period(early)).seen_by(early)
    assert seen.history is not None
    assert np.isnan(seen.history.hours[0, : 27 * 24]).all()
    assert seen.lines.percentile[0] == 900.0


def test_what_an_order_took_in_truth_is_given_back() -> None:
    """The recorded stock and machines include orders where they really went. A course gives these back, and counts each
    order where the course puts it.
    """
    taken = world(
        {
            "cheap": {"lines": {"ct": MONTH}, "stock": {"cpu": 100}, "taken": {"cpu": 30}},
            "dear": {"lines": {"ct": MONTH}},
        },
        metrics=[MetricFact(code="bandwidth_mbps", scope="line", max_age=600)],
    )
    first = order(1, 0.0, done=(standing("cheap", 100),))
    second = order(2, 1.0, snapshot=lambda: snapshot(taken))
    course = Course(period(first, second))
    course.take(first, [standing("dear", 100)])
    assert course.seen_by(second).stock.left["cpu"][0] == 100 - 30 + 10
    assert [fact.idc for fact in course.seen_by(second).headcounts.facts] == ["dear"]


def test_what_was_done_is_billed_beside() -> None:
    known = period(order(1, 0.0, done=(standing("dear", 100),)), order(2, 1.0, done=(standing("cheap", 100),)))
    result = backtest(known, {"bill": BY_BILL})
    assert result.done is not None
    assert (result.done.added, result.done.moved) == (4000.0, 0)
    assert (result.courses[0].added, result.courses[0].moved) == (2000.0, 1)
    assert "elsewhere" in result_table(result)


def test_an_order_that_fits_nowhere_and_one_that_the_policy_cannot_decide() -> None:
    named = request(SNAPSHOT, machines=[{"bandwidth_mbps": 1}], weights={"nobody": 3})
    known = period(order(1, 0.0, mbps=99_999), order(2, 1.0, request=named), order(3, 2.0))
    (course,) = backtest(known, {"bill": BY_BILL}).courses
    assert (course.unplaced, course.failed, course.added) == (1, 1, 1000.0)


def test_congestion_is_what_is_above_the_purchased() -> None:
    """An order of 4,500 Mbps and the 900 of each evening exceed the purchased 5,000, in 2 of 24 hours, on one line of
    two.
    """
    known = period(order(1, 0.0, done=(standing("cheap", 4500),)))
    result = backtest(known, {})
    assert result.done is not None
    assert result.done.congested == pytest.approx(10_000 * 2 / 24 / 2, abs=0.5)


def test_progress_is_told_after_each_order() -> None:
    told: list[int] = []
    backtest(period(order(1, 0.0), order(2, 1.0)), {"a": BY_BILL, "b": BY_BILL}, progress=lambda: told.append(1))
    assert len(told) == 4


def test_the_course_that_was_taken_has_the_traffic_that_was_measured() -> None:
    known = period(order(1, 0.0, done=(standing("cheap", 100),)))
    assert (as_done(known).traffic[0] - known.traffic[0]).max() == 100
    assert run(known, BY_BILL).placed["o-1"][0].idc == "cheap"


@pytest.mark.parametrize(
    ("charge_type", "terms", "expected"),
    [
        pytest.param("p95_month", {}, 9000, id="percentile"),
        pytest.param("p95_month", {"commit_mbps": 1000.0}, 10_000, id="commit"),
        pytest.param("fourth_peak_month", {}, 9000, id="fourth peak"),
        pytest.param("daily_peak", {}, 9000 * 30, id="daily peak: of 30 days"),
        pytest.param("daily_peak_average", {}, 9000 * 30, id="average of daily peaks: of 30 days"),
        pytest.param("volume", {"price_per_gb": 1.0}, (22 * 400 + 2 * 900) / 24 * 324, id="volume: of 30 days"),
        pytest.param("fixed", {}, 50_000, id="flat rate"),
    ],
)
@pytest.mark.parametrize("days", [15, 30, 40, 90])
def test_bills_are_those_of_thirty_days(charge_type: str, terms: dict[str, float], expected: float, days: int) -> None:
    tariff = Tariff(charge_type=charge_type, purchased_mbps=5000.0, price_per_mbps=10.0, **terms)
    known = period(tariffs=(tariff, tariff), traffic=np.tile(DAILY, (2, LEAD + days)).astype(np.float32))
    assert monthly_costs(known, np.array([1]), known.traffic[1:]).tolist() == pytest.approx([expected])


def test_a_line_without_a_price_costs_nothing_that_is_known() -> None:
    known = period(tariffs=(Tariff(charge_type="p95_month", purchased_mbps=1.0),) * 2)
    assert np.isnan(monthly_costs(known, np.array([0, 1]), known.traffic)).all()
    assert backtest(known, {}).without_orders == 0.0
