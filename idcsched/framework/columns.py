"""The tables of the fleet: every column of an IDC and of a line, declared once.

A column has a name here (`commit`), and a field by which requests, documents and the database call it (`commit_mbps`).
The loader, snapshots, suppositions and records go by this declaration, so that a new fact of a line is one more column
of `LineColumns`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import itemgetter
from typing import Annotated, Any, Final, get_origin, get_type_hints

import numpy as np

from .labels import Rows
from .normalize import Floats

__all__ = [
    "HOURS_A_WEEK",
    "STOCK_RESOURCES",
    "Column",
    "HoursOfWeek",
    "IdcColumns",
    "IdcTable",
    "LineColumns",
    "Words",
    "columns_of",
    "entries",
    "floats",
    "optional",
]

Words = np.ndarray[Any, np.dtype[np.str_]]
HoursOfWeek = np.ndarray[Any, np.dtype[np.uint8]]
"""Hours of the week, an hour a bit."""

HOURS_A_WEEK: Final = 168
STOCK_RESOURCES: Final = ("cpu", "memory_gib", "disk_gib", "gpu")
NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is made of the `field` of each row; `missing` stands where a row has none, or None.

    A column that is not `stored` in the inventory is measured, or the ledger's.
    """

    field: str
    made: Callable[[Sequence[Any]], Any]
    missing: Any
    stored: bool = True


def floats(values: Iterable[float | None]) -> Floats:
    """Return the numbers as an array; None becomes NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def optional(column: Floats) -> list[float | None]:
    """Return the numbers of an array; NaN becomes None."""
    return [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN alone is not itself


def _by_resource(missing: float, amounts: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Return the amounts of each resource as one array."""
    return {name: floats(row.get(name, missing) for row in amounts) for name in STOCK_RESOURCES}


_text = partial(Column, made=tuple, missing="")
_number = partial(Column, made=floats, missing=np.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcColumns:
    """One entry an IDC; latitude and longitude are NaN where they are not known."""

    codes: Annotated[tuple[str, ...], _text("code")]
    names: Annotated[tuple[str, ...], _text("name")]
    regions: Annotated[tuple[str, ...], _text("region")]
    tiers: Annotated[tuple[str, ...], _text("tier", missing="edge")]
    statuses: Annotated[tuple[str, ...], _text("status", missing="online")]
    partitions: Annotated[tuple[str, ...], _text("partition")]
    providers: Annotated[tuple[str, ...], _text("provider")]
    labels: Annotated[tuple[Mapping[str, str], ...], _text("labels", missing=NOTHING)]
    latitude: Annotated[Floats, _number("latitude")]
    longitude: Annotated[Floats, _number("longitude")]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcTable(IdcColumns):
    """IDCs with what may be sold of each resource (NaN: unlimited), and what is taken."""

    stock: Annotated[Mapping[str, Floats], Column("stock", partial(_by_resource, np.nan), NOTHING, stored=False)]
    taken: Annotated[Mapping[str, Floats], Column("taken", partial(_by_resource, 0.0), NOTHING, stored=False)]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "IdcTable":
        """Return the table of these rows, each a mapping by field."""
        return cls(**_columns_from(cls, rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class LineColumns:
    """One entry a line; `idc` is the position of its IDC.

    NaN: no commit, a price that is not known, the installation's own `max_level`, a percentile that was never measured.
    `pending` and `ordered` are the ledger's amounts, `busy_bits` the busiest hours of the week (none: no history).
    """

    idc: Annotated[Rows, Column("idc", list, None)]
    codes: Annotated[tuple[str, ...], _text("code")]
    isps: Annotated[tuple[str, ...], _text("isp")]
    charge_types: Annotated[Words, Column("charge_type", partial(np.array, dtype=np.str_), "p95_month")]
    purchased: Annotated[Floats, _number("purchased_mbps")]
    commit: Annotated[Floats, _number("commit_mbps")]
    max_level: Annotated[Floats, _number("max_level")]
    price_per_mbps: Annotated[Floats, _number("price_per_mbps")]
    price_per_gb: Annotated[Floats, _number("price_per_gb")]
    percentile: Annotated[Floats, _number("percentile_mbps", stored=False)]
    pending: Annotated[Floats, _number("pending_mbps", missing=0.0, stored=False)]
    ordered: Annotated[Floats, _number("ordered_mbps", missing=0.0, stored=False)]
    busy_bits: HoursOfWeek

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], idcs: Sequence[str]) -> "LineColumns":
        """Return the columns of these rows, each a mapping by field, without history; `idc` is a code of `idcs`.

        Raises KeyError for a line of another IDC.
        """
        columns = _columns_from(cls, rows)
        place, count = {code: number for number, code in enumerate(idcs)}, len(columns["codes"])
        columns["idc"] = np.array([place[code] for code in columns["idc"]], dtype=np.intp)
        return cls(**columns, busy_bits=np.zeros((count, HOURS_A_WEEK // 8), dtype=np.uint8))


def columns_of(table: type[Any]) -> dict[str, Column]:
    """Return the declared columns of a table by name."""
    hints = get_type_hints(table, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def entries(table: type[Any], columns: Any, places: Rows) -> dict[str, Any]:
    """Return the columns of that kind of table by name, each with its entries at these places in this order."""
    return {each.name: _entries(getattr(columns, each.name), places) for each in fields(table)}


def _entries(column: Any, places: Rows) -> Any:
    if isinstance(column, Mapping):
        return {name: _entries(part, places) for name, part in column.items()}
    if isinstance(column, np.ndarray):
        return column[places]
    if places.size > 1:  # with a single index itemgetter returns no tuple
        return itemgetter(*places.tolist())(column)
    return tuple(column[place] for place in places.tolist())


def _columns_from(table: type[Any], rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    columns = columns_of(table)
    read: list[tuple[Column, list[Any]]] = [(column, []) for column in columns.values()]
    for row in rows:
        for column, values in read:
            value = row.get(column.field)
            values.append(column.missing if value is None else value)
    return {name: column.made(values) for name, (column, values) in zip(columns, read, strict=True)}
