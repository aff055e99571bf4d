"""One request over several IDCs: its machines split in rank order, each IDC judged for its own share, all or nothing.

The ranking is decided for the first machine alone. Down the ranking each IDC gets as many of the machines that are
left as it can hold and as the request allows; whether it can hold them, a decision about just these machines says. So
a share is judged by the very filters that would judge it as a request of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from .answer import Answer, IdcBrief, IdcShare, LineUse
from .claiming import claims_of, picked
from .cycle import decide
from .decision import Decision
from .explain import Explain, answer, idc_brief, lines_used
from .messages import _
from .overlay import Tenancy
from .profile import Profile
from .request import Machine, Request, Spread
from .snapshot import Snapshot
from .wording import Say, say_english

__all__ = ["MOST_SHARES", "Share", "Solution", "first_share", "solution_answer", "solve", "tenancies_of"]

MOST_SHARES = 1000
"""Over more IDCs than this nothing is spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one IDC gets: it stands at `position` among the survivors of `decision`, which is about this share alone."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The ranking and, where the request is to be spread, the shares; none of them: it can't be spread so."""

    decision: Decision
    shares: tuple[Share, ...] | None = None
    held: int = 0
    wanted: int = 0

    @property
    def scheduled(self) -> bool:
        return self.decision.scheduled if self.shares is None else bool(self.shares)


def first_share(request: Request) -> Request:
    """What the ranking is decided for: the request itself or, where it is to be spread, its first machine."""
    return request if request.spread is None else _part(request, 0, 1)


def solve(request: Request, snapshot: Snapshot, profile: Profile, **known: Any) -> Solution:
    """`decide`, also for what is to be spread; takes and raises what `decide` takes and raises."""
    first = decide(first_share(request), snapshot, profile, **known)
    if request.spread is None:
        return Solution(decision=first)
    again = {name: value for name, value in known.items() if name != "clock"}
    judged = _Judged(request, lambda part: decide(part, snapshot, profile, **again), first)
    shares = tuple(islice(_shares(request, request.spread, judged), MOST_SHARES)) if first.scheduled else ()
    held, wanted = sum(share.request.machine_count for share in shares), request.machine_count
    return Solution(decision=first, shares=shares if held == wanted else (), held=held, wanted=wanted)


def tenancies_of(solution: Solution, *, tenant: str, business: str) -> list[Tenancy]:
    """What would be taken if it were for real; raises PluginFailed."""
    if not solution.scheduled:
        return []
    decision = solution.decision
    places = [(share.decision, share.position) for share in solution.shares or ()]
    return [
        Tenancy(
            idc=found.code(position),
            claims=claims_of(picked(found, position), found.profile),
            tenant=tenant,
            business=business,
            machines=found.cycle.request.machine_count,
        )
        for found, position in places or [(decision, decision.picked)]
    ]


def solution_answer(
    solution: Solution, *, explain: Explain = "summary", top: int = 5, say: Say = say_english
) -> Answer:
    """The contract's answer. What is shown of candidates and rejections is the ranking's."""
    told = answer(solution.decision, explain=explain, top=top, say=say)
    if solution.shares is None:
        return told
    if not solution.shares:
        return _unspread(told, solution, say)
    first = solution.shares[0]
    return msgspec.structs.replace(
        told,
        idc=first.idc,
        lines=first.lines,
        score=first.score,
        idcs=tuple(
            IdcShare(
                idc=share.idc.code,
                lines=share.lines,
                machine_count=share.request.machine_count,
                score=share.score,
            )
            for share in solution.shares
        ),
    )


def _unspread(told: Answer, solution: Solution, say: Say) -> Answer:
    if not solution.decision.scheduled:
        return msgspec.structs.replace(told, idcs=())
    figures = {"head": told.summary, "held": solution.held, "wanted": solution.wanted}
    return msgspec.structs.replace(
        told,
        result="unschedulable",
        reason_code="none_feasible",
        idc=None,
        lines=(),
        score=None,
        score_mean=None,
        summary=say(_("{head}; spread so they hold {held} of {wanted} machines"), figures),
        idcs=(),
    )


class _Judged:
    """Which IDCs can hold how many of the machines that are left, decided at most once for each number."""

    def __init__(self, request: Request, decided: Callable[[Request], Decision], first: Decision) -> None:
        self._request, self._decided, self.first = request, decided, first
        self._alike = len(request.machines or ()) == 1
        self._known: dict[tuple[int, int], tuple[Request, Decision, Mapping[int, int]]] = {}

    def share(self, row: int, taken: int, most: int) -> tuple[int, Request, Decision, int] | None:
        """The most machines, `most` at most, after those taken, that the IDC can hold; None: not one."""
        fits, too_many = 0, most + 1
        count = most
        while fits + 1 < too_many:
            if row in self._about(taken, count)[2]:
                fits = count
            else:
                too_many = count
            count = (fits + too_many) // 2
        if not fits:
            return None
        part, decision, places = self._about(taken, fits)
        return fits, part, decision, places[row]

    def _about(self, taken: int, count: int) -> tuple[Request, Decision, Mapping[int, int]]:
        key = (0 if self._alike else taken, count)
        if key not in self._known:
            part = _part(self._request, taken, count)
            decision = self._decided(part)
            places = {row: place for place, row in enumerate(decision.survivors.row_numbers.tolist())}
            self._known[key] = part, decision, places
        return self._known[key]


def _shares(request: Request, spread: Spread, judged: _Judged) -> Iterator[Share]:
    """Down the ranking, the one that is picked first."""
    idcs, first = judged.first.survivors.snapshot.idcs, judged.first
    domains = {"idc": idcs.codes, "region": idcs.regions, "provider": idcs.providers}[spread.by or "idc"]
    ahead, taken, wanted = Counter[str](), 0, request.machine_count
    for rank, place in _ranked(first):
        row = int(first.survivors.row_numbers[place])
        domain = domains[row]
        still_to_come = max((spread.min_idcs or 1) - len(ahead) - (domain not in ahead), 0)
        most = min(wanted - taken - still_to_come, (spread.max_per_idc or wanted) - ahead[domain])
        found = judged.share(row, taken, most) if most > 0 else None
        if found is None:
            continue
        count, part, decision, position = found
        yield Share(
            decision=decision,
            position=position,
            request=part,
            rank=rank,
            score=float(first.ranking.totals[place]),
        )
        ahead[domain] += count
        taken += count
        if taken == wanted:
            return


def _ranked(decision: Decision) -> Iterator[tuple[int, int]]:
    """(rank, position) of the one that is picked, then of the others."""
    order: list[int] = decision.ranking.order.tolist()
    first = order.index(decision.picked)
    for place in (first, *(place for place in range(len(order)) if place != first)):
        yield place + 1, order[place]


def _part(request: Request, skipped: int, count: int) -> Request:
    """The request about `count` of its machines, after those skipped."""
    machines = tuple(_machines(request.machines or (), skipped, count))
    return msgspec.structs.replace(request, machines=machines, spread=None)


def _machines(machines: tuple[Machine, ...], skipped: int, count: int) -> Iterator[Machine]:
    for machine in machines:
        there = 1 if machine.count is None else machine.count
        passed = min(skipped, there)
        some = min(there - passed, count)
        skipped, count = skipped - passed, count - some
        if some:
            yield msgspec.structs.replace(machine, count=some)
