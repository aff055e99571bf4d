"""Where an IDC that does not fit would have ranked if nothing had rejected it."""

import numpy as np

from .decision import Decision
from .errors import PluginFailed
from .ranking import total_scores
from .scoring import run_scorers

__all__ = ["rank_if_it_fitted"]


def rank_if_it_fitted(decision: Decision, idc: str) -> int | None:
    """Return the rank that a rejected IDC would have among those that fit.

    It is scored together with them, on the lines that lack least; with as many points it shares the better rank. None:
    nothing fits, or the IDC was not looked at, has no line that the order could use, is not in the fallback group that
    won, or a scorer fails there.
    """
    ctx, survivors = decision.cycle, decision.survivors
    found = np.flatnonzero(ctx.row_numbers == ctx.snapshot.idcs.row_of.get(idc, -1))
    if not survivors.size or not found.size:
        return None
    position = found.item()
    if ctx.need and not ctx.lines.has_line[position]:
        return None
    if decision.groups is not None and decision.groups[position] != decision.group:
        return None
    fitting = np.flatnonzero(np.isin(ctx.row_numbers, survivors.row_numbers))
    together = ctx.narrowed(np.union1d(fitting, position))
    try:
        totals = total_scores(together, run_scorers(together, decision.profile))
    except PluginFailed:
        return None
    own = totals[together.row_numbers == ctx.row_numbers[position]]
    return 1 + int(np.count_nonzero(totals > own))
