"""What-if: a copy of the snapshot with supposed taints, statuses, lines or metrics.

Only the columns that change are copied; the snapshot itself stays as it is. A supposed metric value counts as just
measured; null makes the metric missing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
from msgspec.structs import fields

from .billing import monthly_price, paid_anyway
from .building import lines_with_room
from .capacity import BANDWIDTH
from .columns import LineColumns, columns_of
from .decoding import pointer_token
from .errors import Invalid
from .facts import History
from .labels import Mask
from .memory import Memory
from .messages import _
from .normalize import Floats
from .request import Hypothetical, HypotheticalIdc, HypotheticalLine, HypotheticalTaint, IgnoredTaint
from .snapshot import Idcs, Lines, MetricColumn, Snapshot, Taints

__all__ = ["suppose"]

T = TypeVar("T")

_EVERY_HOUR = 0xFF
_UNSUPPOSED = {field.name: field.default for field in fields(HypotheticalLine)}
_SUPPOSED = {name: column.field for name, column in columns_of(LineColumns).items() if column.field in _UNSUPPOSED}
"""The columns of lines of which a request may suppose another number, with the field of the request."""


def suppose(snapshot: Snapshot, what_if: Hypothetical, *, now: float) -> Snapshot:
    """Return the snapshot with what `what_if` supposes; raises Invalid for an unknown IDC, line or metric."""
    metrics = _metrics(snapshot, what_if, now)
    lines = _lines(replace(snapshot, metrics=metrics), what_if)
    return replace(
        snapshot,
        idcs=_idcs(snapshot, what_if),
        taints=_taints(snapshot, what_if),
        metrics=metrics,
        lines=lines,
        history=_history(snapshot, what_if),
    )


def _idcs(snapshot: Snapshot, what_if: Hypothetical) -> Idcs:
    statuses = list(snapshot.idcs.statuses)
    for pointer, idc in _pointed(what_if.idcs, "idcs"):
        row = _row(snapshot, idc.code, f"{pointer}/code")
        statuses[row] = idc.status or statuses[row]
    return replace(snapshot.idcs, statuses=tuple(statuses), memory=Memory())


def _taints(snapshot: Snapshot, what_if: Hypothetical) -> Taints:
    old = snapshot.taints
    keep = np.ones(old.idc.size, dtype=np.bool_)
    for pointer, ignored in _pointed(what_if.ignore_taints, "ignore_taints"):
        keep &= ~_ignored(old, _row(snapshot, ignored.idc, f"{pointer}/idc"), ignored)
    added = [
        (_row(snapshot, taint.idc, f"{pointer}/idc"), _kind(taint))
        for pointer, taint in _pointed(what_if.taints, "taints")
    ]
    kinds = tuple(sorted({*old.kinds, *(kind for _, kind in added)}))
    number = {kind: position for position, kind in enumerate(kinds)}
    renumbered = np.array([number[kind] for kind in old.kinds], dtype=np.int64)
    idc = np.concatenate([old.idc[keep], np.array([row for row, _ in added], dtype=np.intp)])
    kind = np.concatenate([renumbered[old.kind[keep]], np.array([number[kind] for _, kind in added], dtype=np.int64)])
    reasons = [*(old.reasons[place] for place in np.flatnonzero(keep) if old.reasons), *[""] * len(added)]
    order = np.lexsort((kind, idc))  # as if the snapshot had been built with them: the first that rejects is named
    return Taints(
        idc=idc[order],
        kind=kind[order],
        kinds=kinds,
        starts=np.concatenate([old.starts[keep], np.full(len(added), -np.inf)])[order],
        ends=np.concatenate([old.ends[keep], np.full(len(added), np.inf)])[order],
        reasons=tuple(reasons[place] for place in order) if old.reasons else (),
    )


def _kind(taint: HypotheticalTaint) -> tuple[str, str, str]:
    return taint.key, taint.value or "", taint.effect


def _ignored(taints: Taints, row: int, ignored: IgnoredTaint) -> Mask:
    """Return which taints of the row are ignored: those of the key, and of the effect if one is named."""
    kinds = np.array(
        [key == ignored.key and ignored.effect in (None, effect) for key, _, effect in taints.kinds], dtype=np.bool_
    )
    mask: Mask = kinds[taints.kind] & (taints.idc == row)
    return mask


def _metrics(snapshot: Snapshot, what_if: Hypothetical, now: float) -> dict[str, MetricColumn]:
    """Return the metrics with the supposed values in place, as of `now`."""
    columns = dict(snapshot.metrics)
    copied = set[str]()
    for pointer, scope, subject, code, value in _values(snapshot, what_if):
        column = columns.get(code)
        if column is None or column.fact.scope != scope:
            raise Invalid("unknown_metric", _("there is no {scope} metric {name}"), pointer, scope=scope, name=code)
        if code not in copied:
            copied.add(code)
            column = columns[code] = replace(column, values=column.values.copy(), at=column.at.copy())
        column.values[subject], column.at[subject] = (np.nan, np.nan) if value is None else (value, now)
    return columns


def _values(snapshot: Snapshot, what_if: Hypothetical) -> Iterator[tuple[str, str, int, str, float | None]]:
    """Yield every supposed value: (pointer, scope, row or line, metric, value)."""
    for pointer, idc in _pointed(what_if.idcs, "idcs"):
        row = _row(snapshot, idc.code, f"{pointer}/code")
        for code, value in (idc.metrics or {}).items():
            yield f"{pointer}/metrics/{pointer_token(code)}", "idc", row, code, value
        for line_pointer, line, number in _supposed_lines(snapshot, idc, row, pointer):
            for code, value in (line.metrics or {}).items():
                yield f"{line_pointer}/metrics/{pointer_token(code)}", "line", number, code, value


def _lines(snapshot: Snapshot, what_if: Hypothetical) -> Lines:
    lines = snapshot.lines
    copied = (*_SUPPOSED, "price", "paid", "percentile", "busy_bits")
    columns = {name: getattr(lines, name).copy() for name in copied}
    for pointer, idc in _pointed(what_if.idcs, "idcs"):
        row = snapshot.idcs.row_of[idc.code]
        for _pointer, line, number in _supposed_lines(snapshot, idc, row, pointer):
            for column, field in _SUPPOSED.items():
                if (value := getattr(line, field)) is not _UNSUPPOSED[field]:
                    columns[column][number] = np.nan if value is None else value
            if BANDWIDTH in (line.metrics or {}):  # as if all samples of the window had this value
                value = (line.metrics or {})[BANDWIDTH]
                columns["percentile"][number] = np.nan if value is None else value
                columns["busy_bits"][number] = 0 if value is None else _EVERY_HOUR
            columns["price"][number] = _price(lines, columns, number)
            commit, purchased = float(columns["commit"][number]), float(columns["purchased"][number])
            columns["paid"][number] = paid_anyway(lines.charge_types[number], _known(commit), purchased)
    bandwidth = snapshot.metrics.get(BANDWIDTH)
    return lines_with_room(replace(lines, **columns), bandwidth, snapshot.usage)


def _history(snapshot: Snapshot, what_if: Hypothetical) -> History | None:
    """Return the history with each line of supposed bandwidth as if it had carried that all the time."""
    supposed = {
        line: np.nan if value is None else value
        for _pointer, scope, line, code, value in _values(snapshot, what_if)
        if scope == "line" and code == BANDWIDTH
    }
    if snapshot.history is None or not supposed:
        return snapshot.history
    every = snapshot.history.of_lines(np.arange(len(snapshot.lines.codes)))
    for line, value in supposed.items():
        every.hours[line] = value
        if every.measured is not None:
            every.measured[line] = value
    return every


def _price(lines: Lines, columns: dict[str, Floats], number: int) -> float:
    per_mbps, per_gb = (float(columns[name][number]) for name in ("price_per_mbps", "price_per_gb"))
    price = monthly_price(lines.charge_types[number], _known(per_mbps), _known(per_gb))
    return np.nan if price is None else price


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _supposed_lines(
    snapshot: Snapshot, idc: HypotheticalIdc, row: int, pointer: str
) -> Iterator[tuple[str, HypotheticalLine, int]]:
    for position, line in enumerate(idc.lines or ()):
        line_pointer = f"{pointer}/lines/{position}"
        if line.line not in snapshot.lines.codes_of(row):
            raise Invalid(
                "unknown_line", _("{idc} has no line {name}"), f"{line_pointer}/line", idc=idc.code, name=line.line
            )
        yield line_pointer, line, snapshot.lines.number(row, line.line)


def _row(snapshot: Snapshot, code: str, pointer: str) -> int:
    row = snapshot.idcs.row_of.get(code)
    if row is None:
        raise Invalid("unknown_idc", _("there is no IDC {name}"), pointer, name=code)
    return row


def _pointed(parts: tuple[T, ...] | None, field: str) -> Iterator[tuple[str, T]]:
    """Yield the parts with their JSON pointers."""
    for position, part in enumerate(parts or ()):
        yield f"/hypothetical/{field}/{position}", part
