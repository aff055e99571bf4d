"""Run plugins that judge one IDC at a time, after the filters that judge all rows at once, as far as needed.

Candidates are visited in the order of their totals over the vectorised scorers, ties by the request's hash, so that
the cut drops the least promising. IDCs that were not visited are counted as such.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from .answer import PluginError
from .context import Cycle, IdcView, MissingNote
from .decision import Judgement
from .errors import PluginFailed
from .labels import Mask, Rows
from .plugin import METRIC_UNKNOWN, Rejection
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
    """The result of visiting: which IDCs passed, which were visited, and every rejection."""

    passed: Mask
    visited: Mask
    rejections: dict[tuple[str, str], dict[int, Rejection]] = field(default_factory=dict)

    def judgements(self) -> Iterable[Judgement]:
        """Yield the rejections by plugin and reason, in the form of the vectorised filters' verdicts."""
        for (plugin, _), by_position in self.rejections.items():
            keep = np.ones(self.passed.size, dtype=np.bool_)
            keep[list(by_position)] = False
            reason = next(iter(by_position.values())).reason
            yield Judgement(plugin, reason, keep, lambda i, of=by_position: of[i].detail)  # type: ignore[misc]


def enough(candidates: int, percent: float | None) -> int:
    """Return how many feasible IDCs to look for among so many candidates."""
    if candidates < ALL_BELOW:
        return candidates
    share = max(LEAST_PERCENT, MOST_PERCENT - candidates // IDCS_A_PERCENT) if percent is None else percent
    return max(ALL_BELOW, int(candidates * share // 100))


def visit(ctx: Cycle, profile: Profile, alive: Mask, groups: Rows, seed: str) -> Visit:
    """Visit IDCs one by one, group by group until one has survivors, and in each group until enough have passed."""
    visits = Visit(passed=np.zeros(ctx.size, dtype=np.bool_), visited=groups < 0)
    for group in range(int(groups.max(initial=0)) + 1):
        visits.visited |= groups == group
        _visit_group(ctx, profile, np.flatnonzero(alive & (groups == group)), seed, visits)
        if visits.passed.any():
            break
    return visits


def _visit_group(ctx: Cycle, profile: Profile, positions: Rows, seed: str, visits: Visit) -> None:
    needed, passed = enough(positions.size, profile.candidates_percent), 0
    ordered, rows = _most_promising_first(ctx, profile, positions, seed), ctx.row_numbers
    for count, position in enumerate(ordered.tolist()):
        if passed >= needed:
            visits.visited[ordered[count:]] = False
            return
        first_rejection = _first_rejection(ctx, profile, int(rows[position]), position)
        if first_rejection is None:
            visits.passed[position] = True
            passed += 1
        else:
            entry, rejection = first_rejection
            visits.rejections.setdefault((entry.name, rejection.reason.code), {})[position] = rejection


def _most_promising_first(ctx: Cycle, profile: Profile, positions: Rows, seed: str) -> Rows:
    """Return the positions by the vectorised scorers' totals. Notes and errors are dropped here: scoring the survivors
    records them."""
    candidates = replace(ctx.narrowed(positions), notes=[], errors=[])
    totals = total_scores(candidates, run_scorers(candidates, profile, vectorised_only=True))
    return positions[np.lexsort((hash_keys(candidates, seed), -totals))]


def _first_rejection(ctx: Cycle, profile: Profile, row: int, position: int) -> tuple[Entry, Rejection] | None:
    """Return the first plugin that rejects the IDC, and its rejection."""
    for entry in profile.filters_one:
        ctx.entry, ctx.missing = entry.name, entry.missing
        idc = IdcView(ctx, row, position, stale=entry.missing.filter == "last")
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
            for_want_of_a_value = _unknown(ctx, idc)
            if (rejection := rejection or for_want_of_a_value) is not None:
                return entry, rejection
    return None


def _unknown(ctx: Cycle, idc: IdcView) -> Rejection | None:
    """Put on record which values the filter lacked; return the rejection if the profile demands one of them."""
    rejection = None
    for reading in idc.readings:
        if reading.complete:
            continue
        counts = idc.stale and not np.isnan(reading.values).any()
        used_as = "last" if counts else "pass" if ctx.missing.filter == "pass" else "reject"
        ctx.notes.append(MissingNote(ctx.entry, np.array([idc.row]), reading, used_as))
        if used_as == "reject":
            rejection = rejection or Rejection(METRIC_UNKNOWN, {"metric": reading.metric})
    return rejection
