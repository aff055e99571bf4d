"""Recommendations over HTTP, beside views that do nothing in the same server, settings and middleware."""

from functools import cache, partial

from bench.row import Row, Sides, Workshop
from bench.serving import served

__all__ = ["ROWS"]


@cache
def server(idcs: int, *, record: bool) -> partial:
    """Return the recipe of a web server, one for all rows that measure it."""
    return partial(served, idcs, record=record)


def beside(what: str, idcs: int, workshop: Workshop, *, record: bool = False) -> Sides:
    found = workshop.shared(server(idcs, record=record))
    return Sides(found.schedule, getattr(found, what))


def row(name: str, title: str, what: str, idcs: int = 1000, *, record: bool = False) -> Row:
    set_up = partial(beside, what, idcs, record=record)
    return Row(name=name, title=title, unit="1/s", better="more", set_up=set_up)


ROWS = [
    row("http_1k_drf", "a recommendation over 1,000 IDCs beside an empty DRF view", "drf"),
    row("http_1k_drf_recorded", "the same, each put on record", "drf", record=True),
    row("http_10k_drf", "a recommendation over 10,000 IDCs beside an empty DRF view", "drf", 10_000),
]
