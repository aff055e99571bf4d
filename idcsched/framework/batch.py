"""A batch of requests, each decided on a snapshot with what the requests before it took or would have taken."""

from collections.abc import Sequence

from .overlay import Tenancy, with_tenancies
from .snapshot import Snapshot

__all__ = ["Batch"]

MOST_TAKEN = 200
"""After so many tenancies the snapshot with all of them becomes the base, so that no record grows with the batch."""


class Batch:
    """The snapshot of a batch: `snapshot`, on which the next request is decided, is `base` with `taken` laid over."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.base = self.snapshot = snapshot
        self.taken: tuple[Tenancy, ...] = ()

    def take(self, tenancies: Sequence[Tenancy]) -> None:
        """Lay tenancies over `snapshot`; raises KeyError for an unknown IDC, ValueError for an unknown line."""
        self.snapshot = with_tenancies(self.snapshot, tenancies)
        self.taken += tuple(tenancies)
        if len(self.taken) >= MOST_TAKEN:
            self.base, self.taken = self.snapshot, ()
