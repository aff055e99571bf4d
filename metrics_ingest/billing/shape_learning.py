"""Learns the traffic shape of each group of orders from the lines' traffic and the ledger: NumPy only, no database.

A group is a (tenant, business). Its shape is its traffic at the 168 hours of the week as shares of its own peak; its
use is how many Mbps flow in the peak hour per ordered Mbps.

**The model.** At time t, which is hour h of the week (0: Monday 00:00), a line carries

    traffic = (own(line, h) · (1 + growth(line) · t) + Σ share(group, h) · held(line, group, t)) · event(t) + noise

`own` is the traffic that no order explains; it may look as it likes. `growth` is the line's, a month. An `event`, such
as a holiday or a match, raises or lowers all lines by the same percentage at once. `share` is what is looked for: how
many Mbps flow at hour h per ordered Mbps. Divided by its largest value it is the shape.

**The regression.** From every value of a line the mean of the same line at the same hour of the week is subtracted, and
likewise from what was held. `own` is the same every week, so it drops out; what is left is by how much a week differs
from the others. For each hour of the week, a linear regression over all lines and weeks explains the differences of the
traffic by those of the holdings. Where 100 Mbps of a group arrived, and Mondays at nine are 40 Mbps higher from then
on, its share at that hour is 0.4. Statisticians call this a fixed-effects regression. It uses all weeks; "last week
less first week" uses two of them. In the made-up world of the tests (100 lines, 12 groups, 15 orders a day, 5 % noise)
the shapes of that are off by 20 % after 28 days and by 14 % after 90, those of this by 14 % and 6 %, and by 7 % and 3 %
once alike days are pooled (see below).

- Growth could be mistaken for orders, as both go up. But it is one number per line, not one for each hour. So it is
  estimated first, from the sums of days, where noise matters least; the groups' mean shares and the events are unknowns
  of that regression, too. Growth times the line's own traffic is then taken off the hours.
- An event is an unknown of each hour and week, whose regressor is the traffic of each line.
- Lines count by 1 ÷ variance of their noise, which is a percentage of their traffic. It is observed after a first
  round. So are hours that are off by more than half of the traffic, such as an outage; the second round leaves them
  out.
- It is a ridge regression: unknowns are drawn to zero, as if it were known beforehand that a share is 0 ± 1, an event 0
  ± 10 % and a growth 0 ± 15 % a month. A few orders outweigh that. But where two groups always change together, nothing
  can tell which one carries what: the ± 1 remains, and makes `error` large.

**Alike days.** Each share by itself is uncertain, but Tuesday is mostly like Wednesday. So alike days are pooled: the
shares of a week are cut into four layers: the mean day; how Mondays to Fridays and weekends differ from it; how high
each day is; and the rest. Of each layer but the first, the part 1 − noise ÷ seen is kept (none if negative): `seen` is
the layer's mean square, and `noise` is the mean square that noise alone would give. This is James and Stein's
shrinkage: what noise explains is dropped, and what is well above noise stays.

**Error.** The mean of |learned − true| over the 168 hours that is to be expected, as a share of the shape's mean: 0.8
standard errors. Standard errors, and the noise of the layers, are found twice, and the larger one counts. The first way
is the jackknife: lines are dealt into 20 parts, and what was learned is compared with what would be learned without
each of the parts. The second is the regression's own formula; it knows what no line can tell. What was dropped from the
layers may have been real; that is part of the error, too.

**Heterogeneity.** If half of a group's orders are evening traffic and half are night traffic, the learned shape lies
between, and is wrong for every order. To notice it, one more ridge regression explains what is left of each line's
traffic by what the line's groups held, for each day of the week separately: it gives the deviation of the line's orders
from their groups' shapes, at the 24 hours of the day. Whatever of it is just more or less of the same shape is taken
off. Then the deviations from two different days are multiplied. Their noise is independent, so noise gives zero on
average; a real deviation, which is there on both days, gives its square. Deviations of one group also blur into those
of others that changed on the same line. Let v(group) be the mean square of an order's deviation. Then the products,
summed over lines, hours and pairs of days, should be

    products(group) = Σ blur(group, other) · v(other)    summed over the other groups and the group itself

where `blur` follows from when orders came and went. Solved for v ≥ 0, this gives heterogeneity = √v ÷ the shape's mean:
about 0.35 for evening and night half and half, mostly under 0.15 for a group of one kind.

A shape is trusted if it rests on two weeks and three lines, if its error is at most 0.25, and if its heterogeneity is
at most 0.25 even with v larger by 1.5 standard errors (from the jackknife).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from metrics_ingest.billing.shape_equations import (
    Changes,
    GrowthEquations,
    Line,
    ShareEquations,
    Shares,
    centred,
    noise_scale,
    observe_noise,
)
from metrics_ingest.billing.shape_evidence import PARTS, Evidence, LearnedShape, Verdict
from metrics_ingest.samples.batch import Floats, Integers
from metrics_ingest.samples.slots import HOURS_A_WEEK, Values

__all__ = ["Holdings", "LearnedShape", "ShapeRegression", "Verdict"]

HOURS_A_MONTH: Final = 720


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What orders held on the lines of a batch: columns, one row per order and line.

    `line` is a row of the batch, `group` a number from 0. Hours count from the first hour of the traffic, may have
    fractions and lie outside of it; `until` is infinite for what is still held. Rows of the same line, group, start and
    end count as one order.
    """

    line: Integers
    group: Integers
    start: Floats
    until: Floats
    mbps: Floats


class ShapeRegression:
    """Takes lines batch by batch, and learns the shapes of all groups from them.

    It keeps each line's hours as float32, 9 kB for 90 days or 26 MB for 3,000 lines, and its orders, since outages are
    known only after a first round. The regressions take 168 · (groups + weeks)² numbers, twice: 120 MB for 200 groups.
    """

    def __init__(self, *, groups: int, hours_of_week: Integers) -> None:
        """`hours_of_week` has the hour of the week, 0..167, local time, of each hour of the traffic."""
        self._groups = groups
        self._hours = len(hours_of_week)
        self._lines: list[Line] = []
        occurrences = np.bincount(hours_of_week, minlength=HOURS_A_WEEK)
        self._weeks = int(occurrences.max(initial=1))
        in_order = np.argsort(hours_of_week, kind="stable")
        rows = hours_of_week[in_order]
        columns = np.arange(self._hours) - (np.cumsum(occurrences) - occurrences)[rows]
        # Where each hour of the week lies in the traffic, week by week; behind its end where there is no such week.
        self._places = np.full((HOURS_A_WEEK, self._weeks), self._hours)
        self._places[rows, columns] = in_order

    def add(self, hours: Values, holdings: Holdings) -> None:
        """Add lines: one row of hourly means in Mbps for each, NaN for gaps, and what orders held on them."""
        changed = (holdings.until > holdings.start) & (holdings.until > 0) & (holdings.start < self._hours)
        changed &= (holdings.start > 0) | (holdings.until < self._hours)
        for number, traffic in enumerate(np.where(np.isfinite(hours), hours, np.nan)):
            if not np.nansum(traffic) > 0:
                continue  # nothing is known of this line, or nothing flows
            rows = np.flatnonzero(changed & (holdings.line == number))
            columns = (holdings.group[rows], holdings.start[rows], holdings.until[rows])
            orders, order = np.unique(np.stack(columns, axis=1).astype(np.float64), axis=0, return_inverse=True)
            mbps = np.zeros(len(orders))
            np.add.at(mbps, order.reshape(-1), holdings.mbps[rows])
            self._lines.append(
                Line(
                    traffic=traffic.astype(np.float32),
                    group=orders[:, 0].astype(np.int64),
                    start=orders[:, 1],
                    until=orders[:, 2],
                    mbps=mbps,
                )
            )

    def learn(self) -> tuple[LearnedShape, ...]:
        """Learn the shape of each group from the lines that were added."""
        lines = [replace(line) for line in self._lines]
        self._find_growth(lines, None)
        first = self._shares(lines)
        for line in lines:
            observe_noise(line, self._changes(line), first)
        self._find_growth(lines, first)
        del first  # takes as much memory as the next one
        shares = self._shares(lines)
        evidence = Evidence(self._groups, shares)
        for number, line in enumerate(lines):
            changes = self._changes(line)
            orders = self._held(line, np.arange(len(line.group)), len(line.group))
            evidence.add(number % PARTS, line, changes, centred(orders, changes.known[:, None])[0])
        return evidence.results()

    def _find_growth(self, lines: list[Line], previous: Shares | None) -> None:
        growth = GrowthEquations(self._groups, self._weeks)
        for line in lines:
            growth.add(line, self._changes(line), previous)
        growth.solve()

    def _shares(self, lines: list[Line]) -> Shares:
        shares = ShareEquations(self._groups, self._weeks)
        for line in lines:
            shares.add(line, self._changes(line))
        return shares.solve()

    def _changes(self, line: Line) -> Changes:
        traffic = np.append(line.traffic, np.float32(np.nan))[self._places].astype(np.float64)
        known = np.isfinite(traffic)
        if line.usable is not None:
            known &= line.usable
        groups, place = np.unique(line.group, return_inverse=True)
        held, mean_held = centred(self._held(line, place, len(groups)), known[:, None])
        traffic, level = centred(np.where(known, traffic, 0.0), known)
        months, _ = centred(self._places / HOURS_A_MONTH, known)
        share_of_weeks = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
        return Changes(
            known=known,
            level=level,
            scale=noise_scale(level, held),
            traffic=traffic,
            months=months,
            groups=groups,
            held=held,
            mean_held=mean_held,
            events=(level[:, None] * known)[:, None] * (np.eye(self._weeks) - share_of_weeks[:, :, None]),
        )

    def _held(self, line: Line, place: Integers, count: int) -> Floats:
        """Return what was held, by hour of the week, `place` of the order, and week."""
        steps = np.zeros((count, self._hours + 2))
        for moment, mbps in ((line.start, line.mbps), (line.until, -line.mbps)):
            within = np.clip(moment, 0, self._hours)
            hour = within.astype(np.int64)
            np.add.at(steps, (place, hour), mbps * (1 - (within - hour)))
            np.add.at(steps, (place, hour + 1), mbps * (within - hour))
        held = np.cumsum(steps[:, : self._hours + 1], axis=1)
        return np.ascontiguousarray(held[:, self._places].transpose(1, 0, 2))
