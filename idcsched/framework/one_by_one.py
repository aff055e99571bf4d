"""Plugins that judge one IDC at a time: run after the vectorised filters, as long as enough are still wanted.

Candidates are visited in the order of the vectorised partial score, ties by the request's hash, so that the cut
drops the least promising. What was not visited is counted as such.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .decision import Judgement, PluginError
from .errors import PluginFailed
from .labels import Mask, Rows
from .plugin import Rejection
from .profile import Entry
from .ranking import hash_keys, total_scores
from .scoring import score_all

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["IdcView", "Visit", "enough", "visit"]

ALL_BELOW = 100
LEAST_PERCENT = 5
MOST_PERCENT = 50
IDCS_A_PERCENT = 125


@dataclass(frozen=True, slots=True)
class IdcView:
    """One IDC as a plugin sees it that thinks in one at a time."""

    ctx: "Cycle"
    row: int
    position: int

    @property
    def code(self) -> str:
        return self.ctx.snapshot.idcs.codes[self.row]

    @property
    def name(self) -> str:
        return self.ctx.snapshot.idcs.names[self.row]

    @property
    def region(self) -> str:
        return self.ctx.snapshot.idcs.regions[self.row]

    @property
    def tier(self) -> str:
        return self.ctx.snapshot.idcs.tiers[self.row]

    @property
    def partition(self) -> str:
        return self.ctx.snapshot.idcs.partitions[self.row]

    @property
    def provider(self) -> str:
        return self.ctx.snapshot.idcs.providers[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        return self.ctx.snapshot.idcs.labels[self.row]

    @property
    def lines(self) -> tuple[str, ...]:
        """The codes of the lines that the request would use."""
        return tuple(self.ctx.snapshot.lines.codes[line] for line in self.ctx.lines.of(self.position))

    def metric(self, code: str) -> float | None:
        """The IDC's value of a metric, or None where it is missing or stale."""
        value, fresh = self.ctx.metric_of(code, self.row)
        return value if fresh else None


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


def visit(ctx: "Cycle", alive: Mask, groups: Rows, seed: int, errors: list[PluginError]) -> Visit:
    """Group by group, until one has survivors; in it, one by one, until there are enough."""
    found = Visit(passed=np.zeros(ctx.size, dtype=np.bool_), visited=groups < 0)
    for group in range(int(groups.max(initial=0)) + 1):
        found.visited |= groups == group
        _visit_group(ctx, np.flatnonzero(alive & (groups == group)), seed, found, errors)
        if found.passed.any():
            break
    return found


def _visit_group(ctx: "Cycle", positions: Rows, seed: int, found: Visit, errors: list[PluginError]) -> None:
    wanted = enough(positions.size, ctx.profile.candidates_percent)
    ordered, rows = _by_promise(ctx, positions, seed), ctx.row_numbers
    passed = 0
    for count, position in enumerate(ordered.tolist()):
        if passed >= wanted:
            found.visited[ordered[count:]] = False
            return
        idc = IdcView(ctx, int(rows[position]), position)
        rejection = _rejection(ctx, idc, errors)
        if rejection is None:
            found.passed[position] = True
            passed += 1
        else:
            entry, why = rejection
            found.rejections.setdefault((entry.name, why.reason.code), {})[position] = why


def _by_promise(ctx: "Cycle", positions: Rows, seed: int) -> Rows:
    """The most promising first, by what the vectorised scorers say."""
    candidates = ctx.narrowed(positions)
    candidates.notes, candidates.state = [], dict(ctx.state)  # what counts is said again of the survivors
    totals = total_scores(candidates, score_all(candidates, [], vectorised_only=True))
    hashes = hash_keys(candidates.take(ctx.snapshot.idcs.hashes), seed)
    return positions[np.lexsort((hashes, -totals))]


def _rejection(ctx: "Cycle", idc: IdcView, errors: list[PluginError]) -> tuple[Entry, Rejection] | None:
    """The first word against the IDC."""
    for entry in ctx.profile.filters_one:
        ctx.entry = entry
        try:
            why = _word_of(entry, ctx, idc)
        except Exception as error:
            if entry.on_error_filter == "fail":
                raise PluginFailed(entry.name, "filter", f"{type(error).__name__}: {error}") from error
            _note_once(errors, PluginError(entry.name, "filter", f"{type(error).__name__}: {error}"))
            continue
        if why is not None:
            return entry, why
    return None


def _word_of(entry: Entry, ctx: "Cycle", idc: IdcView) -> Rejection | None:
    """The plugin's word, checked; raises whatever the plugin raises."""
    why: object = entry.plugin.filter_one(ctx, idc)
    if why is None or isinstance(why, Rejection):
        return why
    raise TypeError(f"gave {type(why).__name__}, not Rejection")


def _note_once(errors: list[PluginError], error: PluginError) -> None:
    if error not in errors:
        errors.append(error)
