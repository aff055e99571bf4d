"""The fleet as a table: its rows in the order that the address names, and heads that lead to the other orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .fleet import IdcTile, RegionTiles
from .order_words import name_shown

__all__ = ["ORDERINGS", "IdcRow", "IdcTable", "idc_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcRow:
    """An IDC with the name of its region as it is shown."""

    tile: IdcTile
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of a column.

    `sorted` is the value of `aria-sort`, "" where another column sorts. `ordering` is the order that the head leads to,
    "" where the column does not sort.
    """

    label: str | Promise
    css: str
    sorted: str
    ordering: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdcTable:
    heads: Sequence[Head]
    rows: Sequence[IdcRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """What the rows are sorted by (None: that is not known), and the order that a first click on the head gives."""

    label: str | Promise
    key: Callable[[IdcRow], Any]
    first: str
    css: str = ""


_COLUMNS: Final[Mapping[str, _Column]] = {
    "idc": _Column(label=_("IDC"), key=lambda row: row.tile.code, first="idc"),
    "region": _Column(label=_("region"), key=lambda row: row.region, first="region", css="hide-s"),
    "line": _Column(label=_("Fullest line"), key=lambda row: row.tile.line or None, first="line", css="hide-s"),
    "level": _Column(label=_("level"), key=lambda row: row.tile.percent, first="-level", css="num"),
    "free": _Column(label=_("Mbps free"), key=lambda row: row.tile.room, first="-free", css="num"),
}
ORDERINGS: Final = frozenset(sign + name for name in _COLUMNS for sign in ("", "-"))
"""The orders that an address may name: a column, with `-` before it from the largest value on."""


def idc_table(regions: Sequence[RegionTiles], ordering: str) -> IdcTable:
    """Return the table of the IDCs, in the order of the regions unless `ordering` names another.

    What is not known comes last, whatever the direction; IDCs that are equal stay in the order of the regions.
    """
    rows = [IdcRow(tile=tile, region=name_shown(group.name) or group.code) for group in regions for tile in group.tiles]
    name, descending = ordering.removeprefix("-"), ordering.startswith("-")
    if name:
        key = _COLUMNS[name].key
        known = sorted((row for row in rows if key(row) is not None), key=key, reverse=descending)
        rows = [*known, *(row for row in rows if key(row) is None)]
    heads = [
        Head(
            label=column.label,
            css=column.css,
            sorted="" if code != name else "descending" if descending else "ascending",
            ordering=column.first if code != name else code if descending else f"-{code}",
        )
        for code, column in _COLUMNS.items()
    ]
    return IdcTable(heads=[*heads, Head(label=_("state"), css="hide-s", sorted="", ordering="")], rows=rows)
