"""A batch of requests, each decided on a snapshot with what the requests before it took or would have taken."""

from collections.abc import Sequence

from .overlay import Allocation, with_allocations
from .snapshot import Snapshot

__all__ = ["Batch"]

MOST_TAKEN = 200
"""After so many allocations the snapshot with all of them becomes the base, so that no record grows with the batch."""


class Batch:
    """The snapshot of a batch: `snapshot`, on which the next request is decided, is `base` with `taken` laid over."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.base = self.snapshot = snapshot
        self.taken: tuple[Allocation, ...] = ()

    def take(self, allocations: Sequence[Allocation]) -> None:
        """Lay allocations over `snapshot`; raises KeyError for an unknown IDC, ValueError for an unknown line."""
        self.snapshot = with_allocations(self.snapshot, allocations)
        self.taken += tuple(allocations)
        if len(self.taken) >= MOST_TAKEN:
            self.base, self.taken = self.snapshot, ()
