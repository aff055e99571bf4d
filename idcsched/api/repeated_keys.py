"""A key that stands twice in one object: one of its values would be lost, and nobody could say which was meant.

msgspec takes the last one without a word, so the body is scanned for it by the standard library, whose scanner is
written in C. Whatever else is wrong with the body is for msgspec to say.
"""

from collections.abc import Iterator
from itertools import islice
from json import JSONDecoder
from typing import Any, Final, TypeAlias

from idcsched.framework.decoding import pointer_token
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _

from .problems import shortened

__all__ = ["refuse_repeated_keys"]

ENOUGH: Final = 100
_Place: TypeAlias = "tuple[_Place, str] | None"
"""Where a value stands: below which place, and under which name or number; None: it is the document."""


class _Repeated(Exception):
    """Somewhere a key stands twice."""


class _Object(list[tuple[str, Any]]):
    """An object as its pairs."""


def refuse_repeated_keys(body: bytes) -> None:
    """Raises Invalid at each of the first; says nothing of a body that is not JSON at all."""
    try:
        _scanner.decode(body.decode())
    except _Repeated:
        found = _found(body.decode())
    except (ValueError, RecursionError):
        return
    else:
        return
    raise Invalid.of(FieldError(pointer, "repeated_key", _("this stands here twice")) for pointer in found)


def _found(text: str) -> list[str]:
    """Their pointers; of a text that goes on as no JSON, or too deep, only that there is one."""
    try:
        return list(islice(_places(_keeper.decode(text), None), ENOUGH))
    except (ValueError, RecursionError):
        return [""]


def _judged(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        raise _Repeated


def _places(value: Any, place: _Place) -> Iterator[str]:
    if isinstance(value, _Object):
        seen: set[str] = set()
        for key, inner in value:
            if key in seen:
                yield _pointer((place, key))
            seen.add(key)
            if isinstance(inner, list):
                yield from _places(inner, (place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, list):
                yield from _places(inner, (place, str(index)))


def _pointer(place: _Place) -> str:
    """Put together only where it is told: a key may be as long as a body."""
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"/{pointer_token(shortened(step))}")
    return "".join(reversed(steps))


_scanner: Final = JSONDecoder(object_pairs_hook=_judged, parse_float=str, parse_int=str)  # numbers are not looked at
_keeper: Final = JSONDecoder(object_pairs_hook=_Object, parse_float=str, parse_int=str)
