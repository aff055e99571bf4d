"""Registry of what names rows by their codes alone, such as selectors and profiles.

No foreign key protects such a name. Imports go down only, so each room registers, when it starts, a function that finds
what names a row; a row that is named can't be renamed or deleted.
"""

from collections.abc import Callable, Iterable

from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _

__all__ = ["examples", "naming_register", "refuse_named"]

EXAMPLES = 3
_finders: list[Callable[[str, str], Iterable[str]]] = []


def naming_register(find: Callable[[str, str], Iterable[str]]) -> None:
    """Register `find(kind, key)`, which yields the readable names of what names the row of that kind and key."""
    _finders.append(find)


def refuse_named(kind: str, key: str) -> None:
    """Raise Conflict `in_use` where something names the row of that kind and key."""
    if names := [name for find in _finders for name in find(kind, key)]:
        raise Conflict("in_use", _("in use by {examples}"), examples=examples(names))


def examples(names: Iterable[str]) -> str:
    """Join a few of the names, in order, with an ellipsis for the others."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:EXAMPLES])
    return shown if len(ordered) <= EXAMPLES else f"{shown}, …"
