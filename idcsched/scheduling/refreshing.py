"""A picture kept up with what has moved: the rows that the feed names are read, and all else is shared with the old.

Measurements and what history comes to are read as far as they were written since the last reading, which PostgreSQL
tells by the transaction that wrote a row; other databases read the metrics that the feed names whole. What changes
the order of rows (the inventory) or what columns there are (metric definitions) calls for a picture built anew.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import connection
from uuid_utils.compat import uuid7

from idcsched.audit.feed import Moved
from idcsched.framework.building import BANDWIDTH, busiest_hours, lines_with_room, taint_columns, times_shared
from idcsched.framework.facts import HeadcountFact
from idcsched.framework.normalize import Floats
from idcsched.framework.overlaying import derived_of_inventory
from idcsched.framework.snapshot import Idcs, Lines, MetricColumn, Snapshot, sealed
from idcsched.ledger.models import Headcount, Holding

from .world import affinities_known, hours_of_week, taints_known

__all__ = ["REBUILT_FOR", "Refreshing"]

REBUILT_FOR = frozenset({"inventory", "metric_definitions"})

SINCE = " AND age({table}.xmin) <= age(%s::text::xid)"
LATEST = """
    SELECT metric.code, idc.code, line.code, latest.value, latest.at
    FROM metrics_ingest_latest AS latest
    JOIN metrics_ingest_metric AS metric ON metric.id = latest.metric_id
    JOIN inventory_idc AS idc ON idc.id = latest.idc_id
    LEFT JOIN inventory_line AS line ON line.id = latest.line_id
    WHERE metric.code IN ({codes})
"""
ROLLUPS = """
    SELECT idc.code, line.code, rollup.p95_mbps, rollup.hours, rollup.hours_until
    FROM metrics_ingest_bandwidthrollup AS rollup
    JOIN inventory_line AS line ON line.id = rollup.line_id
    JOIN inventory_idc AS idc ON idc.id = line.idc_id
    WHERE TRUE
"""


class Refreshing:
    """What was read when: for each metric, and for the roll-ups, the oldest transaction not over at that reading."""

    def __init__(self) -> None:
        self._since: dict[str, int | None] = {}
        self._built: int | None = None

    def rebuilt(self, oldest: int | None) -> None:
        """A picture was built anew, after a poll at which that was the oldest transaction not over."""
        self._since, self._built = {}, oldest

    def refreshed(self, old: Snapshot, moved: Collection[Moved], *, oldest: int | None, now: float) -> Snapshot:
        """The picture with what has moved; for topics that are not in REBUILT_FOR. Call it in one transaction."""
        keys: dict[str, set[str]] = defaultdict(set)
        for entry in moved:
            keys[entry.topic].add(entry.key)
        changed: dict[str, Any] = {}
        if "taints" in keys:
            changed["taints"] = sealed(taint_columns(tuple(taints_known()), old.idcs.row_of))
        if "affinities" in keys:
            changed["affinities"] = tuple(affinities_known())
        if "metrics" in keys:
            changed |= self._measured(old, keys["metrics"], oldest)
        if "ledger" in keys:
            changed |= _taken(old, changed.get("lines", old.lines), keys["ledger"])
        if "lines" in changed:
            bandwidth = changed.get("metrics", old.metrics).get(BANDWIDTH)
            changed["lines"] = sealed(lines_with_room(changed["lines"], bandwidth, old.usage))
        return replace(old, id=str(uuid7()), built_at=now, derived=derived_of_inventory(old), **changed)

    def _measured(self, old: Snapshot, codes: set[str], oldest: int | None) -> dict[str, Any]:
        """The metrics named, or all of them; with bandwidth goes what its history comes to."""
        named = sorted(set(old.metrics) if "" in codes else codes & set(old.metrics))
        known = [self._since.get(f"metric {code}", self._built) for code in named]
        if "" in codes or None in known:
            columns = [column for code in named for column in _columns(old, [code], None)]
        else:
            columns = _columns(old, named, min(since for since in known if since is not None)) if named else []
        changed: dict[str, Any] = {"metrics": {**old.metrics, **{column.fact.code: column for column in columns}}}
        if BANDWIDTH in named:
            changed["lines"] = self._history(old)
            self._since["rollups"] = oldest
        self._since |= dict.fromkeys((f"metric {code}" for code in named), oldest)
        return changed

    def _history(self, old: Snapshot) -> Lines:
        rows = _rows(ROLLUPS, "rollup", self._since.get("rollups", self._built))
        if not rows:
            return old.lines
        place = _places(old)
        positions = [place(idc, line) for idc, line, *_ in rows]
        percentile, busy_bits = old.lines.percentile.copy(), old.lines.busy_bits.copy()
        percentile[positions] = [np.nan if p95 is None else p95 for _, _, p95, *_ in rows]
        hours: Floats = np.array([hours_of_week(bytes(hours), until) for *_, hours, until in rows], dtype=np.float64)
        busy_bits[positions] = busiest_hours(hours, range(len(rows)))
        return replace(old.lines, percentile=percentile, busy_bits=busy_bits)


def _columns(old: Snapshot, codes: list[str], since: int | None) -> list[MetricColumn]:
    """These metrics' columns with what was written since that transaction, all in one look at the table.

    None: read whole, which alone finds out what is not measured any more.
    """
    found: dict[str, tuple[Floats, Floats]] = {}
    for code in codes:
        column = old.metrics[code]
        nothing = np.full((2, column.values.size), np.nan)
        found[code] = (column.values.copy(), column.at.copy()) if since is not None else (nothing[0], nothing[1])
    place = _places(old)
    for code, idc, line, value, taken_at in _rows(
        LATEST.format(codes=", ".join(["%s"] * len(codes))), "latest", since, *codes
    ):
        values, at = found[code]
        position = old.idcs.row_of[idc] if line is None else place(idc, line)
        values[position], at[position] = value, taken_at.timestamp()
    columns = (MetricColumn.of(old.metrics[code].fact, values, at) for code, (values, at) in found.items())
    return [sealed(column) for column in times_shared(columns)]


def _taken(old: Snapshot, lines: Lines, idcs: set[str]) -> dict[str, Any]:
    """What the ledger holds of these IDCs now."""
    named = sorted(set(old.idcs.codes) if "" in idcs else idcs & set(old.idcs.codes))
    rows = [old.idcs.row_of[code] for code in named]
    pending, ordered = lines.pending.copy(), lines.ordered.copy()
    taken = {resource: column.copy() for resource, column in old.idcs.taken.items()}
    for row in rows:
        of_idc = slice(int(lines.first[row]), int(lines.first[row + 1]))
        pending[of_idc] = ordered[of_idc] = 0.0
    for column in taken.values():
        column[rows] = 0.0
    place = _places(old)
    held = Holding.objects.filter(idc__code__in=named).values_list(
        "idc__code", "line__code", "resource", "taken", "ordered"
    )
    for idc, line, resource, in_use, in_all in held:
        if line is None:
            taken[resource][old.idcs.row_of[idc]] = in_use
        else:
            position = place(idc, line)
            pending[position], ordered[position] = in_use, in_all
    idcs_now: Idcs = sealed(replace(old.idcs, taken=taken))
    return {
        "idcs": idcs_now,
        "lines": replace(lines, pending=pending, ordered=ordered),
        "headcounts": (*(fact for fact in old.headcounts if fact.idc not in set(named)), *_headcounts(named)),
    }


def _headcounts(idcs: list[str]) -> Iterator[HeadcountFact]:
    counted = Headcount.objects.filter(machines__gt=0, idc__code__in=idcs).order_by("id")
    for idc, tenant, business, machines in counted.values_list("idc__code", "tenant__code", "business", "machines"):
        yield HeadcountFact(idc=idc, tenant=tenant, business=business, machines=machines)


def _places(old: Snapshot) -> Any:
    """Where a line stands among all lines."""
    lines, row_of = old.lines, old.idcs.row_of

    def place(idc: str, line: str) -> int:
        row = row_of[idc]
        return lines.codes.index(line, int(lines.first[row]), int(lines.first[row + 1]))

    return place


def _rows(sql: str, table: str, since: int | None, *params: Any) -> list[Any]:
    """The rows written since that transaction; all of them where it is not known."""
    given = list(params)
    if since is not None and connection.vendor == "postgresql":
        sql += SINCE.format(table=table)
        given.append(since % 2**32)
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())
