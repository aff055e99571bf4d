"""The memory that a process has freed is given back to the system when it asks for that."""

import ctypes
import mmap
from pathlib import Path

import pytest

from idcsched.jobs import heap
from idcsched.jobs.heap import freed_memory_returned

PIECES, SIZE = 2000, 50_000  # too small to be mapped for themselves, 100 MB in all


def held() -> float:
    """The memory that this process holds, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 2**20


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps freed memory so")
def test_it_works() -> None:
    pieces = [b"x" * SIZE for _ in range(PIECES)]
    kept = pieces[::100]
    del pieces
    before = held()
    freed_memory_returned()
    assert before - held() > 50
    assert len(kept) == PIECES // 100


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    heap._trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    freed_memory_returned()
    assert heap._trim() is None
    heap._trim.cache_clear()
