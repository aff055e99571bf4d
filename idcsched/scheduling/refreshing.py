"""The refreshing of a snapshot: the rows that the feed names are read, and all else is shared with the old snapshot.

Measurements are read for the IDCs that the feed names. Where the feed names no IDCs, measurements and roll-ups are read
as far as they were written since the last reading, which PostgreSQL tells by the transaction that wrote a row; on other
databases the metrics that the feed names are read whole. A change of the order of rows (the inventory) or of the
columns (metric definitions) calls for a new snapshot.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import connection
from uuid_utils.compat import uuid7

from idcsched.feed.reading import FeedNews
from idcsched.framework.building import (
    lines_with_room,
    stock_with_left,
    taint_columns,
    times_shared,
)
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.facts import History
from idcsched.framework.memory import sealed
from idcsched.framework.snapshot import Headcounts, Lines, MetricColumn, Snapshot
from metrics_ingest.builtin import ROLLUPS_MOVED

from .history import history_known, history_version
from .keys import Keys, keys_of
from .latest_values import Table, values_moved
from .shapes import shapes_known
from .world import affinities_known, headcounts_known, holdings_read, rollups_read, taints_known

__all__ = ["REBUILT_FOR", "Refreshing"]

REBUILT_FOR = frozenset({"inventory", "metric_definitions"})


class Refreshing:
    """Remembers, for each metric and for the roll-ups, the oldest transaction that was open at the last reading."""

    def __init__(self) -> None:
        self._since: dict[str, int | None] = {}
        self._built: int | None = None
        self._keys: Keys | None = None

    def rebuilt(self, oldest: int | None) -> None:
        """Start over with a new snapshot, built after a poll at which `oldest` was the oldest open transaction."""
        self._since, self._built, self._keys = {}, oldest, None

    def refreshed(self, old: Snapshot, moved: Collection[FeedNews], *, oldest: int | None, now: float) -> Snapshot:
        """Return the snapshot with what has moved, for topics not in REBUILT_FOR. Call this in one transaction."""
        keys: dict[str, set[str]] = defaultdict(set)
        for entry in moved:
            keys[entry.topic].add(entry.key)
        read_whole: dict[str, Callable[[], Any]] = {
            "taints": lambda: sealed(taint_columns(tuple(taints_known()), old.idcs.row_of)),
            "affinities": lambda: tuple(affinities_known()),
            "shapes": lambda: {(fact.tenant, fact.business): fact for fact in shapes_known()},
        }
        changed = {topic: read() for topic, read in read_whole.items() if topic in keys}
        if "metrics" in keys:
            measured = [entry for entry in moved if entry.topic == "metrics" and entry.key != ROLLUPS_MOVED]
            changed |= self._measured(old, measured, oldest)
            if keys["metrics"] & {"", ROLLUPS_MOVED}:
                changed["lines"] = self._rollups(old, oldest)
                if old.history is not None and old.history.version != history_version():
                    changed["history"] = self._history(old)
        if "ledger" in keys:
            changed |= self._taken(old, changed.get("lines", old.lines), keys["ledger"])
        if "lines" in changed:
            bandwidth = changed.get("metrics", old.metrics).get(BANDWIDTH)
            changed["lines"] = sealed(lines_with_room(changed["lines"], bandwidth, old.usage))
        return replace(old, id=str(uuid7()), built_at=now, **changed)

    def _measured(self, old: Snapshot, moved: Collection[FeedNews], oldest: int | None) -> dict[str, Any]:
        """Read the named metrics (or all) of the named IDCs (or all); return the parts of the snapshot that change."""
        codes = {entry.key for entry in moved}
        named = sorted(set(old.metrics) if "" in codes else codes & set(old.metrics))
        if not named:
            return {}
        known = [self._since.get(f"metric {code}", self._built) for code in named]
        since = None if "" in codes or None in known else min(filter(None, known))
        columns = self._columns(old, named, _idcs_named(moved), since)
        self._since = self._since | dict.fromkeys((f"metric {code}" for code in named), oldest)
        changed: dict[str, Any] = {"metrics": {**old.metrics, **{column.fact.code: column for column in columns}}}
        return changed | ({"lines": old.lines} if BANDWIDTH in named else {})

    def _columns(
        self, old: Snapshot, codes: list[str], idcs: Collection[int] | None, since: int | None
    ) -> Iterator[MetricColumn]:
        """Yield these metrics' columns with the values that have moved.

        Without named IDCs and without a known last reading, metrics are read whole; only that finds the values that
        are not measured any more.
        """
        keys = self._keys_of(old)
        whole = idcs is None and (since is None or connection.vendor != "postgresql")
        groups = [[code] for code in codes] if whole else [codes]  # whole metrics one at a time, to limit memory
        columns = (
            _patched(old.metrics[code], _of_metric(rows, keys.metrics[code]), keys, whole)
            for group in groups
            for rows in [values_moved([keys.metrics[code] for code in group], idcs=idcs, since=since)]
            for code in group
        )
        return (sealed(column) for column in times_shared(columns))

    def _history(self, old: Snapshot) -> History | None:
        """Read the last 30 days of all lines, which move about once a day."""
        keys = self._keys_of(old)
        by_key = history_known(keys.lines.keys)
        return by_key and sealed(by_key.of_lines(np.argsort(keys.lines.places)))

    def _rollups(self, old: Snapshot, oldest: int | None) -> Lines:
        keys, percentile, busy_bits = self._keys_of(old), old.lines.percentile.copy(), old.lines.busy_bits.copy()
        found = rollups_read(percentile, busy_bits, keys.lines, since=self._since.get("rollups", self._built))
        self._since = self._since | {"rollups": oldest}
        return replace(old.lines, percentile=percentile, busy_bits=busy_bits) if found else old.lines

    def _taken(self, old: Snapshot, lines: Lines, idcs: set[str]) -> dict[str, Any]:
        """Return the parts of the snapshot that show the ledger, with these IDCs read anew; all, if one is unknown."""
        known = set(old.idcs.codes)
        named = idcs if idcs.issubset(known) else known
        rows, keys = [old.idcs.row_of[code] for code in named], self._keys_of(old)
        taken = {resource: amounts.copy() for resource, amounts in old.stock.taken.items()}
        pending, ordered = lines.pending.copy(), lines.ordered.copy()
        for amounts in taken.values():
            amounts[rows] = 0.0
        for row in rows:
            pending[lines.first[row] : lines.first[row + 1]] = ordered[lines.first[row] : lines.first[row + 1]] = 0.0
        holdings_read(taken, pending, ordered, keys.idcs, keys.lines, named=named)
        others = (fact for fact in old.headcounts.facts if fact.idc not in named)
        return {
            "stock": sealed(stock_with_left(old.stock.total, taken)),
            "lines": replace(lines, pending=pending, ordered=ordered),
            "headcounts": Headcounts((*others, *headcounts_known(named=named))),
        }

    def _keys_of(self, old: Snapshot) -> Keys:
        """Return the primary keys of the snapshot's rows, which are read once after each rebuild."""
        self._keys = self._keys or keys_of(old)
        return self._keys


def _idcs_named(moved: Collection[FeedNews]) -> Collection[int] | None:
    """Return the IDCs that the entries name; None if an entry may be about any IDC."""
    named: set[int] = set()
    for entry in moved:
        if entry.idcs is None:
            return None
        named.update(entry.idcs)
    return named


def _of_metric(rows: Table, metric: int) -> Table:
    return rows[rows["metric"] == metric]


def _patched(old: MetricColumn, rows: Table, keys: Keys, whole: bool) -> MetricColumn:
    """Return the column with these values; with no others if they are the `whole` column."""
    values, at = (np.full(old.values.size, np.nan) if whole else column.copy() for column in (old.values, old.at))
    places = keys.idcs[rows["idc"]] if old.fact.scope == "idc" else keys.lines[rows["line"]]
    values[places], at[places] = rows["value"], rows["at"]
    return MetricColumn(old.fact, values, at)
