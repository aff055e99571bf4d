"""Requests decided one after the other, each seeing what the ones before it took, or would have taken.

The answers are those that deciding each on the snapshot with the takings laid over it would give, to the last bit.
What questions that are alike have in common is told once (`alike.py`), and what is asked again and again without
explanation is kept open (`open_question.py`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec

from .alike import Alike
from .context import Clock, Cycle
from .cycle import decide
from .decision import Decision
from .errors import IdcschedError
from .found import Found, stays_open
from .memory import Moment
from .open_question import OpenQuestion
from .outside import Reply
from .overlaying import laid_over, unmoved, unmoved_words
from .profile import Profile
from .request import Request
from .snapshot import Snapshot
from .spreading import Solution, solve, tenancies_of
from .standing import Books, Tenancy
from .thresholds import Closed, needs_of

__all__ = ["Repeated", "Succession", "taken_by"]

MOST_TAKEN = 200
"""After so many orders a picture of its own is made for those to come."""
MOST_OPEN = 64
"""So many questions are kept open."""
MOST_MISSES = 3
"""So many times on end it is tried in vain to tell of those that are alike what has changed."""
_of_its_own = attrgetter("only", "exclude", "weights", "fallback", "spread", "hypothetical")
_NOTHING = (None,) * 6
_of_all_alike = attrgetter(*[name for name in Request.__struct_fields__ if name not in ("request_id", "machines")])
_encode = msgspec.msgpack.Encoder().encode


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
        self._first, self._moment = snapshot, Moment(0.0, 0.0)
        self._closed_at = 0
        self._keeping = unmoved_words(profiles)
        self._alike: dict[Any, Alike | None] = {}
        self._open: dict[Any, OpenQuestion] = {}
        self._came: dict[Any, bool] = {}
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
        if request.explain != "none" or self._books.given_back or _of_its_own(request) != _NOTHING:
            return False
        steady = self._steady.get(profile.token)
        if steady is None:
            steady = self._steady[profile.token] = stays_open(profile)
        return steady

    def _found(self, request: Request, profile: Profile, known: dict[str, Any]) -> Found | None:
        """The best, of an open question or from what is known of those that are alike; None: decide afresh."""
        if not self._moment.covers(known["now"]):
            self._moment = self._first.moment(known["now"])
            self._alike, self._open, self._came, self._misses = {}, {}, {}, {}
            self._books.forget_watchers()
        about = profile.token, _encode((_of_all_alike(request), known["labels"]))
        key = about, _encode(request.machines)
        question = self._open.get(key)
        try:
            if question is not None:
                return question.best(self._books)
            return self._not_open(key, about, request, profile, known)
        except (Closed, IdcschedError):  # who fails is named when it is decided afresh
            return None

    def _not_open(
        self, key: Any, about: Any, request: Request, profile: Profile, known: dict[str, Any]
    ) -> Found | None:
        """What comes the second time is kept open: most come but once."""
        ctx = Cycle(
            request,
            self._first,
            profile,
            now=known["now"],
            rows=slice(0, 0),
            labels=known["labels"] or request.labels or {},
        )
        needs = needs_of(ctx)
        kind = "alike", *about, *[(plugin, resource) for plugin, resource, _ in needs]
        alike = self._alike_to(kind, ctx, known)
        if alike is None:
            return None
        ctx.rows, ctx.size = alike.rows, alike.size
        wanted = {resource: need for _, resource, need in needs}
        if self._came.get(key, False) and len(self._open) < MOST_OPEN:
            self._came[key] = False  # once it could not be opened, it is not tried again
            question = self._open[key] = OpenQuestion(alike, ctx, wanted, self._books)
            return question.best(self._books)
        self._came.setdefault(key, True)
        try:
            found = alike.best(ctx, wanted, self._books)
        except Closed:
            self._missed(kind)
            raise
        self._misses.pop(kind, None)
        return found

    def _missed(self, kind: Any) -> None:
        """It is not tried for ever."""
        missed = self._misses[kind] = self._misses.get(kind, 0) + 1
        if missed >= MOST_MISSES:
            self._alike[kind] = None

    def _alike_to(self, key: Any, ctx: Cycle, known: Mapping[str, Any]) -> Alike | None:
        """What is known of those that are alike and need something of the same; None: they are decided afresh."""
        try:
            return self._alike[key]
        except KeyError:
            pass
        found: Alike | None = self._moment.recall(key)
        if found is None:
            decision = decide(ctx.request, self._first, ctx.profile, **known)
            self._alike[key] = None  # unless it can be told
            found = Alike(decision)
            self._moment.remember(key, found, size=found.bytes)
        own = self._alike[key] = found.own(ctx)
        return own

    def _repeated(self, found: Found, request: Request, profile: Profile, known: dict[str, Any]) -> Repeated:
        snapshot, taken, count = self._begun, self._taken, len(self._taken)  # the list only ever grows

        def decided() -> Decision:
            return solve(request, laid_over(snapshot, taken[:count]), profile, **known).decision

        return Repeated(found, profile, request.machine_count, decided)


def taken_by(solution: Solution | Repeated, *, tenant: str, business: str) -> list[Tenancy]:
    """What would be taken if it were for real; raises PluginFailed."""
    if isinstance(solution, Repeated):
        return solution.tenancies(tenant=tenant, business=business)
    return tenancies_of(solution, tenant=tenant, business=business)
