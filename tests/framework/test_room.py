"""How much is used and how much room is left: one function for whoever filters, scores, counts or claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.billing import monthly_price
from idcsched.framework.capacity import Usage, demand, headroom, purchase, room, shortfall, used_bandwidth
from idcsched.framework.testing import LineSpec, snapshot, world

NAN = float("nan")


def line_room(line: LineSpec, usage: Usage | None = None) -> tuple[float, float]:
    """(used, room) of an IDC's only line in a snapshot."""
    lines = snapshot(world({"a": {"lines": {"ct": line}}}, usage=usage)).lines
    return float(lines.used[0]), float(lines.room[0])


def test_it_works() -> None:
    line: LineSpec = {
        "purchased_mbps": 1000,
        "max_level": 0.8,
        "used_mbps": 300,
        "percentile_mbps": 250,
        "pending_mbps": 40,
    }
    assert line_room(line) == (300, 460)


@pytest.mark.parametrize(
    ("latest", "percentile", "used"),
    [
        pytest.param(300, 250, 300, id="the latest value, if it is the larger"),
        pytest.param(200, 250, 250, id="the percentile, if it is the larger"),
        pytest.param(200, NAN, 200, id="without a history the latest value"),
        pytest.param(NAN, 250, 250, id="without a latest value the percentile"),
        pytest.param(NAN, NAN, NAN, id="nothing ever seen is unknown"),
        pytest.param(0, NAN, 0, id="nothing flowing is not nothing known"),
    ],
)
def test_used(latest: float, percentile: float, used: float) -> None:
    assert used_bandwidth(np.array([latest]), np.array([percentile])).tolist() == pytest.approx([used], nan_ok=True)


@pytest.mark.parametrize(
    ("count", "used", "pending", "ordered", "expected"),
    [
        pytest.param("monitored", 300, 40, 900, (300, 40), id="monitored: used + pending, whatever was ordered"),
        pytest.param("ordered", 300, 40, 900, (900, 0), id="ordered: the orders, if they are more"),
        pytest.param("ordered", 300, 40, 200, (300, 0), id="ordered: what is used, if that is more"),
        pytest.param("ordered", NAN, 40, 200, (NAN, 0), id="ordered: unknown stays unknown"),
    ],
)
def test_how_an_installation_counts(
    count: str, used: float, pending: float, ordered: float, expected: tuple[float, float]
) -> None:
    columns = (np.array([value], dtype=np.float64) for value in (used, pending, ordered))
    found = demand(*columns, Usage(count=count))
    assert [float(column[0]) for column in found] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("purchased", "max_level", "used", "pending", "expected"),
    [
        (1000, 0.9, 300, 0, 600),
        (1000, 0.9, 300, 100, 500),
        (1000, 1.0, 300, 0, 700),
        (1000, 0.9, 950, 0, -50),
        (0.3, 0.9, 0.1, 0.07, 0.1),
    ],
)
def test_room(purchased: float, max_level: float, used: float, pending: float, expected: float) -> None:
    assert room(purchased, max_level, used, pending) == expected


def test_headroom_is_a_share_of_what_was_purchased() -> None:
    assert headroom(np.array([250.0, -100.0]), np.array([1000.0, 500.0])).tolist() == [0.25, -0.2]


def test_headroom_of_a_line_that_has_nothing_is_none() -> None:
    assert headroom(np.array([0.0, -5.0]), np.array([0.0, 0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("need", "free", "told"),
    [
        pytest.param(400, 320, (320, 80), id="how far off"),
        pytest.param(400, -20, (0, 420), id="what is taken too much is lacking, too"),
        pytest.param(100, 99.9999, (99.999, 0.001), id="what is free is rounded down"),
        pytest.param(2, 1.001, (1.001, 0.999), id="… but not further down than it is"),
    ],
)
def test_shortfall(need: float, free: float, told: tuple[float, float]) -> None:
    assert shortfall(need, free) == {"need": need, "free": told[0], "short_by": told[1]}


@pytest.mark.parametrize(
    ("short_by", "max_level", "mbps"),
    [
        pytest.param(90, 0.9, 100, id="so that the line's level leaves as much"),
        pytest.param(100, 0.9, 111.112, id="rounded up"),
        pytest.param(0, 0.9, 0, id="nothing"),
    ],
)
def test_what_must_be_purchased(short_by: float, max_level: float, mbps: float) -> None:
    assert purchase(short_by, max_level) == mbps


@given(st.floats(0, 1e7))
def test_a_shortfall_never_shows_more_than_there_is(free: float) -> None:
    shown = shortfall(0, free)["free"]
    assert free - 0.001 - 1e-6 <= shown <= free + 1e-6


@pytest.mark.parametrize(
    ("line", "usage", "expected"),
    [
        pytest.param({"used_mbps": 100}, Usage(), 800, id="90 % unless the installation says otherwise"),
        pytest.param({"used_mbps": 100}, Usage(max_level=0.5), 400, id="the installation's level"),
        pytest.param({"used_mbps": 100, "max_level": 0.7}, Usage(max_level=0.5), 600, id="the line's own before it"),
        pytest.param({"used_mbps": 100, "ordered_mbps": 300}, Usage(), 800, id="monitored"),
        pytest.param(
            {"used_mbps": 100, "ordered_mbps": 300, "pending_mbps": 50}, Usage(count="ordered"), 600, id="ordered"
        ),
        pytest.param({}, Usage(), NAN, id="unknown"),
    ],
)
def test_room_of_a_line(line: LineSpec, usage: Usage, expected: float) -> None:
    assert line_room(line, usage)[1] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("charge_type", "per_mbps", "per_gb", "expected"),
    [
        pytest.param("p95_month", 25.0, None, 25.0, id="a monthly price as it is"),
        pytest.param("fourth_peak_month", 25.0, None, 25.0, id="so the fourth peak's"),
        pytest.param("enhanced_95", 25.0, None, 25.0, id="so the enhanced 95th's"),
        pytest.param("fixed", 25.0, None, 25.0, id="so a flat rate's"),
        pytest.param("daily_peak", 1.5, None, 45.0, id="a daily price times 30"),
        pytest.param("daily_peak_average", 1.5, None, 45.0, id="so the average's"),
        pytest.param("volume", None, 0.5, 81.0, id="a price per GB times 162"),
        pytest.param("volume", 25.0, None, None, id="a volume line without a price per GB has none"),
        pytest.param("p95_month", None, 0.5, None, id="the others without a price per Mbps have none"),
    ],
)
def test_monthly_price(charge_type: str, per_mbps: float | None, per_gb: float | None, expected: float | None) -> None:
    assert monthly_price(charge_type, per_mbps, per_gb) == expected


@pytest.mark.parametrize(
    ("left", "purchased", "share"),
    [
        pytest.param(300.0, 600.0, 0.5, id="a share"),
        pytest.param(300.0, 0.0, 0.0, id="nothing was purchased"),
        pytest.param(-60.0, 600.0, -0.1, id="overfull"),
    ],
)
def test_headroom_of_one_line(left: float, purchased: float, share: float) -> None:
    assert headroom(left, purchased) == share
