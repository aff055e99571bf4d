"""Requests decided one after the other, each seeing what the ones before it took, or would have taken.

The answers are those that deciding each on the snapshot with the takings laid over it would give, to the last bit.
What is asked again and again without explanation is kept open (`open_question.py`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec

from .context import Clock
from .decision import Decision
from .open_question import Closed, Found, OpenQuestion, stays_open
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
MOST_CLOSINGS = 3
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


class Succession:
    """One picture for many requests. `profiles`: of these what orders do not move goes on being remembered."""

    def __init__(self, snapshot: Snapshot, profiles: Iterable[Profile] = ()) -> None:
        self._begun, self._taken = snapshot, list[Tenancy]()
        self._books = Books(snapshot)
        self._closed_at = 0
        self._keeping = unmoved_words(profiles)
        self._open: dict[Any, OpenQuestion | None] = {}
        self._closings: dict[Any, int] = {}
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
        key = self._key(request, profile, labels)
        if (found := self._best(key, now)) is not None:
            return self._repeated(found, request, profile, now=now, reference=reference, labels=labels)
        known = {"now": now, "reference": reference, "labels": labels, "replies": replies}
        solution = solve(request, self.snapshot, profile, **known, clock=clock)
        if key is not None:
            self._keep_open(key, solution)
        return solution

    def _key(self, request: Request, profile: Profile, labels: Mapping[str, str] | None) -> Any:
        """What questions that are answered alike have in common; None: it is not one to be kept open."""
        if request.explain != "none" or not self._stays_open(profile):
            return None
        return profile.token, msgspec.msgpack.encode((_asked(request), labels))

    def _stays_open(self, profile: Profile) -> bool:
        found = self._steady.get(profile.token)
        if found is None:
            found = self._steady[profile.token] = stays_open(profile)
        return found

    def _best(self, key: Any, now: float) -> Found | None:
        question = self._open.get(key)
        if question is None:
            return None
        try:
            return question.best(now)
        except Closed:
            self._close(key)
            return None

    def _close(self, key: Any) -> None:
        self._closings[key] = self._closings.get(key, 0) + 1
        del self._open[key]

    def _keep_open(self, key: Any, solution: Solution) -> None:
        """When it comes the second time: most come but once."""
        if self._open.setdefault(key) is not None or self._closings.get(key, 0) >= MOST_CLOSINGS:
            return
        if key not in self._closings:
            self._closings[key] = 0
            return
        if sum(question is not None for question in self._open.values()) >= MOST_OPEN:
            return
        try:
            self._open[key] = OpenQuestion(solution.decision, self._books)
        except Closed:
            self._closings[key] = MOST_CLOSINGS

    def _repeated(
        self,
        found: Found,
        request: Request,
        profile: Profile,
        *,
        now: float,
        reference: str,
        labels: Mapping[str, str] | None,
    ) -> Repeated:
        snapshot, taken = self.seen

        def decided() -> Decision:
            over = laid_over(snapshot, taken)
            return solve(request, over, profile, now=now, reference=reference, labels=labels).decision

        return Repeated(found, profile, request.machine_count, decided)


def taken_by(solution: Solution | Repeated, *, tenant: str, business: str) -> list[Tenancy]:
    """What would be taken if it were for real; raises PluginFailed."""
    if isinstance(solution, Repeated):
        return solution.tenancies(tenant=tenant, business=business)
    return tenancies_of(solution, tenant=tenant, business=business)
