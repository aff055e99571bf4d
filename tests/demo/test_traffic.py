"""The demo's bandwidth looks like a carrier's: its ratios hold for every shape and seed, and time alone decides it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.demo.traffic import SHAPES, SLOTS_A_DAY, Traffic, bandwidth, slot_of
from metrics_ingest.billing.percentile import percentile_95

MONTH = 30 * SLOTS_A_DAY
MONDAY = 20_416 * SLOTS_A_DAY - 96  # 2025-11-24 00:00 in China

shapes = st.sampled_from(sorted(SHAPES))
seeds = st.integers(0, 2**32 - 1)
days = st.integers(18_000, 25_000)


def traffic(shape: str, seed: int = 1, p95_mbps: float = 1000.0) -> Traffic:
    return Traffic(shape=shape, p95_mbps=p95_mbps, seed=seed)


def p95(values: np.ndarray) -> float:
    return float(percentile_95(values.astype(np.float32).reshape(1, -1))[0][0])


def test_it_works() -> None:
    values = bandwidth(traffic("evening"), first=MONDAY, count=MONTH)

    assert values.shape == (MONTH,)
    assert p95(values) == pytest.approx(1000, rel=0.02)


@given(shapes, seeds, days)
def test_a_months_ratios_are_those_of_real_lines(shape: str, seed: int, day: int) -> None:
    values = bandwidth(traffic(shape, seed), first=day * SLOTS_A_DAY, count=MONTH)
    billed = p95(values)
    daily_peaks = np.sort(values.reshape(30, SLOTS_A_DAY).max(axis=1))

    assert values.min() > 0
    assert values.mean() / billed == pytest.approx(0.5, abs=0.02)
    assert values.max() / billed == pytest.approx(1.12, abs=0.035)
    assert daily_peaks[-4] / billed == pytest.approx(1.10, abs=0.025)


@given(shapes, seeds, days, st.floats(1, 400_000))
def test_a_weeks_percentile_is_the_one_asked_for(shape: str, seed: int, day: int, target: float) -> None:
    values = bandwidth(traffic(shape, seed, target), first=day * SLOTS_A_DAY, count=7 * SLOTS_A_DAY)

    assert p95(values) == pytest.approx(target, rel=0.03)


@given(shapes, seeds, days, st.integers(0, 1000), st.integers(0, 1000))
def test_a_slot_has_one_value_whichever_stretch_it_is_part_of(
    shape: str, seed: int, day: int, skipped: int, count: int
) -> None:
    first = day * SLOTS_A_DAY
    whole = bandwidth(traffic(shape, seed), first=first, count=2000)

    assert bandwidth(traffic(shape, seed), first=first + skipped, count=count).tolist() == (
        whole[skipped : skipped + count].tolist()
    )


@pytest.mark.parametrize(
    ("shape", "day", "hour"),
    [
        pytest.param("evening", 0, 21, id="people at home peak at nine in the evening"),
        pytest.param("evening", 6, 21, id="on Sundays, too"),
        pytest.param("office", 1, 10, id="people at work peak at ten"),
        pytest.param("night", 2, 1, id="machines peak at one"),
        pytest.param("mixed", 3, 21, id="the mixture peaks in the evening"),
    ],
)
def test_each_shape_is_busiest_at_its_hour(shape: str, day: int, hour: int) -> None:
    values = bandwidth(traffic(shape), first=MONDAY + day * SLOTS_A_DAY, count=SLOTS_A_DAY)

    assert abs(int(values.argmax()) / 12 - hour) < 0.75


def test_offices_are_quiet_at_weekends_and_homes_busier() -> None:
    def daily(shape: str) -> np.ndarray:
        return bandwidth(traffic(shape), first=MONDAY, count=7 * SLOTS_A_DAY).reshape(7, SLOTS_A_DAY).mean(axis=1)

    assert daily("office")[5:].max() < 0.7 * daily("office")[:5].min()
    assert daily("evening")[5:].min() > daily("evening")[:5].max()


def test_two_lines_differ() -> None:
    one, other = (bandwidth(traffic("evening", seed), first=MONDAY, count=12) for seed in (1, 2))

    assert not np.array_equal(one, other)


def test_no_slots_are_no_values() -> None:
    assert bandwidth(traffic("office"), first=MONDAY, count=0).tolist() == []


def test_slots_are_five_minutes_from_the_epoch_on() -> None:
    assert [slot_of(seconds) for seconds in (0, 299.9, 300, 86_400)] == [0, 0, 1, SLOTS_A_DAY]
