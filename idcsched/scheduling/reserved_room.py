"""Room that is kept for waiting orders is not free for an order that comes now."""

import time
from dataclasses import replace

from idcsched.framework.capacity import Claim
from idcsched.framework.overlay import Tenancy, laid_over
from idcsched.framework.snapshot import Snapshot
from idcsched.ledger.keeping import Kept
from idcsched.scheduling.live import LiveState

__all__ = ["without_reserved_room"]


def without_reserved_room(state: LiveState, priority: int | None) -> LiveState:
    """Return the state less the room that waiting orders of at least this priority have before a new one."""
    if not state.kept:
        return state
    now, snapshot = time.time(), state.snapshot
    ahead = tuple(kept for kept in state.kept if kept.priority >= (priority or 0) and kept.until.timestamp() > now)
    if not ahead:
        return state
    return replace(state, snapshot=laid_over(snapshot, _tenancies(snapshot, ahead)), kept=())


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
