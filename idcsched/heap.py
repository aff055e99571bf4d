"""The memory that this process has freed and the C library keeps for later."""

import ctypes
from functools import cache
from typing import Any

__all__ = ["freed_memory_returned"]


def freed_memory_returned() -> None:
    """Give it back to the system: for after work that needed much once. Does nothing where the C library can't."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's; others have none, and need none."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
