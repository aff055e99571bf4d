"""The primary keys of a snapshot's rows, in arrays that are looked up many keys at once."""

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
    """Primary keys in ascending order, and the position of each in the snapshot."""

    keys: Ints
    places: Rows

    @classmethod
    def of(cls, places: Mapping[int, int]) -> "Places":
        keys = np.fromiter(places.keys(), dtype=np.int64, count=len(places))
        order = np.argsort(keys)
        return cls(keys[order], np.fromiter(places.values(), dtype=np.intp, count=len(places))[order])

    def __getitem__(self, keys: Ints) -> Rows:
        """Return the positions of the keys; raises KeyError where one is not in the snapshot."""
        indexes = np.searchsorted(self.keys, keys)
        if keys.size and (indexes.max() >= self.keys.size or (self.keys[indexes] != keys).any()):
            raise KeyError("there is a row that the picture does not hold")
        return self.places[indexes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A snapshot's IDCs and lines by key, and the keys of its metrics by code."""

    idcs: Places
    lines: Places
    metrics: Mapping[str, int]


class KnownRows:
    """A cache of the inventory's rows that orders refer to. Make a new one when the inventory has changed."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[str, int]] = {}
        self._idcs: dict[int, Idc] = {}

    def lines(self, idc: int) -> Mapping[str, int]:
        """Return the primary keys of the IDC's lines by code, read at first use, since orders go to few of the IDCs."""
        keys = self._lines.get(idc)
        if keys is None:
            keys = self._lines[idc] = dict(Line.objects.filter(idc=idc).values_list("code", "pk"))
        return keys

    def idc(self, key: int, code: str) -> Idc:
        """Return the IDC with these two fields loaded and the others deferred; all callers share the object."""
        row = self._idcs.get(key)
        if row is None:
            row = self._idcs[key] = Idc.from_db(connection.alias, ["id", "code"], [key, code])
        return row


def keys_of(snapshot: Snapshot) -> Keys:
    """Read the keys of a snapshot's rows in three queries; raises KeyError for an IDC or line that is not in it."""
    idcs = {id_: snapshot.idcs.row_of[code] for id_, code in _rows(IDCS)}
    codes, first = snapshot.lines.codes, snapshot.lines.first.tolist()
    lines = {}
    for id_, idc, code in _rows(LINES):
        row = idcs[idc]
        lines[id_] = _index(codes, code, first[row], first[row + 1])
    metrics = dict(Metric.objects.values_list("code", "id"))
    return Keys(idcs=Places.of(idcs), lines=Places.of(lines), metrics=metrics)


def _index(codes: tuple[str, ...], code: str, first: int, end: int) -> int:
    for index in range(first, end):
        if codes[index] == code:
            return index
    raise KeyError(code)


def _rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
