"""Plugins that judge one IDC at a time: run after the filters that judge all rows at once, as far as needed.

Candidates are visited in the order of the vectorised partial score, ties by the request's hash, so that the cut
drops the least promising. What was not visited is counted as such.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from .answer import PluginError
from .context import Cycle, IdcView
from .decision import Judgement
from .errors import PluginFailed
from .labels import Mask, Rows
from .plugin import Rejection
from .profile import Entry, Profile
from .ranking import hash_keys, total_scores
from .scoring import run_scorers

__all__ = ["Visit", "enough", "visit"]

ALL_BELOW = 100
LEAST_PERCENT = 5
MOST_PERCENT = 50
IDCS_A_PERCENT = 125


@dataclass(slots=True)
class Visit:
    """What came of visiting: who passed, who was looked at at all, and every rejection."""

    passed: Mask
    visited: Mask
    rejections: dict[tuple[str, str], dict[int, Rejection]] = field(default_factory=dict)

    def judgements(self) -> Iterable[Judgement]:
        """The rejections by plugin and reason, as the vectorised filters give theirs."""
        for (plugin, _), found in self.rejections.items():
            keep = np.ones(self.passed.size, dtype=np.bool_)
            keep[list(found)] = False
            reason = next(iter(found.values())).reason
            yield Judgement(plugin, reason, keep, lambda i, found=found: found[i].detail)  # type: ignore[misc]


def enough(candidates: int, percent: float | None) -> int:
    """How many feasible ones to look for among so many."""
    if candidates < ALL_BELOW:
        return candidates
    share = max(LEAST_PERCENT, MOST_PERCENT - candidates // IDCS_A_PERCENT) if percent is None else percent
    return max(ALL_BELOW, int(candidates * share // 100))


def visit(ctx: Cycle, profile: Profile, alive: Mask, groups: Rows, seed: str) -> Visit:
    """Look at IDCs one by one, group by group until one has survivors, and in it until there are enough."""
    found = Visit(passed=np.zeros(ctx.size, dtype=np.bool_), visited=groups < 0)
    for group in range(int(groups.max(initial=0)) + 1):
        found.visited |= groups == group
        _visit_group(ctx, profile, np.flatnonzero(alive & (groups == group)), seed, found)
        if found.passed.any():
            break
    return found


def _visit_group(ctx: Cycle, profile: Profile, positions: Rows, seed: str, found: Visit) -> None:
    wanted, passed = enough(positions.size, profile.candidates_percent), 0
    ordered, rows = _most_promising_first(ctx, profile, positions, seed), ctx.row_numbers
    for count, position in enumerate(ordered.tolist()):
        if passed >= wanted:
            found.visited[ordered[count:]] = False
            return
        rejected = _rejected(ctx, profile, IdcView(ctx, int(rows[position]), position))
        if rejected is None:
            found.passed[position] = True
            passed += 1
        else:
            entry, rejection = rejected
            found.rejections.setdefault((entry.name, rejection.reason.code), {})[position] = rejection


def _most_promising_first(ctx: Cycle, profile: Profile, positions: Rows, seed: str) -> Rows:
    """The positions by what the vectorised scorers say; what these note counts when they score the survivors."""
    candidates = replace(ctx.narrowed(positions), notes=[], errors=[])
    totals = total_scores(candidates, run_scorers(candidates, profile, vectorised_only=True))
    return positions[np.lexsort((hash_keys(candidates, seed), -totals))]


def _rejected(ctx: Cycle, profile: Profile, idc: IdcView) -> tuple[Entry, Rejection] | None:
    """The first plugin that rejects the IDC, and why."""
    for entry in profile.filters_one:
        ctx.entry, ctx.missing = entry.name, entry.missing
        try:
            rejection: object = entry.plugin.filter_one(ctx, idc)
            if not isinstance(rejection, Rejection | None):
                raise TypeError(f"gave {type(rejection).__name__}, not Rejection")  # noqa: TRY301  # as if it raised
        except Exception as error:
            if entry.on_error_filter == "fail":
                raise PluginFailed(entry.name, "filter", f"{type(error).__name__}: {error}") from error
            failure = PluginError(entry.name, "filter", f"{type(error).__name__}: {error}")
            if failure not in ctx.errors:
                ctx.errors.append(failure)
        else:
            if rejection is not None:
                return entry, rejection
    return None
