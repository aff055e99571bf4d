"""What is looked up of an inventory with every question, laid out once: its lines by ISP, its rows by their facts.

All of it hangs on the inventory alone, so that it outlives whatever is measured or taken.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .facts import RegionFact
from .labels import LabelColumn, Rows
from .snapshot import Idcs, Lines

__all__ = ["fact_columns", "planes_by_isp"]


def planes_by_isp(lines: Lines, size: int) -> dict[str | None, tuple[Rows, ...]]:
    """The lines of each ISP, and of all (None), as dense columns over so many rows.

    The k-th plane holds each row's k-th such line by code, or −1.
    """
    found: dict[str | None, tuple[Rows, ...]] = {None: _planes(lines, np.arange(lines.idc.size), size)}
    for isp, chosen in _places(lines.isps).items():
        found[isp] = _planes(lines, chosen, size)
    return found


def fact_columns(idcs: Idcs, lines: Lines, regions: Mapping[str, RegionFact]) -> dict[str, LabelColumn]:
    """The `idc/…` facts over all rows, but for the code, which `Idcs.row_of` has."""
    size = len(idcs.codes)
    return {
        "idc/tier": _column(idcs.tiers, size),
        "idc/partition": _column(idcs.partitions, size),
        "idc/provider": _column(idcs.providers, size),
        "idc/region": _region_column(idcs.regions, regions, size),
        "idc/isp": _isp_column(lines, size),
    }


def _planes(lines: Lines, chosen: Rows, size: int) -> tuple[Rows, ...]:
    rows = lines.idc[chosen]
    before = np.arange(chosen.size) - np.searchsorted(rows, rows)
    planes = []
    for number in range(int(before.max(initial=-1)) + 1):
        of_plane = before == number
        plane = np.full(size, -1, dtype=np.intp)
        plane[rows[of_plane]] = chosen[of_plane]
        planes.append(plane)
    return tuple(planes)


def _column(words: Sequence[str], size: int) -> LabelColumn:
    """No word, no label."""
    return LabelColumn(size, {word: rows for word, rows in _places(words).items() if word})


def _region_column(own: Sequence[str], regions: Mapping[str, RegionFact], size: int) -> LabelColumn:
    """A row carries its region and all that this lies in."""
    postings: dict[str, list[Rows]] = {}
    for code, rows in _places(own).items():
        here: str | None = code
        while here is not None:
            postings.setdefault(here, []).append(rows)
            here = regions[here].parent
    return LabelColumn(size, {code: np.sort(np.concatenate(parts)) for code, parts in postings.items()})


def _isp_column(lines: Lines, size: int) -> LabelColumn:
    return LabelColumn(size, {isp: _distinct(lines.idc[own]) for isp, own in _places(lines.isps).items()})


def _distinct(rows: Rows) -> Rows:
    """Of rows in ascending order each once."""
    return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if rows.size else rows


def _places(words: Iterable[str]) -> dict[str, Rows]:
    """Where each word stands, in ascending order; words in the order in which they come."""
    numbers: dict[str, int] = {}
    numbered = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), dtype=np.int32)
    order = np.argsort(numbered, kind="stable")
    ends = np.cumsum(np.bincount(numbered, minlength=len(numbers)))
    return dict(zip(numbers, np.split(order, ends[:-1]), strict=True)) if numbers else {}
