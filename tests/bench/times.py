"""Made-up marks of a machine, for tests of what counts in a run."""

from typing import TypeAlias

from bench.timeline import Mark, Spent

__all__ = ["CALM", "QUIET", "STOLEN", "TAKEN", "UNTOLD", "Shares", "marks"]

Shares: TypeAlias = tuple[float, float, float]
"""Of the processors' time: stolen, spent on others, idle."""

CALM: Shares = (0.0, 0.0, 0.5)
QUIET: Shares = (0.005, 0.005, 0.5)
STOLEN: Shares = (0.2, 0.0, 0.3)
TAKEN: Shares = (0.0, 0.4, 0.1)
UNTOLD = None
SECOND = 200  # ticks of two processors


def marks(*shares: Shares | None) -> list[Mark]:
    """Return a mark for every ten seconds, from the shares of the time between two; None: the machine does not tell."""
    before = Spent(total=5000, idle=100, stolen=10, ours=0)
    found = [Mark(0.0, before if shares[0] else None)]
    for each in shares:
        if each is not None:
            stolen, others, idle = each
            ticks = 10 * SECOND
            whole = (ticks, ticks * idle, ticks * stolen, ticks * (1 - stolen - others - idle))
            before = Spent(*(round(was + more) for was, more in zip(before, whole, strict=True)))
        found.append(Mark(found[-1].at + 10, before if each else None))
    return found
