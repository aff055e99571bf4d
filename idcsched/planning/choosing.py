"""The moves of the advice that somebody chooses to look at."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from idcsched.framework.snapshot import Snapshot

from .moves import Move, Place

__all__ = ["MOST_DAYS", "Choice", "chosen"]

MOST_DAYS: Final = 3650
"""The largest age of an order that can be asked for, in days."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which moves are looked at; what is empty or 0 leaves none out.

    Those that leave the region and a line of the ISP, of the tenant, of placements ordered `days` ago or earlier, that
    save `floor` a month each; and of these, from the top, as many as have ordered `mbps` together: a move that is too
    large for what is left of that is passed over.
    """

    region: str = ""
    isp: str = ""
    tenant: str = ""
    days: int = 0
    floor: float = 0.0
    mbps: float = 0.0

    @property
    def any(self) -> bool:
        """Whether it leaves out moves."""
        return self != Choice()


def chosen(moves: Sequence[Move], choice: Choice, snapshot: Snapshot, now: datetime) -> list[Move]:
    """Return the chosen moves in the sequence of the advice."""
    fitting = [
        move
        for move in moves
        if move.saves >= choice.floor
        and choice.tenant in ("", move.tenant)
        and (not choice.days or (move.ordered_at is not None and move.ordered_at <= now - timedelta(days=choice.days)))
        and _leaves(move.origin, choice, snapshot)
    ]
    return list(_together(fitting, choice.mbps)) if choice.mbps else fitting


def _leaves(origin: Place, choice: Choice, snapshot: Snapshot) -> bool:
    """Return whether the place is in the region, and one of its lines is the ISP's."""
    if not (choice.region or choice.isp):
        return True
    row = snapshot.idcs.row_of.get(origin.idc)
    if row is None:
        return False
    lines = snapshot.lines
    isps = {lines.isps[line] for line in lines.of_idc(row) if lines.codes[line] in origin.lines}
    start, stop = snapshot.spans[choice.region] if choice.region else (0, snapshot.size)
    return start <= row < stop and choice.isp in ("", *isps)


def _together(moves: Sequence[Move], mbps: float) -> Iterator[Move]:
    for move in moves:
        if move.bandwidth_mbps <= mbps:
            mbps -= move.bandwidth_mbps
            yield move
