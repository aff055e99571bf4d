"""The memory of this process: what the garbage collector skips, and what goes back to the system."""

import ctypes
import gc
from functools import cache
from typing import Any

__all__ = ["freed_memory_returned", "freeze_loaded_objects"]


def freeze_loaded_objects() -> None:
    """Exempt all objects that exist now, code above all, from garbage collection; call this once the code is loaded.

    All threads stand still while Python looks for cycles: a tenth of a second for the code of a web process alone.
    """
    gc.collect()
    gc.freeze()


def freed_memory_returned() -> None:
    """Return freed memory to the system, after work that needed much memory once; does nothing without glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """Return glibc's `malloc_trim`; None with another C library, which needs none."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
