"""The memory of a snapshot's part: an LRU cache, bounded in bytes, of values computed from that part.

A refreshed snapshot shares unchanged parts with their memory; a part that changes begins with an empty memory. So no
entry is ever out of date. An entry may be evicted at any time: computed again, its value is the same, byte for byte.
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
_ENTRY_BYTES = 200  # the estimated size of an entry beside its arrays


class Memory:
    """The values computed from one part of a snapshot, by key; the least recently used are evicted first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of `compute`, cached after the first call with this key; its arrays become read-only.

        The key consists of plain values and names all that the value depends on besides the part: never the time, and
        nothing of another part that may change.
        """
        with self._lock:
            if (entry := self._values.get(key)) is not None:
                self._values.move_to_end(key)
                return entry[0]  # type: ignore[no-any-return]
        value = sealed(compute())
        self._keep(key, value)
        return value

    def _keep(self, key: Hashable, value: Any) -> None:
        size = _bytes_of(value)
        with self._lock:
            _, old_size = self._values.pop(key, (None, 0))
            self._values[key] = (value, size)
            self._bytes += size - old_size
            while self._bytes > self._most_bytes and len(self._values) > 1:
                self._bytes -= self._values.popitem(last=False)[1][1]


def sealed(value: T) -> T:
    """Return the same value with all arrays in it read-only, so that writing into shared data fails."""
    for array in _arrays_in(value):
        array.flags.writeable = False
    return value


def _bytes_of(value: Any) -> int:
    return _ENTRY_BYTES + sum(array.nbytes for array in _arrays_in(value))


def _arrays_in(value: Any) -> "list[np.ndarray[Any, Any]]":
    """Return the arrays of a value: the value itself, or those in its entries and fields."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for part in _parts_of(value) for array in _arrays_in(part)]


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, tuple):  # a tuple of texts holds no arrays
        return [] if value and isinstance(value[0], str) else list(value)
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    return [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
