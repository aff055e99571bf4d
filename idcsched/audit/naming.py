"""Find what refers to a row by its code alone, such as a selector or a profile, where no foreign key protects it.

Imports go down only, so each package registers, when it starts, a function that finds such references of its own. A row
that something refers to can't be renamed or deleted.
"""

from collections.abc import Callable, Iterable

from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _

__all__ = ["examples", "naming_register", "refuse_named"]

EXAMPLES = 3
_finders: list[Callable[[str, str], Iterable[str]]] = []


def naming_register(find: Callable[[str, str], Iterable[str]]) -> None:
    """Register `find(kind, key)`, which yields the readable names of what refers to the row of that kind and key."""
    _finders.append(find)


def refuse_named(kind: str, key: str) -> None:
    """Raise Conflict `in_use` where something refers to the row of that kind and key by its code."""
    if names := [name for find in _finders for name in find(kind, key)]:
        raise Conflict("in_use", _("in use by {examples}"), examples=examples(names))


def examples(names: Iterable[str]) -> str:
    """Join a few of the names, in order, with an ellipsis for the others."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:EXAMPLES])
    return shown if len(ordered) <= EXAMPLES else f"{shown}, …"
