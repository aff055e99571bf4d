"""The room that is reserved for waiting orders, and hence not free for a new order."""

import time
from dataclasses import replace

from idcsched.framework.capacity import Claim
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.snapshot import Snapshot
from idcsched.ledger.keeping import Kept
from idcsched.scheduling.live import LiveState

__all__ = ["without_reserved_room"]


def without_reserved_room(state: LiveState, priority: int | None) -> LiveState:
    """Return the state less the room that waiting orders of at least this priority have before a new one."""
    if not state.kept:
        return state
    now, snapshot = time.time(), state.snapshot
    reserved = tuple(kept for kept in state.kept if kept.priority >= (priority or 0) and kept.until.timestamp() > now)
    if not reserved:
        return state
    return replace(state, snapshot=with_allocations(snapshot, _allocations(snapshot, reserved)), kept=())


def _allocations(snapshot: Snapshot, reserved: tuple[Kept, ...]) -> list[Allocation]:
    """Return the reserved room as allocations, without IDCs and lines that the snapshot does not hold."""
    lines, idcs = snapshot.lines, snapshot.idcs
    allocations = []
    for kept in reserved:
        row = idcs.row_of.get(kept.idc)
        if row is None:
            continue
        if kept.line is None or kept.line in lines.codes_of(row):
            claim = Claim(resource=kept.resource, amount=kept.amount, line=kept.line)
            allocations.append(Allocation(idc=kept.idc, claims=(claim,)))
    return allocations
