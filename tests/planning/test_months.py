"""The months of lines while orders go from one to another: what holds whatever flows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.labels import Rows
from idcsched.framework.monthly_bill import HOURS_A_MONTH
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import LineSpec, snapshot, world
from idcsched.planning.shifts import Months, Shift

TERMS: tuple[LineSpec, ...] = (
    {"charge_type": "p95_month", "price_per_mbps": 30.0},
    {"charge_type": "p95_month", "price_per_mbps": 20.0, "commit_mbps": 500.0},
    {"charge_type": "daily_peak", "price_per_mbps": 1.0},
    {"charge_type": "daily_peak_average", "price_per_mbps": 1.0, "commit_mbps": 300.0},
    {"charge_type": "fourth_peak_month", "price_per_mbps": 25.0},
    {"charge_type": "enhanced_95", "price_per_mbps": 25.0},
    {"charge_type": "volume", "price_per_gb": 0.1},
    {"charge_type": "fixed", "price_per_mbps": 10.0},
)


def fleet(seed: int, **more: Any) -> Snapshot:
    """A line of each kind of contract; each has carried something else in each hour."""
    rng = np.random.default_rng(seed)
    lines: dict[str, Mapping[str, Any]] = {
        f"line-{number}": {
            "isp": "ct",
            "purchased_mbps": 2000.0,
            "used_mbps": 500.0,
            "history": rng.uniform(100, 800, HOURS_A_MONTH).round().tolist(),
            **terms,
            **more,
        }
        for number, terms in enumerate(TERMS)
    }
    return snapshot(world({code: {"lines": {"ct": line}} for code, line in lines.items()}))  # type: ignore[typeddict-item]


def rows(*numbers: int) -> Rows:
    return np.array(numbers, dtype=np.intp)


@given(st.integers(0, 999), st.permutations(range(len(TERMS))), st.integers(0, 400), st.integers(0, 720), st.booleans())
@settings(max_examples=60, deadline=None)
def test_moving_back_gives_the_old_bills(seed: int, order: list[int], mbps: int, seen: int, shaped: bool) -> None:
    """After the move the order's own traffic is in all hours of the lines that it went to."""
    left, used = rows(*order[:2]), rows(*order[2:4])
    shape = np.random.default_rng(seed).uniform(0, 1, HOURS_A_WEEK) if shaped else None
    there = Shift(left=left, used=used, mbps=mbps, shape=shape, seen=seen, pending=0.0)
    back = Shift(left=used, used=left, mbps=mbps, shape=shape, seen=HOURS_A_MONTH, pending=0.0)
    months = Months(fleet(seed))
    before = months.bills(there)
    saves = months.saves(there)
    months.make(there)
    after = months.bills(back)
    assert before is not None
    assert after is not None
    swapped = np.r_[2, 3, 0, 1]
    assert after.without[swapped] == pytest.approx(before.without, abs=0.01)
    assert after.with_order[swapped] == pytest.approx(before.with_order, abs=0.01)
    assert months.saves(back) == pytest.approx(-saves, abs=0.02)


def test_a_line_that_was_hardly_measured_has_no_month() -> None:
    gap = [np.nan] * (HOURS_A_MONTH - 24) + [400.0] * 24
    months = Months(fleet(1, history=gap))
    assert months.saves(Shift(left=rows(0), used=rows(1), mbps=100, shape=None, seen=0, pending=0.0)) is None


def test_without_a_history_there_are_no_months() -> None:
    bare = snapshot(world({code: {"lines": {"ct": {"price_per_mbps": 3.0}}} for code in "ab"}))
    months, shift = Months(bare), Shift(left=rows(0), used=rows(1), mbps=100, shape=None, seen=0, pending=0.0)
    months.make(shift)
    assert months.bills(shift) is None


def test_what_stays_on_its_lines_changes_nothing() -> None:
    shift = Shift(left=rows(), used=rows(), mbps=100, shape=None, seen=0, pending=0.0)
    months = Months(fleet(1))
    months.make(shift)
    assert months.saves(shift) is None


def test_what_is_pending_flows_in_both_bills() -> None:
    """Of the 150 Mbps pending here, 100 are the order's own: without it 50 flow on top of what was measured."""
    month: LineSpec = {"price_per_mbps": 30.0, "used_mbps": 400.0, "history": [400.0] * HOURS_A_MONTH}
    pending: LineSpec = {**month, "pending_mbps": 150.0}
    known = snapshot(world({"a": {"lines": {"ct": pending}}, "b": {"lines": {"ct": month}}}))
    bills = Months(known).bills(Shift(left=rows(0), used=rows(1), mbps=100, shape=None, seen=0, pending=100.0))
    assert bills is not None
    assert bills.without.tolist() == [450 * 30, 400 * 30]
    assert bills.with_order.tolist() == [550 * 30, 500 * 30]


@given(st.integers(0, 999), st.integers(1, 400), st.integers(0, 720))
@settings(max_examples=40, deadline=None)
def test_the_bills_after_a_move_are_those_of_the_moved_series(seed: int, mbps: int, seen: int) -> None:
    """Billed by hand: of 720 hours the 36 highest are dropped, and a commit of 500 is paid for in any case."""
    known = fleet(seed)
    hours = np.array(known.history.hours, dtype=np.float64)  # type: ignore[union-attr]
    there = Shift(left=rows(0), used=rows(1), mbps=mbps, shape=None, seen=seen, pending=0.0)
    bills = Months(known).bills(there)
    assert bills is not None
    if seen:
        hours[0, -seen:] = np.maximum(hours[0, -seen:] - mbps, 0)
    hours[1] += mbps
    here, elsewhere = (np.sort(line)[::-1][HOURS_A_MONTH // 20] for line in hours[:2])
    assert bills.without[0] == pytest.approx(30 * here)
    assert bills.with_order[1] == pytest.approx(20 * max(elsewhere, 500))
