"""The refusal of JSON objects in which a key stands twice: one of its values would be lost.

msgspec silently takes the last value, so the standard library's scanner, which is written in C, looks for repeated
keys. All other faults of a body are left to msgspec.
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
"""A value's place: that of the object or list around it, and its key or index there; None: the whole document."""


class _Repeated(Exception):
    """A key stands twice in an object."""


class _Object(list[tuple[str, Any]]):
    """A JSON object as a list of its pairs."""


def refuse_repeated_keys(body: bytes) -> None:
    """Raise Invalid at the first ENOUGH repeated keys; a body that is not JSON passes."""
    try:
        _scanner.decode(body.decode())
    except _Repeated:
        pointers = _pointers(body.decode())
    except (ValueError, RecursionError):
        return
    else:
        return
    raise Invalid.of(FieldError(pointer, "repeated_key", _("this stands here twice")) for pointer in pointers)


def _pointers(text: str) -> list[str]:
    """Return the pointers of the repeated keys; only the document's where the rest is no JSON or nested too deep."""
    try:
        return list(islice(_repeated(_keeper.decode(text), None), ENOUGH))
    except (ValueError, RecursionError):
        return [""]


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        raise _Repeated


def _repeated(value: Any, place: _Place) -> Iterator[str]:
    if isinstance(value, _Object):
        seen: set[str] = set()
        for key, inner in value:
            if key in seen:
                yield _pointer((place, key))
            seen.add(key)
            if isinstance(inner, list):
                yield from _repeated(inner, (place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, list):
                yield from _repeated(inner, (place, str(index)))


def _pointer(place: _Place) -> str:
    """Return the JSON pointer of a place; each key is shortened, as it may be as long as the body."""
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(f"/{pointer_token(shortened(step))}")
    return "".join(reversed(steps))


_scanner: Final = JSONDecoder(object_pairs_hook=_refuse_repeated, parse_float=str, parse_int=str)  # numbers stay texts
_keeper: Final = JSONDecoder(object_pairs_hook=_Object, parse_float=str, parse_int=str)
