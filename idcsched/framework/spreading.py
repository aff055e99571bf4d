"""Spread one request over several IDCs: a greedy split of its machines in rank order, all or nothing.

The ranking is decided for the first machine alone. In rank order each IDC gets as many of the remaining machines as
the IDC can hold and the request allows. A decision about just these machines tells whether the IDC can hold them, so
that a share passes the same filters as a request of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from msgspec.structs import replace

from .answer import Answer, Bill, IdcBrief, IdcShare, LineUse
from .bills import billed, bills, in_all
from .claiming import claims_of, narrowed_to
from .cycle import decide
from .decision import Decision
from .explain import Explain, answer, idc_brief, lines_used
from .messages import _
from .overlay import Allocation
from .question import Question
from .request import Machine, Request, Spread
from .wording import Say, say_english

__all__ = ["MOST_SHARES", "Share", "Solution", "allocations_of", "first_share", "solution_answer", "solve"]

MOST_SHARES = 1000
"""The largest number of IDCs that one request is spread over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One IDC's share. `decision` is about this share alone; `position` is the IDC's place among its survivors."""

    decision: Decision
    position: int
    request: Request
    rank: int
    score: float

    @property
    def idc(self) -> IdcBrief:
        return idc_brief(self.decision, self.position)

    @property
    def lines(self) -> tuple[LineUse, ...]:
        return lines_used(self.decision, self.position)

    @property
    def bill(self) -> Bill | str:
        return bills(narrowed_to(self.decision, self.position), self.decision.profile)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The decision on the ranking and, under `spread`, the shares; without any the request can't be spread as asked."""

    decision: Decision
    shares: tuple[Share, ...] | None = None
    held: int = 0
    wanted: int = 0

    @property
    def scheduled(self) -> bool:
        return self.decision.scheduled if self.shares is None else bool(self.shares)


def first_share(question: Question) -> Question:
    """Return the question that the ranking answers: itself or, under `spread`, that for the first machine."""
    request = question.request
    return question if request.spread is None else replace(question, request=_part(request, 0, 1))


def solve(question: Question) -> Solution:
    """Decide a question, and its shares under `spread`; raises what `decide` raises."""
    request, first = question.request, decide(first_share(question))
    if request.spread is None:
        return Solution(decision=first)
    finder = _ShareFinder(request, lambda part: decide(replace(question, request=part, clock=None)), first)
    shares = tuple(islice(_shares(request, request.spread, finder), MOST_SHARES)) if first.scheduled else ()
    held, wanted = sum(share.request.machine_count for share in shares), request.machine_count
    return Solution(decision=first, shares=shares if held == wanted else (), held=held, wanted=wanted)


def allocations_of(solution: Solution, *, tenant: str, business: str) -> list[Allocation]:
    """Return what the solution would take as an order; raises PluginFailed."""
    if not solution.scheduled:
        return []
    places = [(share.decision, share.position) for share in solution.shares or ()]
    return [
        Allocation(
            idc=decision.code(position),
            claims=claims_of(narrowed_to(decision, position), decision.profile),
            tenant=tenant,
            business=business,
            machines=decision.cycle.request.machine_count,
        )
        for decision, position in places or [(solution.decision, solution.decision.picked)]
    ]


def solution_answer(
    solution: Solution, *, explain: Explain = "summary", top: int = 5, say: Say = say_english
) -> Answer:
    """Return the API's answer. Its candidates and rejections are those of the ranking."""
    ranked = answer(solution.decision, explain=explain, top=top, say=say)
    if solution.shares is None:
        return ranked
    if not solution.shares:
        return _unspread(ranked, solution, say)
    first, parts = solution.shares[0], [share.bill for share in solution.shares]
    return replace(
        ranked,
        idc=first.idc,
        lines=first.lines,
        score=first.score,
        **billed(in_all(parts)),
        idcs=tuple(
            IdcShare(
                idc=share.idc.code,
                lines=share.lines,
                machine_count=share.request.machine_count,
                score=share.score,
                **billed(part),
            )
            for share, part in zip(solution.shares, parts, strict=True)
        ),
    )


def _unspread(ranked: Answer, solution: Solution, say: Say) -> Answer:
    if not solution.decision.scheduled:
        return replace(ranked, idcs=())
    figures = {"head": ranked.summary, "held": solution.held, "wanted": solution.wanted}
    return replace(
        ranked,
        result="unschedulable",
        reason_code="none_feasible",
        idc=None,
        lines=(),
        score=None,
        score_mean=None,
        **billed(None),
        summary=say(_("{head}; spread so they hold {held} of {wanted} machines"), figures),
        idcs=(),
    )


class _ShareFinder:
    """Finds by bisection how many of the remaining machines an IDC can hold; decides once for each number."""

    def __init__(self, request: Request, decided: Callable[[Request], Decision], first: Decision) -> None:
        self._request, self._decided, self.first = request, decided, first
        self._alike = len(request.machines or ()) == 1
        self._decided_parts: dict[tuple[int, int], tuple[Request, Decision, Mapping[int, int]]] = {}

    def share(self, row: int, taken: int, most: int) -> tuple[int, Request, Decision, int] | None:
        """Return the largest share up to `most` machines, after `taken`, that the IDC can hold; None: not one."""
        fits, too_many = 0, most + 1
        count = most
        while fits + 1 < too_many:
            if row in self._decision_about(taken, count)[2]:
                fits = count
            else:
                too_many = count
            count = (fits + too_many) // 2
        if not fits:
            return None
        part, decision, positions = self._decision_about(taken, fits)
        return fits, part, decision, positions[row]

    def _decision_about(self, taken: int, count: int) -> tuple[Request, Decision, Mapping[int, int]]:
        key = (0 if self._alike else taken, count)
        if key not in self._decided_parts:
            part = _part(self._request, taken, count)
            decision = self._decided(part)
            positions = {row: position for position, row in enumerate(decision.survivors.row_numbers.tolist())}
            self._decided_parts[key] = part, decision, positions
        return self._decided_parts[key]


def _shares(request: Request, spread: Spread, finder: _ShareFinder) -> Iterator[Share]:
    """Yield the shares in rank order, that of the picked IDC first."""
    idcs, first = finder.first.survivors.snapshot.idcs, finder.first
    domains = {"idc": idcs.codes, "region": idcs.regions, "provider": idcs.providers}[spread.by or "idc"]
    by_domain, taken, wanted = Counter[str](), 0, request.machine_count
    for rank, ranked_position in _ranked(first):
        row = int(first.survivors.row_numbers[ranked_position])
        domain = domains[row]
        domains_to_come = max((spread.min_idcs or 1) - len(by_domain) - (domain not in by_domain), 0)
        most = min(wanted - taken - domains_to_come, (spread.max_per_idc or wanted) - by_domain[domain])
        share = finder.share(row, taken, most) if most > 0 else None
        if share is None:
            continue
        count, part, decision, position = share
        yield Share(
            decision=decision,
            position=position,
            request=part,
            rank=rank,
            score=float(first.ranking.totals[ranked_position]),
        )
        by_domain[domain] += count
        taken += count
        if taken == wanted:
            return


def _ranked(decision: Decision) -> Iterator[tuple[int, int]]:
    """Yield (rank, position) of the picked IDC, then of the others."""
    order: list[int] = decision.ranking.order.tolist()
    first = order.index(decision.picked)
    for index in (first, *(index for index in range(len(order)) if index != first)):
        yield index + 1, order[index]


def _part(request: Request, skipped: int, count: int) -> Request:
    """Return the request for `count` of its machines, after those skipped."""
    machines = tuple(_machines(request.machines or (), skipped, count))
    return replace(request, machines=machines, spread=None)


def _machines(machines: tuple[Machine, ...], skipped: int, count: int) -> Iterator[Machine]:
    for machine in machines:
        machine_count = 1 if machine.count is None else machine.count
        skipped_here = min(skipped, machine_count)
        count_here = min(machine_count - skipped_here, count)
        skipped, count = skipped - skipped_here, count - count_here
        if count_here:
            yield replace(machine, count=count_here)
