"""A name that this process does not know: another process may have committed it a moment ago."""

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from django.db import Error

from idcsched.db.places import place
from idcsched.framework.errors import Invalid, Unavailable

from .live import LiveState, live

__all__ = ["UNKNOWN_NAMES", "looks_up_names"]

UNKNOWN_NAMES: Final = frozenset(
    {
        "unknown_idc",
        "unknown_isp",
        "unknown_line",
        "unknown_metric",
        "unknown_profile",
        "unknown_region",
        "unknown_taint",
        "unknown_tenant",
    }
)
"""The codes of refusals that somebody may end by creating what is named."""


_P = ParamSpec("_P")
_T = TypeVar("_T")


def looks_up_names(answer: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a function that answers by the live picture: before it refuses a name, it reads the feed once.

    While the database does not answer, the name is refused as it is.
    """

    @wraps(answer)
    def answer_with_news(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        before = live.known
        try:
            return answer(*args, **kwargs)
        except Invalid as refusal:
            if UNKNOWN_NAMES.isdisjoint(error.code for error in refusal.errors) or not _has_news_since(before):
                raise
        return answer(*args, **kwargs)

    return answer_with_news


def _has_news_since(before: LiveState | None) -> bool:
    """Return whether other processes have committed something that the picture `before` does not show."""
    try:
        with place():
            return live.catch_up() is not before
    except (Error, Unavailable):
        return False
