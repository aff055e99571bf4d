"""Count how many more of a machine fit in each IDC, and name the filter that stops at one more.

`n` machines fit an IDC if `decide` keeps it for an order of `n` and rejects it for one of `n + 1`. Bisection searches
all IDCs at once: those that are kept at some number are tried above it, the others below.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from .answer import Bill
from .bills import bills
from .cycle import NO_GROUP, decide
from .decision import Decision
from .explain import first_rejections
from .labels import Rows
from .question import Question
from .request import Machine
from .wording import Say, Teller, say_english

__all__ = ["FittingCount", "Limit", "count_fitting"]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Why one more does not fit."""

    plugin: str
    code: str
    reason: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingCount:
    """How many machines fit the IDC of a row; `limit` is None where as many fit as were asked about.

    `bill`: what the next one adds to the bill, or why that is not known; None where none fits.
    """

    row: int
    count: int
    limit: Limit | None
    bill: Bill | str | None = None


def count_fitting(question: Question, *, machine: Machine, at_most: int, say: Say = say_english) -> list[FittingCount]:
    """Count for every IDC that the request is about, in the order of the snapshot; raises what `decide` does.

    Each IDC counts for itself, in whichever fallback group it stands.
    """
    request, profile = question.request, question.profile
    every_idc = replace(profile, fallback=(), candidates_percent=100.0)

    def decided(count: int) -> Decision:
        machines = (msgspec.structs.replace(machine, count=count),)
        order = msgspec.structs.replace(request, machines=machines, fallback=None)
        return decide(msgspec.structs.replace(question, request=order, profile=every_idc))

    groups, first, tell = request.fallback or profile.fallback, decided(1), Teller(say)
    cycle = first.cycle
    grouped = cycle.matching(groups) if groups else np.ones(cycle.size, dtype=np.bool_)
    results = [FittingCount(row=row, count=0, limit=_no_group(say)) for row in cycle.row_numbers[~grouped].tolist()]
    results += _between(cycle.row_numbers[grouped], 0, at_most + 1, None, decided, tell)
    bill_of = dict(zip(first.survivors.row_numbers.tolist(), bills(first.survivors, every_idc), strict=True))
    return [replace(fits, bill=bill_of.get(fits.row)) for fits in sorted(results, key=lambda fits: fits.row)]


def _no_group(say: Say) -> Limit:
    return Limit(plugin="request", code=NO_GROUP.code, reason=say(NO_GROUP.sentence, {}), detail={})


def _between(
    rows: Rows,
    fits: int,
    too_many: int,
    refused: Decision | None,
    decided: Callable[[int], Decision],
    tell: Teller,
) -> Iterator[FittingCount]:
    """Bisect the rows that hold `fits` machines and, by the decision `refused`, not `too_many`.

    `refused` None: nothing was refused yet, and `too_many` is one above the limit of the search.
    """
    if not rows.size:
        return
    if too_many == fits + 1:
        yield from _results(rows, fits, refused, tell)
        return
    count = _next(fits, too_many, first=refused is None)
    decision = decided(count)
    passed = np.isin(rows, decision.survivors.row_numbers)
    yield from _between(rows[passed], count, too_many, refused, decided, tell)
    yield from _between(rows[~passed], fits, count, decision, decided, tell)


def _next(fits: int, too_many: int, *, first: bool) -> int:
    """Return the next count to try: doubled until one is refused, then the middle."""
    return min(max(fits * 2, 1), too_many - 1) if first else (fits + too_many) // 2


def _results(rows: Rows, fits: int, refused: Decision | None, tell: Teller) -> Iterator[FittingCount]:
    if refused is None:
        yield from (FittingCount(row=row, count=fits, limit=None) for row in rows.tolist())
        return
    first = first_rejections(refused)
    positions = np.searchsorted(refused.cycle.row_numbers, rows)
    for row, position in zip(rows.tolist(), positions.tolist(), strict=True):
        yield FittingCount(row=row, count=fits, limit=_limit(refused, int(first[position]), position, tell))


def _limit(refused: Decision, number: int, position: int, tell: Teller) -> Limit:
    judgement = refused.judgements[number]
    reason, numbers = tell.reason(judgement, position)
    return Limit(plugin=judgement.plugin, code=judgement.reason.code, reason=reason, detail=numbers)
