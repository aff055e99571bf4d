"""Which rows of the database the rows of a picture are: by their primary keys, which are compared many at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection

from idcsched.framework.facts import Ints
from idcsched.framework.labels import Rows
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Metric

__all__ = ["Keys", "KnownRows", "Places", "keys_of"]

IDCS = "SELECT id, code FROM inventory_idc"
LINES = "SELECT id, idc_id, code FROM inventory_line"


@dataclass(frozen=True, slots=True)
class Places:
    """Primary keys, in ascending order, and where each stands in the picture."""

    keys: Ints
    places: Rows

    @classmethod
    def of(cls, places: Mapping[int, int]) -> "Places":
        keys = np.fromiter(places.keys(), dtype=np.int64, count=len(places))
        order = np.argsort(keys)
        return cls(keys[order], np.fromiter(places.values(), dtype=np.intp, count=len(places))[order])

    def __getitem__(self, keys: Ints) -> Rows:
        """Where these stand; raises KeyError where one is not in the picture."""
        found = np.searchsorted(self.keys, keys)
        if keys.size and (found.max() >= self.keys.size or (self.keys[found] != keys).any()):
            raise KeyError("there is a row that the picture does not hold")
        return self.places[found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A picture's IDCs and lines by key, and the keys of its metrics by code."""

    idcs: Places
    lines: Places
    metrics: Mapping[str, int]


class KnownRows:
    """The rows of one inventory that orders are about, as far as they are known. Begin anew when it has changed."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[str, int]] = {}
        self._idcs: dict[int, Idc] = {}

    def lines(self, idc: int) -> Mapping[str, int]:
        """The primary keys of that IDC's lines by code: looked up when they are first wanted, which few of many are."""
        found = self._lines.get(idc)
        if found is None:
            found = self._lines[idc] = dict(Line.objects.filter(idc=idc).values_list("code", "pk"))
        return found

    def idc(self, key: int, code: str) -> Idc:
        """The row with nothing but these; whoever wants more of it reads it. One will do for all."""
        found = self._idcs.get(key)
        if found is None:
            found = self._idcs[key] = Idc.from_db(connection.alias, ["id", "code"], [key, code])
        return found


def keys_of(snapshot: Snapshot) -> Keys:
    """In three queries; raises KeyError where the database holds an IDC or a line that the picture does not."""
    idcs = {id_: snapshot.idcs.row_of[code] for id_, code in _rows(IDCS)}
    codes, first = snapshot.lines.codes, snapshot.lines.first.tolist()
    lines = {}
    for id_, idc, code in _rows(LINES):
        row = idcs[idc]
        lines[id_] = _index(codes, code, first[row], first[row + 1])
    metrics = dict(Metric.objects.values_list("code", "id"))
    return Keys(idcs=Places.of(idcs), lines=Places.of(lines), metrics=metrics)


def _index(codes: tuple[str, ...], code: str, first: int, end: int) -> int:
    for place in range(first, end):
        if codes[place] == code:
            return place
    raise KeyError(code)


def _rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
