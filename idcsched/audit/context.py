"""The origin of the changes that this thread or task makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Origin", "origin", "origin_set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of a change: the `actor`'s name, one of `audit.models.Via`, the HTTP request's id, and the reason."""

    actor: str = "system"
    via: str = "command"
    request_id: str = ""
    message: str = ""


NOBODY = Origin()
_origin: ContextVar[Origin] = ContextVar("origin", default=NOBODY)


def origin() -> Origin:
    """Return the origin in force; the default one where none was set."""
    return _origin.get()


@contextmanager
def origin_set(*, actor: str, via: str, request_id: str = "", message: str = "") -> Iterator[Origin]:
    """Record every change made inside the block with this origin."""
    new = Origin(actor=actor, via=via, request_id=request_id, message=message)
    token = _origin.set(new)
    try:
        yield new
    finally:
        _origin.reset(token)
