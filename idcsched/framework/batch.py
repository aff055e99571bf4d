"""Requests decided one after the other, each seeing what the ones before it took, or would have taken."""

from collections.abc import Sequence

from .overlay import Tenancy, laid_over
from .snapshot import Snapshot

__all__ = ["Batch"]

MOST_TAKEN = 200
"""After so many the snapshot with all of them becomes the base, so that no record grows with the batch."""


class Batch:
    """One snapshot for many requests. `snapshot` is what the next one is decided on: `base` with `taken` laid over."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.base = self.snapshot = snapshot
        self.taken: tuple[Tenancy, ...] = ()

    def take(self, tenancies: Sequence[Tenancy]) -> None:
        """Let later requests see that this is taken; raises KeyError, ValueError for an unknown IDC or line."""
        self.snapshot = laid_over(self.snapshot, tenancies)
        self.taken += tuple(tenancies)
        if len(self.taken) >= MOST_TAKEN:
            self.base, self.taken = self.snapshot, ()
