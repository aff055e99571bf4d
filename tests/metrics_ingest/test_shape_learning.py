"""What shapes are learned from made-up traffic whose shapes are known, and which of them are trusted."""

import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.demo.traffic import SHAPES
from metrics_ingest.billing.shape_equations import centred, sums_of_days
from metrics_ingest.billing.shape_evidence import _jackknifed, _layers
from metrics_ingest.billing.shape_learning import Holdings, ShapeRegression, Verdict

NAN, INF = np.nan, np.inf
WEEK = 168


def week(name, turn=0):
    """Return one of the demo's shapes over a week, some hours later."""
    hours = np.roll([*SHAPES[name].weekday * 5, *SHAPES[name].weekend * 2], turn)
    return hours / hours.max()


KINDS = np.array([week(name) for name in SHAPES])
TWELVE = np.array([week(name, turn) for turn in (0, 1, -2) for name in SHAPES])


@dataclass(frozen=True, kw_only=True)
class World:
    """Lines, their orders, and the shapes that their traffic was made of."""

    traffic: np.ndarray
    hours_of_week: np.ndarray
    orders: Holdings
    shapes: np.ndarray
    uses: np.ndarray

    def learn(self, batch=250):
        regression = ShapeRegression(groups=len(self.shapes), hours_of_week=self.hours_of_week)
        for first in range(0, len(self.traffic), batch):
            inside = (self.orders.line >= first) & (self.orders.line < first + batch)
            rows = taken(self.orders, inside)
            regression.add(self.traffic[first : first + batch], replace(rows, line=rows.line - first))
        return regression.learn()

    def errors(self, learned):
        """Return the mean absolute difference over the week as a share of the true shape's mean, for each group."""
        shapes = np.array([each.shape for each in learned])
        return np.abs(shapes - self.shapes).mean(axis=1) / self.shapes.mean(axis=1)


def holdings(rows):
    line, group, start, until, mbps = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    return Holdings(line=line.astype(int), group=group.astype(int), start=start, until=until, mbps=mbps)


def taken(orders, rows):
    columns = ("line", "group", "start", "until", "mbps")
    return Holdings(**{name: getattr(orders, name)[rows] for name in columns})


def joined(orders, others):
    columns = ("line", "group", "start", "until", "mbps")
    return Holdings(**{name: np.append(getattr(orders, name), getattr(others, name)) for name in columns})


@cache
def world(
    *,
    seed=1,
    days=28,
    lines=100,
    groups=12,
    orders_a_day=15,
    noise=0.05,
    day_noise=0.02,
    growth=0.05,
    mixed=(),
    common=0.0,
):
    """Make lines of 1–10 Gbps with own traffic and growth, and orders of 50–500 Mbps that come and go in 90 days.

    Half of the orders of `mixed` groups are evening traffic, the other half night traffic. `common` is the standard
    deviation of a day's traffic on all lines.
    """
    chance = np.random.default_rng(seed)
    hours, before = 24 * days, 120
    hours_of_week = (np.arange(hours) + 37) % WEEK
    shapes, uses = TWELVE[:groups], chance.uniform(0.5, 0.95, groups)
    own = chance.dirichlet(np.ones(len(KINDS)), lines) @ KINDS
    own *= np.exp(chance.uniform(np.log(1000), np.log(10000), (lines, 1))) * chance.uniform(0.2, 0.6, (lines, 1))
    grown = 1 + chance.normal(0.02, growth, (lines, 1)) * np.arange(hours) / 720
    traffic = own[:, hours_of_week] * grown
    count = orders_a_day * (days + before)
    start = np.floor(chance.uniform(-24 * before, hours, count))
    until = np.floor(start + chance.exponential(24 * 90, count))
    popular = chance.uniform(0.3, 1, groups)
    rows = np.stack(
        [
            chance.integers(lines, size=count),
            chance.choice(groups, count, p=popular / popular.sum()),
            start,
            np.where(until < hours, until, INF),
            chance.uniform(50, 500, count).round(),
        ],
        axis=1,
    )[until > 0]
    for line, group, begin, end, mbps in rows:
        shape = shapes[int(group)]
        if group in mixed:
            shape = week("evening") if chance.random() < 0.5 else week("night")
        stay = slice(int(max(begin, 0)), int(min(end, hours)))
        use = uses[int(group)] * max(0.2, chance.normal(1, 0.15))
        traffic[int(line), stay] += mbps * use * shape[hours_of_week[stay]]
    traffic *= np.repeat(1 + chance.normal(0, common, days), 24)
    traffic *= np.repeat(1 + chance.normal(0, day_noise, (lines, days)), 24, axis=1)
    traffic *= 1 + chance.normal(0, noise, traffic.shape)
    return World(
        traffic=traffic.clip(0).astype(np.float32),
        hours_of_week=hours_of_week,
        orders=holdings(rows),
        shapes=shapes,
        uses=uses,
    )


def verdicts(learned):
    return [each.verdict for each in learned]


def only_trusted(learned):
    return all(each.trusted for each in learned)


def test_it_works():
    month, quarter = world(), world(days=90)
    after_28, after_90 = month.learn(), quarter.learn()
    assert only_trusted(after_28)
    assert only_trusted(after_90)
    first, later = month.errors(after_28), quarter.errors(after_90)
    assert first.mean() < 0.1
    assert np.quantile(first, 0.9) < 0.15
    assert first.max() < 0.2
    assert later.max() < 0.1
    assert later.mean() < 0.6 * first.mean()
    for made, learned in ((month, after_28), (quarter, after_90)):
        np.testing.assert_allclose([each.use for each in learned], made.uses, rtol=0.25)
        ratio = np.mean([each.error for each in learned]) / made.errors(learned).mean()
        assert 0.7 < ratio < 1.7  # the error that is expected is about the one that is made
    for each in after_28:
        assert len(each.shape) == WEEK
        assert max(each.shape) == 1.0
        assert min(each.shape) >= 0.0
        assert each.days == pytest.approx(28, abs=0.1)
        assert 3 < each.lines < 100


def test_an_order_by_hand():
    """Four lines carry 1,000 Mbps. After two of four weeks 100 Mbps arrive: 40 by day, 10 by night."""
    by_day = np.arange(4 * WEEK) % 24 >= 8
    arrived = np.arange(4 * WEEK) >= 2 * WEEK
    traffic = np.full((5, 4 * WEEK), 1000.0, dtype=np.float32)
    traffic[:4] += np.where(by_day, 40, 10) * arrived
    regression = ShapeRegression(groups=1, hours_of_week=np.arange(4 * WEEK) % WEEK)
    regression.add(traffic, holdings([(line, 0, 2 * WEEK, INF, 100) for line in range(4)]))
    [learned] = regression.learn()
    assert learned.trusted
    assert learned.use == pytest.approx(0.4, rel=0.03)
    np.testing.assert_allclose(learned.shape, np.where(by_day[:WEEK], 1.0, 0.25), atol=0.01)
    assert (learned.days, learned.lines) == (28, 4)
    assert learned.heterogeneity == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("options", "most", "mean"),
    [
        pytest.param({"noise": 0.1, "day_noise": 0.02}, 0.25, 0.15, id="a lot of noise"),
        pytest.param({"noise": 0.1, "day_noise": 0.05}, 0.3, 0.15, id="a lot of noise, of days too"),
        pytest.param({"growth": 0.3}, 0.18, 0.12, id="lines that grow steeply, or shrink"),
        pytest.param({"common": 0.05}, 0.2, 0.12, id="days that are high or low on all lines"),
        pytest.param({"days": 90, "noise": 0.1, "day_noise": 0.05}, 0.14, 0.08, id="a lot of noise for long"),
        pytest.param({"noise": 0.005, "day_noise": 0.01}, 0.12, 0.06, id="hardly any noise"),
    ],
)
def test_noise_growth_and_events(options, most, mean):
    made = world(**options)
    learned = made.learn()
    errors = made.errors(learned)
    assert errors.mean() < mean
    assert errors.max() < most
    assert sum(each.trusted for each in learned) >= 10
    assert Verdict.MIXED not in verdicts(learned)


@pytest.mark.parametrize(("seed", "days"), [(1, 28), (2, 28), (1, 90)])
def test_a_mixed_group_is_noticed_and_pure_ones_are_not_accused(seed, days):
    learned = world(seed=seed, days=days, mixed=(1, 6)).learn()
    for group, each in enumerate(learned):
        if group in (1, 6):
            assert each.verdict == Verdict.MIXED
            assert each.heterogeneity > 0.25
        else:
            assert each.verdict != Verdict.MIXED
    assert sum(each.trusted for each in learned) >= 9


def test_orders_that_use_more_or_less_of_one_shape_are_not_mixed():
    """One group's orders use 40 % or 80 % of what was ordered, always in the same shape."""
    chance = np.random.default_rng(3)
    hours = 8 * WEEK
    shape, rows = week("evening"), []
    traffic = np.full((40, hours), 2000.0)
    for line in range(40):
        start = int(chance.integers(WEEK, 7 * WEEK))
        rows.append((line, 0, start, INF, 400))
        use = 0.4 if line % 2 else 0.8
        traffic[line, start:] += 400 * use * shape[np.arange(start, hours) % WEEK]
    traffic *= 1 + chance.normal(0, 0.02, traffic.shape)
    regression = ShapeRegression(groups=1, hours_of_week=np.arange(hours) % WEEK)
    regression.add(traffic.astype(np.float32), holdings(rows))
    [learned] = regression.learn()
    assert learned.trusted
    assert learned.heterogeneity < 0.15


@pytest.mark.parametrize("size", [1.0, 0.2])
def test_groups_that_always_change_together_are_not_told_apart(size):
    """Each order of group 0 has a twin of group 4 on the same line at the same time: neither shape can be trusted."""
    made = world(groups=5)
    orders = taken(made.orders, made.orders.group != 4)
    alone = world(groups=4)
    twins = taken(alone.orders, alone.orders.group == 0)
    twins = replace(twins, group=np.full(len(twins.group), 4), mbps=size * twins.mbps)
    traffic = alone.traffic.astype(np.float64)
    hours = traffic.shape[1]
    for line, start, until, mbps in zip(twins.line, twins.start, twins.until, twins.mbps, strict=True):
        stay = slice(int(max(start, 0)), int(min(until, hours)))
        traffic[line, stay] += mbps * week("night")[alone.hours_of_week[stay]]
    assert not (orders.group == 4).any()
    twinned = replace(alone, traffic=traffic.astype(np.float32), orders=joined(alone.orders, twins), shapes=made.shapes)
    learned = twinned.learn()
    assert verdicts(learned)[4] == verdicts(learned)[0] == Verdict.UNCERTAIN
    assert only_trusted(learned[1:4])


def broken(made, change):
    traffic = made.traffic.copy()
    change(traffic)
    return replace(made, traffic=traffic)


def outage_of_ten_lines(traffic):
    for line in range(10):
        traffic[line, 150 + 9 * line :][:WEEK] = 0


def collectors_that_fail(traffic):
    traffic[np.random.default_rng(0).random(traffic.shape) < 0.2] = NAN
    traffic[:10, :300] = NAN
    traffic[10:20, 500:] = NAN


def spikes(traffic):
    chance = np.random.default_rng(0)
    for _ in range(100):
        line, hour = chance.integers(len(traffic)), chance.integers(traffic.shape[1] - 4)
        traffic[line, hour : hour + 4] *= 4


def holidays(traffic):
    traffic[:, 250 : 250 + WEEK] *= 0.7


def dead_lines(traffic):
    traffic[:5], traffic[5:10], traffic[10] = NAN, 0, INF
    traffic[11, 7:], traffic[12] = NAN, 0
    traffic[12, 300] = 1000


@pytest.mark.parametrize(
    ("change", "most", "mean", "trusted"),
    [
        pytest.param(outage_of_ten_lines, 0.2, 0.12, 10, id="an outage of a week"),
        pytest.param(collectors_that_fail, 0.3, 0.16, 8, id="gaps"),
        pytest.param(spikes, 0.2, 0.12, 10, id="spikes"),
        pytest.param(holidays, 0.25, 0.14, 9, id="a week of holidays"),
        pytest.param(dead_lines, 0.2, 0.12, 10, id="lines without traffic"),
    ],
)
def test_what_happens_to_lines_does_little_harm(change, most, mean, trusted):
    made = broken(world(), change)
    learned = made.learn()
    errors = made.errors(learned)
    assert errors.max() < most
    assert errors.mean() < mean
    assert sum(each.trusted for each in learned) >= trusted


def test_what_can_not_be_known_is_not_trusted():
    """No shape is trusted of groups without orders or with orders that never change, nor of groups whose orders are on
    one line, or nearly all on one of three.
    """
    made = world(groups=3)
    hours = made.traffic.shape[1]
    additions = holdings(
        [
            *((line, 3, -100, INF, 300) for line in range(100)),
            (5, 4, 200, 500, 100),
            (5, 4, 250, INF, 300),
            *((line, 5, 200 + line, INF, 4000 if line == 7 else 20) for line in (7, 8, 9)),
            *((line, 7, hours + 5, INF, 300) for line in range(100)),
            *((line, 7, 100, 100, 300) for line in range(100)),
        ]
    )
    more = replace(made, orders=joined(made.orders, additions), shapes=TWELVE[:8])
    learned = more.learn()
    assert only_trusted(learned[:3])
    unknown, few = Verdict.UNCHANGED, Verdict.FEW_LINES
    assert verdicts(learned[3:]) == [unknown, few, few, unknown, unknown]
    assert learned[3].shape is learned[3].use is learned[3].error is learned[3].heterogeneity is None
    assert (learned[3].days, learned[3].lines) == (0, 0)
    assert learned[4].lines == 1
    assert learned[5].lines < 1.1


@pytest.mark.parametrize(
    ("days", "expected"), [(1, {Verdict.UNCHANGED}), (6, {Verdict.UNCHANGED}), (12, {Verdict.TOO_SHORT})]
)
def test_a_few_days_are_too_short(days, expected):
    assert set(verdicts(world(days=days).learn())) == expected


def test_nothing_at_all():
    nobody = holdings([])
    empty = ShapeRegression(groups=2, hours_of_week=np.arange(0))
    empty.add(np.zeros((3, 0), dtype=np.float32), nobody)
    assert verdicts(empty.learn()) == [Verdict.UNCHANGED] * 2
    no_lines = ShapeRegression(groups=1, hours_of_week=np.arange(400) % WEEK)
    assert verdicts(no_lines.learn()) == [Verdict.UNCHANGED]
    no_groups = ShapeRegression(groups=0, hours_of_week=np.arange(400) % WEEK)
    no_groups.add(np.ones((3, 400), dtype=np.float32), nobody)
    assert no_groups.learn() == ()


def test_orders_without_traffic_and_those_that_lower_it_have_no_shape():
    """Group 0's orders use nothing; where orders of group 1 arrive, traffic goes down."""
    chance = np.random.default_rng(0)
    hours = 6 * WEEK
    traffic = 1000 * (1 + chance.normal(0, 0.03, (40, hours)))
    starts = chance.integers(WEEK, 5 * WEEK, 40)
    for line in range(20, 40):
        traffic[line, starts[line] :] -= 200
    regression = ShapeRegression(groups=2, hours_of_week=np.arange(hours) % WEEK)
    regression.add(
        traffic.astype(np.float32), holdings([(line, line // 20, starts[line], INF, 300) for line in range(40)])
    )
    for learned in regression.learn():
        assert learned.verdict == Verdict.UNCERTAIN


def test_traffic_that_is_the_same_everywhere():
    regression = ShapeRegression(groups=1, hours_of_week=np.arange(5 * WEEK) % WEEK)
    regression.add(
        np.full((10, 5 * WEEK), 500, dtype=np.float32), holdings([(line, 0, 300, INF, 100) for line in range(10)])
    )
    [learned] = regression.learn()
    assert not learned.trusted
    assert learned.shape is None


def test_batches_and_repeating_make_no_difference():
    made = world(lines=30, groups=4, orders_a_day=5)
    at_once = made.learn()
    assert made.learn(batch=7) == at_once
    regression = ShapeRegression(groups=4, hours_of_week=made.hours_of_week)
    regression.add(made.traffic, made.orders)
    assert regression.learn() == regression.learn() == at_once


def test_an_order_in_several_rows_is_one_order():
    made = world(lines=30, groups=4, orders_a_day=5)
    halves = replace(made.orders, mbps=made.orders.mbps / 2)
    in_two = replace(made, orders=joined(halves, halves))
    for one, two in zip(made.learn(), in_two.learn(), strict=True):
        np.testing.assert_allclose(one.shape, two.shape)
        assert one.heterogeneity == pytest.approx(two.heterogeneity)


def test_what_is_held_in_the_hours_in_which_an_order_comes_and_goes():
    regression = ShapeRegression(groups=1, hours_of_week=np.arange(8))
    regression.add(np.ones((1, 8), dtype=np.float32), holdings([(0, 0, 2.25, 4.5, 100), (0, 0, -3, 1, 20)]))
    [line] = regression._lines
    held = regression._held(line, np.array([0, 1]), 2)
    np.testing.assert_array_equal(held[:8, 0, 0], [20, 0, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(held[:8, 1, 0], [0, 0, 75, 100, 50, 0, 0, 0])


def test_clocks_that_are_set_back():
    """In the second week the hour from two to three on Sunday comes twice; in the fourth, it is missing."""
    made = world(lines=60, groups=4, days=42)
    twice, missing = 2 * WEEK - 37 - 21, 4 * WEEK - 37 - 22
    hours = np.delete(np.insert(np.arange(42 * 24), twice, twice), missing)
    traffic, hours_of_week = made.traffic[:, hours], made.hours_of_week[hours]
    assert np.bincount(hours_of_week).tolist() != np.bincount(made.hours_of_week).tolist()
    changed = replace(made, traffic=traffic, hours_of_week=hours_of_week)
    learned = changed.learn()
    assert only_trusted(learned)
    assert changed.errors(learned).max() < 0.12


@st.composite
def any_lines(draw):
    """Draw up to a few lines of odd traffic, and odd orders on them."""
    seed, lines, hours = draw(st.integers(0, 10_000)), draw(st.integers(0, 6)), draw(st.integers(0, 900))
    chance = np.random.default_rng(seed)
    traffic = chance.choice([1e-3, 1.0, 1e3, 1e7], (lines, 1)) * chance.gamma(1.0, 1.0, (lines, hours))
    traffic[chance.random(traffic.shape) < draw(st.sampled_from([0, 0.3, 0.99]))] = draw(st.sampled_from([NAN, 0, INF]))
    traffic[chance.random(lines) < draw(st.sampled_from([0, 0.5]))] = draw(st.sampled_from([NAN, 0, 5]))
    count = draw(st.integers(0, 12)) if lines else 0
    start = chance.uniform(-1.2 * hours, 1.2 * hours, count)
    rows = np.stack(
        [
            chance.integers(max(lines, 1), size=count),
            chance.integers(3, size=count),
            start if draw(st.booleans()) else np.round(start),
            chance.choice([0, 1, 50, INF], count) + start * chance.choice([1, 1.1], count),
            chance.choice([0, 1e-6, 1, 300, 1e6], count),
        ],
        axis=1,
    )
    return traffic.astype(np.float32), (np.arange(hours) + seed) % WEEK, holdings(rows)


@given(any_lines())
@settings(max_examples=60, deadline=None)
def test_whatever_is_trusted_is_a_shape(lines):
    traffic, hours_of_week, orders = lines
    regression = ShapeRegression(groups=3, hours_of_week=hours_of_week)
    regression.add(traffic, orders)
    for each in regression.learn():
        if each.shape is not None:
            assert np.isfinite([*each.shape, each.use, each.error, each.heterogeneity]).all()
            assert min(each.shape) >= 0
            assert max(each.shape) == 1
        assert each.shape is not None or not each.trusted
        assert np.isfinite([each.days, each.lines]).all()


def test_changes_are_what_is_left_of_the_known_weeks():
    values, known = np.array([[1.0, 2.0, 6.0], [5.0, 7.0, 9.0]]), np.array([[True, True, True], [True, False, True]])
    changes, means = centred(values, known)
    np.testing.assert_array_equal(changes, [[-2, -1, 3], [-2, 0, 2]])
    np.testing.assert_array_equal(means, [3, 7])


def test_sums_of_days():
    values = np.arange(WEEK * 2).reshape(WEEK, 2).astype(float)  # hour of the week × week
    monday, tuesday = sum(range(0, 48, 2)), sum(range(48, 96, 2))
    np.testing.assert_array_equal(sums_of_days(values)[:4], [monday, monday + 24, tuesday, tuesday + 24])
    both = sums_of_days(np.stack([values, 2 * values], axis=1))
    np.testing.assert_array_equal(both, [sums_of_days(values), 2 * sums_of_days(values)])


def test_layers_of_a_week():
    """Weekends are 0.5 lower at each hour, Friday is half as high again, and on Wednesday at five there is a spike."""
    day = np.linspace(1, 2, 24)
    days = np.tile(day, (7, 1))
    days[5:] -= 0.5
    days[4] *= 1.5
    days[2, 17] += 0.7
    mean_day, kind, height, rest = _layers(days.reshape(1, WEEK)).reshape(4, 7, 24)
    np.testing.assert_allclose(mean_day + kind + height + rest, days)
    np.testing.assert_allclose(mean_day, np.tile(days.mean(axis=0), (7, 1)))
    np.testing.assert_allclose((mean_day + kind)[:5], np.tile(days[:5].mean(axis=0), (5, 1)))
    np.testing.assert_allclose((mean_day + kind)[5:], days[5:])
    assert 1.3 < (1 + height / (mean_day + kind))[4, 0] < 1.5
    np.testing.assert_allclose(height.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(height[5:], 0, atol=1e-12)
    assert np.unravel_index(np.abs(rest).argmax(), rest.shape) == (2, 17)


def test_jackknife():
    """The jackknife variance of the mean of four values is the variance of the values, divided by four."""
    values = np.array([1.0, 2.0, 6.0, 7.0])
    left_out = [np.array([np.delete(values, place).mean()]) for place in range(4)]
    assert _jackknifed(values.mean(keepdims=True), left_out) == pytest.approx(values.var(ddof=1) / 4)


NIGHT = """
import time
from pathlib import Path
import numpy as np
from idcsched.demo.traffic import SHAPES
from metrics_ingest.billing.shape_learning import Holdings, ShapeRegression

LINES, GROUPS, HOURS, BATCH = 3000, 200, 2160, 250
chance = np.random.default_rng(0)
kinds = [np.array([*s.weekday * 5, *s.weekend * 2]) for s in SHAPES.values()]
hours_of_week = np.arange(HOURS) % 168
regression, seconds = ShapeRegression(groups=GROUPS, hours_of_week=hours_of_week), 0.0
for _ in range(LINES // BATCH):
    count = 24 * BATCH
    columns = dict(
        line=chance.integers(BATCH, size=count),
        group=chance.integers(GROUPS, size=count),
        start=np.floor(chance.uniform(-2000, HOURS, count)),
        mbps=chance.uniform(50, 500, count),
    )
    columns["until"] = columns["start"] + np.floor(chance.exponential(2160, count))
    traffic = 3000 * (1 + chance.normal(0, 0.05, (BATCH, HOURS)).astype(np.float32))
    for line, group, start, mbps, until in zip(*columns.values()):
        stay = slice(int(max(start, 0)), int(max(until, 0)))
        traffic[line, stay] += (0.7 * mbps * kinds[group % 4][hours_of_week[stay]]).astype(np.float32)
    begin = time.process_time()
    regression.add(traffic, Holdings(**columns))
    seconds += time.process_time() - begin
begin = time.process_time()
learned = regression.learn()
seconds += time.process_time() - begin
trusted = sum(each.trusted for each in learned)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(trusted, seconds, int(status["VmHWM"].split()[0]) / 1024)
"""


@pytest.mark.long
@pytest.mark.timeout(600)
def test_three_thousand_lines_are_learned_from_in_two_minutes_and_500_mb():
    """On one core, from 90 days and 72,000 orders of 200 groups."""
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": "."}
    done = subprocess.run([sys.executable, "-c", NIGHT], env=one_core, capture_output=True, text=True, check=True)
    trusted, seconds, megabytes = (float(number) for number in done.stdout.split())
    print(f"{seconds:.1f} s of processor time, {megabytes:.0f} MB at most")
    assert trusted == 200
    assert seconds < 120  # about 45 on a core of its own
    assert megabytes < 500
