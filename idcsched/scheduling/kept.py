"""What an order sees that does not wait: room that is kept for orders which do is not free."""

import time
from dataclasses import replace

from idcsched.framework.capacity import Claim
from idcsched.framework.overlay import Tenancy, laid_over
from idcsched.framework.snapshot import Snapshot
from idcsched.ledger.keeping import Kept

from .live import Picture

__all__ = ["behind"]


def behind(picture: Picture, priority: int | None) -> Picture:
    """The picture as an order of that priority sees it which has come just now."""
    if not picture.kept:
        return picture
    now, snapshot = time.time(), picture.snapshot
    ahead = tuple(kept for kept in picture.kept if kept.priority >= (priority or 0) and kept.until.timestamp() > now)
    if not ahead:
        return picture
    return replace(picture, snapshot=laid_over(snapshot, _tenancies(snapshot, ahead)), kept=())


def _tenancies(snapshot: Snapshot, ahead: tuple[Kept, ...]) -> list[Tenancy]:
    """Those that the snapshot has a place for."""
    lines, idcs = snapshot.lines, snapshot.idcs
    found = []
    for kept in ahead:
        row = idcs.row_of.get(kept.idc)
        if row is None:
            continue
        if kept.line is None or kept.line in lines.codes[int(lines.first[row]) : int(lines.first[row + 1])]:
            claim = Claim(resource=kept.resource, amount=kept.amount, line=kept.line)
            found.append(Tenancy(idc=kept.idc, claims=(claim,)))
    return found
