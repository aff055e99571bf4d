"""The fleet on the overview, computed from the live snapshot: water levels, head-room, what is above its bounds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, takewhile
from math import isnan
from typing import Final

import numpy as np

from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.normalize import Floats
from idcsched.framework.snapshot import MetricColumn, Snapshot, fresh
from idcsched.inventory.choices import Effect, Status

__all__ = [
    "NEARLY_FULL",
    "Capacity",
    "Fleet",
    "Headroom",
    "IdcTile",
    "RegionTiles",
    "StaleMetric",
    "TaintToMind",
    "TightLine",
    "colour",
]

HARD: Final = frozenset({Effect.NO_SCHEDULE.value, Effect.NO_EXECUTE.value})
"""The effects of taints that keep new machines off."""
NAMED: Final = 3
"""How many IDCs a stale metric names."""
LEVELS: Final = (0.5, 0.65, 0.8, 1.0)
"""The shares of a line's limit at which its colour changes; the last two are those of the admin's pages."""
NEARLY_FULL: Final = 0.97
"""The share of its limit from which on a line is too full for most orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The water of one line in an IDC's tank: places and sizes in percent of it, the top first."""

    isp: str
    level: str
    x: str
    width: str
    middle: str
    top: str
    height: str
    pending_top: str
    pending: str
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcTile:
    """An IDC on the map: a column of water for each line, and what else is to be known of it at a glance.

    `short` is as much of the code as no other IDC's begins with. `percent` is the level of `line`, the one that is
    nearest to its limit, and `room` what new orders find on all its lines; None: the bandwidth of none of its
    `lines` was ever measured. `taint` is `hard` or `soft` where one is in force, `planned` that one is to come;
    `off` that new orders can't go there.
    """

    code: str
    name: str
    short: str
    line: str
    lines: int
    percent: int | None
    room: float | None
    level: str
    over: bool
    status: str
    taint: str
    planned: bool
    off: bool
    stale: bool
    columns: Sequence[Column]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTiles:
    code: str
    name: str
    tiles: Sequence[IdcTile]
    free: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What new orders find on the lines of one ISP in a region, in Mbps, and how full these lines are."""

    mbps: float
    used: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The room of a region by ISP (None: it has no such line), and in all."""

    code: str
    name: str
    by_isp: Sequence[Room | None]
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Mbps of all lines: what new orders find, what may be filled at most, what is in use, what is reserved."""

    free: float
    limit: float
    used: float
    reserved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TightLine:
    """A line that is over its limit, or so near to it that most orders pass it by; `room` below 0: over it."""

    idc: str
    line: str
    room: float
    used: float
    reserved: float
    limit: float
    share: int
    purchased: float


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
        self._closed = self._having(snapshot.taints.idc[in_force & self._hard[snapshot.taints.kind]])
        self._planned = self._having(snapshot.taints.idc[snapshot.taints.starts > now])
        self._open: Mask = (statuses == Status.ONLINE.value) & ~self._closed
        self._level: Floats = np.divide(
            lines.used, lines.purchased, out=np.full(lines.used.shape, np.nan), where=lines.purchased > 0
        )
        self._ratio = self._level / lines.max_level
        bandwidth = snapshot.metrics.get(BANDWIDTH)
        seen = np.zeros(lines.used.shape, np.bool_) if bandwidth is None else self._fresh(bandwidth)
        self._usable: Floats = np.where(self._open[lines.idc] & seen, np.maximum(np.nan_to_num(lines.room), 0.0), 0.0)
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
        """Return the rows with a mark: `tight`, `tainted`, `draining`, `offline`, `stale`."""
        if mark == "tight":
            codes = {line.idc for line in self.tight_lines()}
            return np.array([code in codes for code in self._snapshot.idcs.codes], dtype=np.bool_)
        if mark in ("tainted", "stale"):
            return self.tainted if mark == "tainted" else self.stale
        return np.array(self._snapshot.idcs.statuses) == mark

    def tanks(self, shown: Mask) -> Mask:
        """Return the rows among `shown` that are tiles: those with lines."""
        return shown & self.shown & self._having(self._snapshot.lines.idc[self._lines])

    def digest(self) -> str:
        """Return a key of all that the tiles show: where it is the same, so are they."""
        idcs, lines = self._snapshot.idcs, self._snapshot.lines
        names = [region.name for region in self._snapshot.regions.values()]
        texts = (names, idcs.codes, idcs.names, idcs.regions, idcs.statuses, lines.codes, lines.isps)
        found = blake2b(repr(texts).encode(), digest_size=16)
        for mask in (self.shown, self._lines, self._closed, self.tainted, self._planned, self._open, self.stale):
            found.update(np.packbits(mask).tobytes())
        for values in (self._level, self._ratio, lines.pending / lines.purchased, lines.max_level, self._usable / 100):
            found.update(np.round(values, 3).tobytes())
        return found.hexdigest()

    def regions(self, shown: Mask) -> list[RegionTiles]:
        """Return the outermost regions with their IDCs among `shown` as tiles; the fullest region and IDC first.

        IDCs without lines are no tiles.
        """
        snapshot, idcs = self._snapshot, self._snapshot.idcs
        shown = self.tanks(shown)
        fullest = self._fullest()
        ratio = np.append(self._ratio, np.nan)[fullest]  # a row without a known line has −1 and picks the NaN
        order = np.argsort(np.where(np.isnan(ratio), -1.0, -ratio), kind="stable")
        order = order[np.argsort(np.isnan(ratio[order]), kind="stable")]
        regions, by_region = self._groups(shown), dict[str, list[IdcTile]]()
        for row in order[shown[order]].tolist():
            by_region.setdefault(regions[idcs.regions[row]], []).append(self._tile(row, int(fullest[row])))
        return [
            RegionTiles(
                code=code, name=snapshot.regions[code].name, tiles=tiles, free=sum(tile.room or 0.0 for tile in tiles)
            )
            for code, tiles in by_region.items()
        ]

    def without_lines(self) -> list[str]:
        """Return the codes of the IDCs that have no line."""
        lines = self._having(self._snapshot.lines.idc)
        return [self._snapshot.idcs.codes[row] for row in np.flatnonzero(self.shown & ~lines).tolist()]

    def capacity(self) -> Capacity:
        """Return the sums over all lines that are shown; what is never measured has no room."""
        lines, chosen = self._snapshot.lines, self._lines
        return Capacity(
            free=float(self._usable[chosen].sum()),
            limit=float((lines.purchased * lines.max_level)[chosen].sum()),
            used=float(np.nansum(lines.used[chosen])),
            reserved=float(np.nansum(lines.pending[chosen])),
        )

    def headroom(self) -> tuple[Sequence[str], list[Headroom]]:
        """Return the ISPs, and the room of each region by ISP, as orders find it.

        Lines of IDCs that are not online or are tainted against new orders, and those that are stale, have none.
        """
        snapshot, lines = self._snapshot, self._snapshot.lines
        chosen = np.flatnonzero(self._lines)
        isps = sorted({lines.isps[line] for line in chosen.tolist()}, key=lambda isp: -self._bought(isp))
        column = {isp: place for place, isp in enumerate(isps)}
        regions = self._groups(self.shown)
        codes = sorted(set(regions.values()), key=snapshot.spans.__getitem__)
        position = {code: place for place, code in enumerate(codes)}
        rows = [position[regions[snapshot.idcs.regions[row]]] for row in lines.idc[chosen].tolist()]
        cells = rows, [column[lines.isps[line]] for line in chosen.tolist()]
        sums = []
        for values in (self._usable, np.nan_to_num(lines.used), lines.purchased * lines.max_level):
            table = np.zeros((len(codes), len(isps)))
            np.add.at(table, cells, values[chosen])
            sums.append(table.tolist())
        room, used, limit = sums

        def of(place: int) -> list[Room | None]:
            shares = [(spent / most if most else None) for spent, most in zip(used[place], limit[place], strict=True)]
            return [
                None if share is None else Room(mbps=mbps, used=f"{min(100 * share, 100):.0f}%", level=colour(share))
                for share, mbps in zip(shares, room[place], strict=True)
            ]

        return isps, [
            Headroom(code=code, name=snapshot.regions[code].name, by_isp=by_isp, total=sum(room[place]))
            for code, place in position.items()
            if any(by_isp := of(place))
        ]

    def tight_lines(self) -> list[TightLine]:
        """Return the lines over their limit, then those nearly full that orders could go to; the worst first."""
        lines = self._snapshot.lines
        limit = lines.max_level * lines.purchased
        filled = np.divide(limit - lines.room, limit, out=np.full(limit.shape, np.nan), where=limit > 0)
        over = self._ratio > 1
        tight = np.flatnonzero(self._lines & ((self._open[lines.idc] & (filled >= NEARLY_FULL)) | over))
        order = tight[np.lexsort((lines.room[tight], ~over[tight]))]
        return [
            TightLine(
                idc=self._snapshot.idcs.codes[lines.idc[place]],
                line=lines.codes[place],
                room=float(limit[place] - lines.used[place]) if over[place] else float(max(lines.room[place], 0.0)),
                used=float(lines.used[place]),
                reserved=float(lines.pending[place]),
                limit=float(limit[place]),
                share=round(float(lines.max_level[place]) * 100),
                purchased=float(lines.purchased[place]),
            )
            for place in order.tolist()
        ]

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

    def _bought(self, isp: str) -> float:
        lines = self._snapshot.lines
        return float(lines.purchased[np.array(lines.isps) == isp].sum())

    def _tile(self, row: int, fullest: int) -> IdcTile:
        snapshot, lines = self._snapshot, self._snapshot.lines
        own = [line for line in lines.of_idc(row) if self._lines[line]]
        share = None if fullest < 0 else float(self._level[fullest])
        status = snapshot.idcs.statuses[row]
        return IdcTile(
            code=snapshot.idcs.codes[row],
            name=snapshot.idcs.names[row],
            short=self._short_names[snapshot.idcs.codes[row]],
            lines=len(own),
            line="" if share is None else lines.codes[fullest],
            percent=None if share is None else round(share * 100),
            room=None if share is None else float(self._usable[own].sum()),
            level="" if share is None else colour(float(self._ratio[fullest])),
            over=share is not None and bool(self._ratio[fullest] > 1),
            status="" if status == Status.ONLINE else status,
            taint="hard" if self._closed[row] else "soft" if self.tainted[row] else "",
            planned=bool(self._planned[row]),
            off=not self._open[row],
            stale=bool(self.stale[row]) and share is not None,
            columns=[self._column(line, place, len(own)) for place, line in enumerate(own)],
        )

    @cached_property
    def _short_names(self) -> dict[str, str]:
        """As many words of each code as no other one begins with; the first is the city in most fleets' names."""
        codes = self._snapshot.idcs.codes
        beginnings = {code: list(accumulate(code.split("-"), "{}-{}".format)) for code in codes}
        count = Counter(beginning for several in beginnings.values() for beginning in several)
        return {code: next((one for one in beginnings[code] if count[one] == 1), code) for code in codes}

    def _column(self, line: int, place: int, count: int) -> Column:
        lines = self._snapshot.lines
        wide, level = 100 / count, float(self._level[line])
        known = not isnan(level)
        height = min(level, 1.0) if known else 1.0
        pending = min(float(lines.pending[line]) / float(lines.purchased[line]), 1 - height) if known else 0.0
        return Column(
            isp=lines.isps[line],
            level=colour(float(self._ratio[line])) if known else "lvn",
            x=f"{place * wide + 1:.1f}%",
            width=f"{wide - 2:.1f}%",
            middle=f"{(place + 0.5) * wide:.1f}%",
            top=f"{100 * (1 - height):.1f}%",
            height=f"{100 * height:.1f}%",
            pending_top=f"{100 * (1 - height - pending):.1f}%",
            pending=f"{100 * pending:.1f}%" if pending > 0 else "",
            limit=f"{100 * (1 - float(lines.max_level[line])):.1f}%",
        )

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


def colour(share: float) -> str:
    """Return the class of the colour of a line that is filled to that share of its limit."""
    return f"lv{sum(share >= level for level in LEVELS[:-1]) + (share > LEVELS[-1])}"
