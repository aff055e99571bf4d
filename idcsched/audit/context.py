"""Who is behind the changes that this thread or task makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Origin", "origin", "origin_set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """`via` is one of `audit.models.Via`; `request_id` the HTTP request's; `message` what the person said about it."""

    actor: str = "system"
    via: str = "command"
    request_id: str = ""
    message: str = ""


NOBODY = Origin()
_origin: ContextVar[Origin] = ContextVar("origin", default=NOBODY)


def origin() -> Origin:
    """The origin in force; nobody's in particular where none was set."""
    return _origin.get()


@contextmanager
def origin_set(*, actor: str, via: str, request_id: str = "", message: str = "") -> Iterator[Origin]:
    """Every change made inside is recorded as coming from there."""
    found = Origin(actor=actor, via=via, request_id=request_id, message=message)
    token = _origin.set(found)
    try:
        yield found
    finally:
        _origin.reset(token)
