"""The reading of the database into the engine's facts: one query per table, values and no model instances.

The columns of IDCs and lines are read as `framework/columns.py` declares them. What moves (taints, affinities, the
ledger, roll-ups) is read by the same functions when a snapshot is built and when it is refreshed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from django.db import connection

from idcsched.framework.building import busiest_hours
from idcsched.framework.capacity import Usage
from idcsched.framework.columns import STOCK_RESOURCES, HoursOfWeek, IdcTable, LineColumns, columns_of
from idcsched.framework.facts import (
    AffinityFact,
    HeadcountFact,
    Ints,
    MetricFact,
    RegionFact,
    Samples,
    TaintFact,
    World,
)
from idcsched.framework.matching import parse_terms
from idcsched.framework.normalize import Floats
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from idcsched.ledger.models import Headcount, Holding
from metrics_ingest.models import Metric

from .history import history_known
from .keys import Places
from .latest_values import latest_values
from .shapes import shapes_known

__all__ = ["affinities_known", "headcounts_known", "holdings_read", "load_world", "rollups_read", "taints_known"]

HOURS_A_DAY = 24
AT_ONCE = 2000
"""Rows that are held in memory at a time."""
RELATED = {"region": "region__code", "idc": "idc__code", "isp": "isp__code"}
"""The fields of rows that are codes of other rows."""
ROLLUPS = """
    SELECT rollup.line_id, rollup.p95_mbps, rollup.hours, rollup.hours_until
    FROM metrics_ingest_bandwidthrollup AS rollup WHERE TRUE
"""
SINCE = " AND age(rollup.xmin) <= (SELECT age(%s::text::xid))"


def load_world() -> World:
    """Read all data for a snapshot; call this in a transaction, so that the tables agree."""
    words = InternPool(Idc.objects.order_by().values_list("code", flat=True).iterator(AT_ONCE))
    idc_keys, line_keys = _keys(Idc), _keys(Line)
    idcs = replace(IdcTable.of(_rows(Idc, IdcTable, words)), stock=_stock())
    lines = LineColumns.of(_rows(Line, LineColumns, words), idcs.codes)
    holdings_read(idcs.taken, lines.pending, lines.ordered, idc_keys, line_keys)
    rollups_read(lines.percentile, lines.busy_bits, line_keys)
    return World(
        regions=tuple(_regions()),
        isps=_isp_names(),
        idcs=idcs,
        lines=lines,
        taints=tuple(taints_known()),
        affinities=tuple(affinities_known()),
        samples=tuple(_samples(idc_keys.keys, line_keys.keys)),
        headcounts=tuple(headcounts_known()),
        history=history_known(line_keys.keys),
        shapes=tuple(shapes_known()),
        usage=Usage(count=settings.BANDWIDTH_COUNT, max_level=settings.BANDWIDTH_MAX_LEVEL),
        currency=settings.CURRENCY,
        dearest_price=settings.DEAREST_PRICE,
    )


def _regions() -> Iterator[RegionFact]:
    rows = Region.objects.values_list("code", "name", "parent__code", "latitude", "longitude")
    for code, name, parent, latitude, longitude in rows.order_by("code"):
        yield RegionFact(code=code, name=name, parent=parent, latitude=latitude, longitude=longitude)


def _isp_names() -> dict[str, str]:
    """Return the codes of ISPs by code and by alias."""
    names: dict[str, str] = {}
    for code, aliases in Isp.objects.values_list("code", "aliases"):
        names |= dict.fromkeys((*aliases, code), code)
    return names


def _rows(model: type[Idc] | type[Line], table: type[Any], words: "InternPool") -> Iterator[dict[str, Any]]:
    """Yield the columns of the table that the inventory stores, as rows by field, in the order of primary keys."""
    fields = [column.field for column in columns_of(table).values() if column.stored]
    rows = model.objects.order_by("id").values_list(*(RELATED.get(field, field) for field in fields))
    for row in rows.iterator(AT_ONCE):
        yield dict(zip(fields, map(words.kept, row), strict=True))


def _stock() -> dict[str, Floats]:
    """Return what may be sold of each resource by IDC, in the order of primary keys; NaN: unlimited."""
    fields = [f"stock_{resource}" for resource in STOCK_RESOURCES]
    rows = np.array(list(Idc.objects.order_by("id").values_list(*fields)), dtype=np.float64)
    return dict(zip(STOCK_RESOURCES, rows.reshape(-1, len(fields)).T, strict=True))


def holdings_read(
    taken: Mapping[str, Floats],
    pending: Floats,
    ordered: Floats,
    idcs: Places,
    lines: Places,
    *,
    named: Collection[str] | None = None,
) -> None:
    """Put what the ledger holds of the IDCs with these codes, or of all, into these columns of IDCs and of lines.

    Raises KeyError where it names an IDC or line that has no place.
    """
    holdings = Holding.objects.all() if named is None else Holding.objects.filter(idc__code__in=named)
    rows = list(holdings.values_list("idc_id", "line_id", "resource", "taken", "ordered"))
    stock = [(idc, resource, amount) for idc, line, resource, amount, _ in rows if line is None]
    for place, (_, resource, amount) in zip(idcs[_ints(idc for idc, *_ in stock)].tolist(), stock, strict=True):
        taken[resource][place] = amount
    bandwidth = [(line, amount, asked) for _, line, _, amount, asked in rows if line is not None]
    places = lines[_ints(line for line, *_ in bandwidth)]
    pending[places] = [amount for _, amount, _ in bandwidth]
    ordered[places] = [asked for *_, asked in bandwidth]


def headcounts_known(*, named: Collection[str] | None = None) -> Iterator[HeadcountFact]:
    """Yield how many machines stand in the IDCs with these codes, or in all, and whose."""
    rows = Headcount.objects.filter(machines__gt=0).order_by("id")
    rows = rows if named is None else rows.filter(idc__code__in=named)
    for idc, tenant, business, machines in rows.values_list("idc__code", "tenant__code", "business", "machines"):
        yield HeadcountFact(idc=idc, tenant=tenant, business=business, machines=machines)


def rollups_read(percentile: Floats, busy_bits: HoursOfWeek, lines: Places, *, since: int | None = None) -> bool:
    """Put the roll-ups of all lines into these columns, or those written since a transaction; return if there are any.

    Only PostgreSQL knows which transaction wrote a row. Raises KeyError where a line has no place.
    """
    known, found = since is not None and connection.vendor == "postgresql", False
    with connection.cursor() as cursor:
        cursor.execute(ROLLUPS + (SINCE if known else ""), [since % 2**32] if known and since is not None else [])
        while rows := cursor.fetchmany(AT_ONCE):
            found = True
            places = lines[_ints(line for line, *_ in rows)]
            percentile[places] = [np.nan if p95 is None else p95 for _, p95, *_ in rows]
            busy_bits[places] = busiest_hours(
                np.array([hours_of_week(bytes(hours), until) for *_, hours, until in rows])
            )
    return found


class InternPool:
    """An intern pool of words and labels: a fleet has few different ones, and its snapshot lives long.

    The words in `first` are allocated together, and not among short-lived objects, whose memory can then be returned.
    """

    def __init__(self, first: Iterable[str] = ()) -> None:
        self._known: dict[Any, Any] = {word: word for word in first}
        self._labels: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def kept(self, value: Any) -> Any:
        """Return the value that is equal to this one and was met first."""
        if isinstance(value, dict):
            return self._labels.setdefault(
                tuple(value.items()), {self.kept(name): self.kept(label) for name, label in value.items()}
            )
        return self._known.setdefault(value, value)


def taints_known() -> Iterator[TaintFact]:
    """Yield every taint, also those whose window is not open."""
    rows = Taint.objects.order_by("id").values_list(
        "idc__code", "key", "value", "effect", "starts_at", "ends_at", "reason"
    )
    for idc, key, value, effect, starts_at, ends_at, reason in rows:
        yield TaintFact(
            idc=idc,
            key=key,
            value=value,
            effect=effect,
            starts_at=_seconds(starts_at),
            ends_at=_seconds(ends_at),
            reason=reason,
        )


def affinities_known() -> Iterator[AffinityFact]:
    """Yield every affinity, also those whose window is not open."""
    fields = ("id", "kind", "idc__code", "selector", "weight", "request_selector", "starts_at", "ends_at", "reason")
    rows = Affinity.objects.order_by("id").values_list(*fields)
    for id_, kind, idc, selector, weight, request_selector, starts_at, ends_at, reason in rows:
        yield AffinityFact(
            kind=kind,
            idc=idc,
            terms=None if selector is None else parse_terms(selector),
            weight=weight or 0,
            request_terms=None if request_selector is None else parse_terms(request_selector),
            starts_at=_seconds(starts_at),
            ends_at=_seconds(ends_at),
            id=id_,
            reason=reason,
        )


def _samples(idcs: Ints, lines: Ints) -> Iterator[Samples]:
    """Yield the latest values of every metric, also of metrics without values."""
    fields = ("id", "code", "scope", "direction", "max_age_seconds", "low", "high")
    for id_, code, scope, direction, max_age, low, high in Metric.objects.values_list(*fields):
        column = latest_values(id_, idcs=idcs, lines=lines)
        yield Samples(
            metric=MetricFact(code=code, scope=scope, direction=direction, max_age=max_age, low=low, high=high),
            subjects=column.subjects,
            values=column.values,
            at=column.at,
        )


def hours_of_week(hours: bytes, until: datetime) -> Any:
    """Return the 168 hours up to `until` in the order of a week that begins on Monday in the billing zone."""
    return np.roll(np.frombuffer(hours, dtype="<f4"), _hour_of_week(until))


def _hour_of_week(at: datetime) -> int:
    """Return the hour of the week, 0 for Monday 00:00 in the billing zone."""
    local = at.astimezone(ZoneInfo(settings.BILLING_ZONE))
    return local.weekday() * HOURS_A_DAY + local.hour


def _keys(model: type[Idc] | type[Line]) -> Places:
    """Return the primary keys, at the places in which the rows are read."""
    keys = _ints(model.objects.order_by("id").values_list("id", flat=True).iterator(AT_ONCE))
    return Places(keys, np.arange(keys.size))


def _ints(keys: Iterable[int]) -> Ints:
    return np.fromiter(keys, dtype=np.int64)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
