"""Requests decided one after the other, each seeing what the ones before it took, or would have taken.

The answers are those that deciding each on the snapshot with the takings laid over it would give, to the last bit.
What is asked again and again without explanation is kept open (`open_question.py`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from .bringing_up import brought_up
from .context import Clock
from .cycle import decide
from .decision import Decision
from .errors import IdcschedError
from .found import Closed, Found, stays_open
from .open_question import OpenQuestion
from .outside import Reply
from .overlaying import laid_over, unmoved, unmoved_words
from .profile import Profile
from .request import Request
from .snapshot import Snapshot
from .spreading import Solution, solve, tenancies_of
from .standing import Books, Tenancy

__all__ = ["Repeated", "Succession", "taken_by"]

MOST_TAKEN = 200
"""After so many orders a picture of its own is made for those to come."""
MOST_OPEN = 64
"""So many questions are kept open; with more, each has to catch up with too much."""
MOST_MISSES = 3
"""So many times on end it is tried in vain to tell of single IDCs what orders change."""
LEAST_TAKEN = 50
"""Before so many orders it is not worth while to begin with a newer picture."""
_asked = attrgetter(*[name for name in Request.__struct_fields__ if name != "request_id"])


class Repeated:
    """The solution of a question that was asked before, as far as it is told without explanation."""

    shares = None
    scheduled = True

    def __init__(self, found: Found, profile: Profile, machines: int, decided: Callable[[], Decision]) -> None:
        self.found = found
        self.profile = profile
        self._machines = machines
        self._decided = decided

    @cached_property
    def decision(self) -> Decision:
        """All of it, decided when somebody wants to know."""
        return self._decided()

    def tenancies(self, *, tenant: str, business: str) -> list[Tenancy]:
        """What would be taken if it were for real."""
        place = self.found.place
        return [
            Tenancy(idc=place.idc.code, claims=place.claims, tenant=tenant, business=business, machines=self._machines)
        ]


class _Older(NamedTuple):
    """A picture on which everything may be remembered, and how much was taken until then."""

    snapshot: Snapshot
    moves: int
    orders: int


class Succession:
    """One picture for many requests. `profiles`: of these what orders do not move goes on being remembered."""

    def __init__(self, snapshot: Snapshot, profiles: Iterable[Profile] = ()) -> None:
        self._begun, self._taken = snapshot, list[Tenancy]()
        self._books = Books(snapshot)
        self._older = _Older(snapshot, 0, 0)
        self._closed_at = 0
        self._keeping = unmoved_words(profiles)
        self._open: dict[Any, OpenQuestion] = {}
        self._came: dict[Any, int] = {}
        self._misses: dict[Any, int] = {}
        self._steady: dict[object, bool] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The picture with all in it that was taken until now."""
        books = self._books
        if books.orders > self._closed_at:
            self._closed_at = books.orders
            books.close(unmoved(books.snapshot, self._keeping))
        return books.snapshot

    def take(self, tenancies: Sequence[Tenancy]) -> None:
        """Whoever comes after sees it. Raises KeyError, ValueError for an IDC or a line that is not there."""
        for tenancy in tenancies:
            self._books.take(tenancy)
            self._taken.append(tenancy)
        if len(self._taken) >= MOST_TAKEN:
            self._begun, self._taken = self.snapshot, []

    @property
    def seen(self) -> tuple[Snapshot, tuple[Tenancy, ...]]:
        """A picture that many have in common, and what was taken since: `snapshot` is the one with the other in it."""
        return self._begun, tuple(self._taken)

    def solve(
        self,
        request: Request,
        profile: Profile,
        *,
        now: float,
        reference: str = "",
        labels: Mapping[str, str] | None = None,
        replies: Mapping[str, Reply] | None = None,
        clock: Clock | None = None,
    ) -> Solution | Repeated:
        """`spreading.solve` on the picture as it is now; raises what it raises."""
        known: dict[str, Any] = {"now": now, "reference": reference, "labels": labels}
        if self._suits(request, profile) and not replies:
            found = self._found(request, profile, known)
            if found is not None:
                return self._repeated(found, request, profile, known)
        return solve(request, self.snapshot, profile, **known, replies=replies, clock=clock)

    def _suits(self, request: Request, profile: Profile) -> bool:
        if request.explain != "none" or request.spread is not None or self._books.given_back:
            return False
        steady = self._steady.get(profile.token)
        if steady is None:
            steady = self._steady[profile.token] = stays_open(profile)
        return steady

    def _found(self, request: Request, profile: Profile, known: dict[str, Any]) -> Found | None:
        """The best, from an open question or from the older picture; None: it must be decided afresh."""
        key = profile.token, msgspec.msgpack.encode((_asked(request), known["labels"]))
        question, kind = self._open.get(key), (profile.token, request.isp)
        if question is None and self._misses.get(kind, 0) >= MOST_MISSES:
            return None
        try:
            found = self._of_older(key, request, profile, known) if question is None else question.best(known["now"])
        except (Closed, IdcschedError):  # who fails is named when it is decided afresh
            self._open.pop(key, None)
            self._missed(kind)
            return None
        self._misses[kind] = 0
        return found

    def _of_older(self, key: Any, request: Request, profile: Profile, known: dict[str, Any]) -> Found | None:
        """What comes the second time is kept open: most come but once."""
        decision = decide(request, self._older.snapshot, profile, **known)
        came = self._came[key] = self._came.get(key, 0) + 1
        if came == 1 or len(self._open) >= MOST_OPEN:
            return brought_up(decision, self._books)
        question = self._open[key] = OpenQuestion(decision, self._books, self._older.moves)
        return question.best(known["now"])

    def _missed(self, kind: Any) -> None:
        """Too much may have been taken since the older picture."""
        self._misses[kind] = self._misses.get(kind, 0) + 1
        if self._books.orders - self._older.orders >= LEAST_TAKEN:
            self._older = _Older(self.snapshot, len(self._books.moves), self._books.orders)

    def _repeated(self, found: Found, request: Request, profile: Profile, known: dict[str, Any]) -> Repeated:
        snapshot, taken = self.seen

        def decided() -> Decision:
            return solve(request, laid_over(snapshot, taken), profile, **known).decision

        return Repeated(found, profile, request.machine_count, decided)


def taken_by(solution: Solution | Repeated, *, tenant: str, business: str) -> list[Tenancy]:
    """What would be taken if it were for real; raises PluginFailed."""
    if isinstance(solution, Repeated):
        return solution.tenancies(tenant=tenant, business=business)
    return tenancies_of(solution, tenant=tenant, business=business)
