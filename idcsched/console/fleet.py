"""The fleet on the overview, computed from the live snapshot: water levels, head-room, what is above its bounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isnan
from typing import Final

import numpy as np

from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.normalize import Floats
from idcsched.framework.snapshot import MetricColumn, Snapshot, Span, fresh
from idcsched.inventory.choices import Effect, Status
from idcsched.scheduling.state import level_kind

__all__ = ["Fleet", "Headroom", "IdcTile", "LineToMind", "RegionTiles", "StaleMetric", "TaintToMind"]

HARD: Final = frozenset({Effect.NO_SCHEDULE.value, Effect.NO_EXECUTE.value})
"""The effects of taints that keep new machines off."""
TONES: Final = {"over": "bad", "high": "warn", "fine": "good", "unknown": ""}
NAMED: Final = 3
"""How many IDCs a stale metric names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcTile:
    """An IDC on the map: the level of its fullest line, and what else is to be known of it at a glance.

    `percent` None: the bandwidth of none of its `lines` was ever measured; `tone` is the colour of the level.
    """

    code: str
    name: str
    line: str
    lines: int
    percent: int | None
    tone: str
    over: bool
    status: str
    tainted: bool
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTiles:
    code: str
    name: str
    tiles: Sequence[IdcTile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The Mbps that new orders find in a region: by ISP (None: it has no such line), and in all."""

    code: str
    name: str
    by_isp: Sequence[float | None]
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LineToMind:
    """A line above its highest level or its commit; `mbps` is what lies above it."""

    idc: str
    line: str
    percent: int
    limit: int
    used: float
    purchased: float
    commit: float
    mbps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleMetric:
    """A metric with values older than its `max_age`; `idcs` names a few IDCs, the oldest value first."""

    metric: str
    count: int
    known: int
    oldest_seconds: float
    idcs: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintToMind:
    """A taint that begins or ends at `at`."""

    idc: str
    taint: str
    reason: str
    at: float
    begins: bool


class Fleet:
    """The IDCs of a snapshot that are not retired, narrowed by filters, as they stand at `now`."""

    def __init__(self, snapshot: Snapshot, *, now: float, idcs: Mask | None = None, isp: str | None = None) -> None:
        """`idcs` selects rows of the snapshot, `isp` lines; None: all."""
        self._snapshot, self._now = snapshot, now
        lines, rows = snapshot.lines, snapshot.idcs
        statuses = np.array(rows.statuses)
        self.shown: Mask = (statuses != Status.RETIRED.value) & (True if idcs is None else idcs)
        self._lines: Mask = self.shown[lines.idc] & (True if isp is None else np.array(lines.isps) == isp)
        if isp is not None:
            self.shown &= np.isin(np.arange(snapshot.size), lines.idc[self._lines])
        self._hard = np.array([kind[2] in HARD for kind in snapshot.taints.kinds], dtype=np.bool_)
        in_force = snapshot.taints.in_force(now)
        self.tainted = self._having(snapshot.taints.idc[in_force])
        closed = self._having(snapshot.taints.idc[in_force & self._hard[snapshot.taints.kind]])
        self._open: Mask = (statuses == Status.ONLINE.value) & ~closed
        self._level: Floats = np.divide(
            lines.used, lines.purchased, out=np.full(lines.used.shape, np.nan), where=lines.purchased > 0
        )
        self._ratio = self._level / lines.max_level
        bandwidth = snapshot.metrics.get(BANDWIDTH)
        seen = np.zeros(lines.used.shape, np.bool_) if bandwidth is None else self._fresh(bandwidth)
        self.stale = self._having(lines.idc[self._lines & ~seen])
        for column in snapshot.metrics.values():
            if column.fact.scope == "idc":
                self.stale |= ~np.isnan(column.values) & ~self._fresh(column)

    @property
    def figures(self) -> Mapping[str, int]:
        """How many IDCs are shown, in each status, and how many are tainted or stale; how many lines."""
        counts = {status.value: 0 for status in Status}
        for row in np.flatnonzero(self.shown).tolist():
            counts[self._snapshot.idcs.statuses[row]] += 1
        return counts | {
            "idcs": int(self.shown.sum()),
            "tainted": int((self.shown & self.tainted).sum()),
            "stale": int((self.shown & self.stale).sum()),
            "lines": int(self._lines.sum()),
        }

    def with_mark(self, mark: str) -> Mask:
        """Return the rows with a mark: `over`, `commit`, `tainted`, `draining`, `offline`, `stale`."""
        lines = self._snapshot.lines
        if mark in ("over", "commit"):
            return self._having(lines.idc[self._over() if mark == "over" else self._over_commit()])
        if mark in ("tainted", "stale"):
            return self.tainted if mark == "tainted" else self.stale
        return np.array(self._snapshot.idcs.statuses) == mark

    def regions(self, shown: Mask) -> Iterator[RegionTiles]:
        """Yield the regions, those without a line last, with their IDCs among `shown` as tiles, the fullest first."""
        snapshot, lines = self._snapshot, self._snapshot.lines
        fullest = self._fullest()
        # a row without a known line has fullest −1 and picks the NaN at the end
        ratio, level = (np.append(column, np.nan)[fullest] for column in (self._ratio, self._level))
        idcs, by_region = snapshot.idcs, dict[str, list[int]]()
        regions = self._groups(shown & self.shown)
        order = np.argsort(np.where(np.isnan(ratio), -1.0, -ratio), kind="stable")
        for row in order[(shown & self.shown)[order]].tolist():
            by_region.setdefault(regions[idcs.regions[row]], []).append(row)
        levels, limits = level.tolist(), np.append(lines.max_level, np.nan)[fullest].tolist()
        tainted, stale, places = self.tainted.tolist(), self.stale.tolist(), fullest.tolist()
        counts = np.diff(lines.first).tolist()

        def position(code: str) -> tuple[bool, Span]:
            return not any(counts[row] for row in by_region[code]), snapshot.spans[code]

        for region in sorted(by_region, key=position):
            tiles = []
            for row in by_region[region]:
                share = None if isnan(levels[row]) else levels[row]
                kind = level_kind(share, limits[row])
                tiles.append(
                    IdcTile(
                        code=idcs.codes[row],
                        name=idcs.names[row],
                        lines=counts[row],
                        line="" if share is None else lines.codes[places[row]],
                        percent=None if share is None else round(share * 100),
                        tone=TONES[kind],
                        over=kind == "over",
                        status="" if idcs.statuses[row] == Status.ONLINE else idcs.statuses[row],
                        tainted=tainted[row],
                        stale=stale[row] and share is not None,
                    )
                )
            yield RegionTiles(code=region, name=snapshot.regions[region].name, tiles=tiles)

    def headroom(self) -> tuple[Sequence[str], list[Headroom], Headroom]:
        """Return the ISPs, the head-room of each region, and that of all of them.

        Counted is the room of lines in IDCs that are online and without a taint that keeps new machines off.
        """
        snapshot, lines = self._snapshot, self._snapshot.lines
        chosen = np.flatnonzero(self._lines)
        isps = sorted({lines.isps[line] for line in chosen.tolist()})
        column = {isp: place for place, isp in enumerate(isps)}
        regions = self._groups(self.shown)
        codes = sorted(set(regions.values()), key=snapshot.spans.__getitem__)
        position = {code: place for place, code in enumerate(codes)}
        room, there = np.zeros((len(codes), len(isps))), np.zeros((len(codes), len(isps)), dtype=np.bool_)
        usable = np.where(self._open[lines.idc], np.maximum(np.nan_to_num(lines.room), 0.0), 0.0)
        for line, row, mbps in zip(chosen.tolist(), lines.idc[chosen].tolist(), usable[chosen].tolist(), strict=True):
            cell = position[regions[snapshot.idcs.regions[row]]], column[lines.isps[line]]
            room[cell] += mbps
            there[cell] = True
        cells = np.where(there, room, np.nan)

        def headroom(code: str, name: str, values: Floats) -> Headroom:
            by_isp = [None if np.isnan(value) else float(value) for value in values]
            return Headroom(code=code, name=name, by_isp=by_isp, total=float(np.nansum(values)))

        rows = [
            headroom(code, snapshot.regions[code].name, cells[place])
            for code, place in position.items()
            if there[place].any()
        ]
        return isps, rows, headroom("", "", room.sum(axis=0))

    def lines_over(self, most: int) -> tuple[int, list[LineToMind]]:
        """Return how many lines are above their highest level, and the fullest of them."""
        return self._to_mind(self._over(), self._snapshot.lines.max_level * self._snapshot.lines.purchased, most)

    def lines_over_commit(self, most: int) -> tuple[int, list[LineToMind]]:
        """Return how many lines carry more than their commit, and those that do so by the most Mbps."""
        return self._to_mind(self._over_commit(), self._snapshot.lines.commit, most)

    def stale_metrics(self) -> list[StaleMetric]:
        """Return the metrics that have stale values, those with most first."""
        metrics = (self._stale_metric(column) for column in self._snapshot.metrics.values())
        return sorted((metric for metric in metrics if metric is not None), key=lambda metric: -metric.count)

    def never_measured(self) -> tuple[int, list[str]]:
        """Return how many lines have no bandwidth, neither measured now nor before, with the names of a few."""
        lines = self._snapshot.lines
        places = np.flatnonzero(self._lines & np.isnan(lines.used))
        names = [f"{self._snapshot.idcs.codes[lines.idc[place]]}/{lines.codes[place]}" for place in places[:NAMED]]
        return places.size, names

    def taints_turning(self, start: float, end: float) -> list[TaintToMind]:
        """Return the taints that begin or end from `start` until before `end`, the earliest first."""
        taints, codes, turning = self._snapshot.taints, self._snapshot.idcs.codes, []
        for moments, begins in ((taints.starts, True), (taints.ends, False)):
            for place in np.flatnonzero((moments >= start) & (moments < end) & self.shown[taints.idc]).tolist():
                key, value, effect = taints.kinds[taints.kind[place]]
                turning.append(
                    TaintToMind(
                        idc=codes[taints.idc[place]],
                        taint=f"{key}={value}:{effect}" if value else f"{key}:{effect}",
                        reason=taints.reasons[place],
                        at=float(moments[place]),
                        begins=begins,
                    )
                )
        return sorted(turning, key=lambda turn: (turn.at, turn.idc))

    def _over(self) -> Mask:
        over: Mask = self._lines & (self._ratio > 1)
        return over

    def _over_commit(self) -> Mask:
        over: Mask = self._lines & (self._snapshot.lines.used > self._snapshot.lines.commit)
        return over

    def _to_mind(self, chosen: Mask, bound: Floats, most: int) -> tuple[int, list[LineToMind]]:
        lines = self._snapshot.lines
        places, above = np.flatnonzero(chosen), lines.used - bound
        worst = places[np.argsort(-above[places], kind="stable")][:most]
        return places.size, [
            LineToMind(
                idc=self._snapshot.idcs.codes[lines.idc[place]],
                line=lines.codes[place],
                percent=0 if np.isnan(self._level[place]) else round(float(self._level[place]) * 100),
                limit=round(float(lines.max_level[place]) * 100),
                used=float(lines.used[place]),
                purchased=float(lines.purchased[place]),
                commit=float(lines.commit[place]),
                mbps=float(above[place]),
            )
            for place in worst.tolist()
        ]

    def _stale_metric(self, column: MetricColumn) -> StaleMetric | None:
        of_lines = column.fact.scope == "line"
        chosen, rows = (self._lines, self._snapshot.lines.idc) if of_lines else (self.shown, np.arange(self.shown.size))
        known = chosen & ~np.isnan(column.values)
        old = np.flatnonzero(known & ~self._fresh(column))
        if not old.size:
            return None
        old = old[np.argsort(column.at[old], kind="stable")]
        idcs = dict.fromkeys(self._snapshot.idcs.codes[row] for row in rows[old].tolist())
        return StaleMetric(
            metric=column.fact.code,
            count=old.size,
            known=int(known.sum()),
            oldest_seconds=self._now - float(column.at[old[0]]),
            idcs=list(idcs)[:NAMED],
        )

    def _fresh(self, column: MetricColumn) -> Mask:
        return fresh(column.fact, column.values, column.at, self._now)

    def _fullest(self) -> Rows:
        """Return each row's line that is nearest to its highest level, or −1."""
        ratio = np.where(self._lines, self._ratio, np.nan)
        order = np.argsort(np.where(np.isnan(ratio), -1.0, ratio), kind="stable")
        order = order[~np.isnan(ratio[order])]
        fullest: Rows = np.full(self._snapshot.size, -1, dtype=np.intp)
        fullest[self._snapshot.lines.idc[order]] = order  # of several lines of a row the last one is assigned
        return fullest

    def _groups(self, shown: Mask) -> Mapping[str, str]:
        """Return the region to show each region under: the outermost one that does not hold all `shown` IDCs."""
        own = {self._snapshot.idcs.regions[row] for row in np.flatnonzero(shown).tolist()}
        paths = {code: self._snapshot.lineage(code)[::-1] for code in own}
        levels = zip(*paths.values(), strict=False)
        depth = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))
        return {code: path[min(depth, len(path) - 1)] for code, path in paths.items()}

    def _having(self, rows: Rows) -> Mask:
        mask = np.zeros(self._snapshot.size, dtype=np.bool_)
        mask[rows] = True
        return mask
