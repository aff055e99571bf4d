"""The memory of this process: what stays for good, and what it has freed and the C library keeps for later."""

import ctypes
import gc
from functools import cache
from typing import Any

__all__ = ["freed_memory_returned", "here_for_good"]


def here_for_good() -> None:
    """What there is now, code above all, is not looked through for garbage again.

    All threads stand still while Python looks for cycles among everything there is, a tenth of a second over the code
    of a web process alone. Call it once that is loaded.
    """
    gc.collect()
    gc.freeze()


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
