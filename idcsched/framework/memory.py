"""What is worked out from a part of a snapshot once, and kept with that part: an LRU cache bounded in bytes.

A refresh of the snapshot shares the parts that it does not touch, and what is kept with them; a part that changes
begins with an empty memory. So nothing kept is ever out of date. It may be forgotten at any time: what is worked out
again is the same, byte for byte.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np

__all__ = ["Memory", "sealed"]

T = TypeVar("T")

MOST_BYTES = 32_000_000
_ENTRY_BYTES = 200  # about what a value costs beside its arrays


class Memory:
    """The values that were worked out from one part of a snapshot, by key; the least recently used go first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of `compute`, worked out at the first call with this key; its arrays become read-only.

        The key consists of plain values and names all that the value depends on besides the part: never the time, and
        nothing of another part that may change.
        """
        with self._lock:
            if (known := self._values.get(key)) is not None:
                self._values.move_to_end(key)
                return known[0]  # type: ignore[no-any-return]
        value = sealed(compute())
        self._keep(key, value)
        return value

    def _keep(self, key: Hashable, value: Any) -> None:
        size = _bytes_of(value)
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = (value, size)
            self._bytes += size - before
            while self._bytes > self._most_bytes and len(self._values) > 1:
                self._bytes -= self._values.popitem(last=False)[1][1]


def sealed(value: T) -> T:
    """Return the same value with all arrays in it read-only, so that writing into what is shared fails."""
    for array in _arrays_in(value):
        array.flags.writeable = False
    return value


def _bytes_of(value: Any) -> int:
    return _ENTRY_BYTES + sum(array.nbytes for array in _arrays_in(value))


def _arrays_in(value: Any) -> "list[np.ndarray[Any, Any]]":
    """The arrays of a value: itself, or those in its entries and fields."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for part in _parts_of(value) for array in _arrays_in(part)]


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, tuple):  # one of texts has no arrays in it
        return [] if value and isinstance(value[0], str) else list(value)
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    return [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
