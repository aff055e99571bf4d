"""Orders that nothing fits yet: they are tried again when something changed that may help, and at the latest by and by.

The more urgent go first, then the older; tenants take turns. One that still does not fit stands in nobody's way, until
it has waited for long: then what it needs is kept together for it, in the IDC that lacks the least.

Who comes meanwhile and is no more urgent stands behind them all: what is given back where somebody waits for it is kept
(see `giving_back`) until a round has tried those who wait, and so is what a round keeps for those who have waited for
long. The ledger refuses it to everybody else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from types import MappingProxyType
from uuid import UUID, uuid4

from django.db import IntegrityError
from django.db.models import Max
from django.utils import timezone

from idcsched.audit.models import FeedEntry
from idcsched.audit.writing import write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, NotFound
from idcsched.framework.explain import first_rejections
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.request import Request
from idcsched.framework.shortfall import awaited, nearest
from idcsched.jobs.services import lease_give_up, lease_take
from idcsched.ledger.keeping import Keep, Place, kept_now, kept_settle
from idcsched.ledger.taking import oversold
from idcsched.scheduling.live import live
from idcsched.scheduling.schedule import Made, make

from .choices import choices
from .events import held
from .lifecycle import State
from .models import Placement
from .orders import Take, order_of
from .quota import quota_check
from .taking import awaits_set, take_for
from .view import Lookahead

__all__ = ["cures_of", "due", "waiting_try"]

ALTERNATES = 5
SOONEST = timedelta(seconds=5)
LATEST = timedelta(seconds=60)
PATIENCE = timedelta(seconds=60)
"""Who has waited for longer has room kept free, in the IDC that lacks the least: nobody starves behind small orders."""
LONGEST_KEPT = timedelta(hours=1)
"""What could not be gathered within that time after it is left to others: capacity is not to lie idle for ever."""
KEPT_FREE = 20
"""For so many at a time, the first in their order."""
UNTIL_NEXT = timedelta(seconds=30)
"""What a round keeps is free again by then, unless the next says otherwise."""
ROUND, LEASE = "waiting orders", timedelta(seconds=12)
"""One round at a time; if who is at it dies, another may begin after that long."""
LATE_COMMIT = timedelta(seconds=5)
"""By how much an entry of the feed may be older than its commit."""

ROOM = frozenset({"ledger", "lines", "metrics", "stock", "provider"})

TOPICS: Mapping[str, str] = MappingProxyType(
    {
        "lines": "inventory",
        "stock": "inventory",
        "status": "inventory",
        "labels": "inventory",
        "metrics": "metrics",
        "ledger": "ledger",
        "taints": "taints",
        "affinities": "affinities",
        "profile": "profiles",
        "provider": "providers",
    }
)
"""The topic of the feed that tells of each kind of change."""


def cures_of(made: Made) -> list[str]:
    """The kinds of change that may help: what lets an IDC pass that was rejected, or, where some passed, more room."""
    decision = made.decision
    reasons = {number for number in first_rejections(decision).tolist() if number >= 0}
    cures = {cure for number in reasons for cure in decision.judgements[number].reason.cures}
    return sorted(cures | (ROOM if decision.scheduled or not cures else set()))


def waiting_try(*, now: datetime, at_most: int = 2000) -> int:
    """Try those again for which it may be worth it; says how many got a place. Nothing while somebody else is at it.

    All are tried on one picture, so that what is given back meanwhile goes to the first in the next round, and not to
    whoever happens to be tried then; and one round at a time, lest a second one passes by those that the first is at.
    """
    with _alone() as still_alone:
        return _tried(now, at_most, still_alone) if still_alone() else 0


def _tried(now: datetime, at_most: int, still_alone: Callable[[], bool]) -> int:
    seen = kept_now()
    wanted = due(now=now)[:at_most]
    if wanted:
        live.catch_up()
    turn = _Round(now) if wanted else None
    placed = sum(turn.tries(placement_id) for placement_id in wanted if still_alone()) if turn else 0
    if still_alone() and (seen or (turn and turn.kept)):
        kept_settle(seen=seen, wanted=turn.kept if turn else {})
    return placed


@contextmanager
def _alone() -> Iterator[Callable[[], bool]]:
    """Tells whether this round is the only one; asked often enough it stays so."""
    holder, until = uuid4(), 0.0

    def still_alone() -> bool:
        nonlocal until
        if monotonic() < until:
            return True
        held = lease_take(name=ROUND, holder=holder, now=timezone.now(), lasting=LEASE)
        until = monotonic() + LEASE.total_seconds() / 3 if held else 0.0
        return held

    try:
        yield still_alone
    finally:
        lease_give_up(name=ROUND, holder=holder)


def due(*, now: datetime) -> list[UUID]:
    """Whom to try, in this order. The first of those who have waited for long are, whatever has happened."""
    moved = dict(FeedEntry.objects.filter(at__gte=now - LATEST * 2).values_list("topic").annotate(Max("at")))
    fields = ("pk", "priority", "tenant_id", "created_at", "tried_at", "next_try_at", "cures")
    waiting = Placement.objects.filter(state=State.WAITING, expires_at__gt=now).order_by(
        "-priority", "created_at", "id"
    )
    turns: dict[tuple[int, int], int] = defaultdict(int)
    in_order = []
    for age, (placement, priority, tenant, *rest) in enumerate(waiting.values_list(*fields)):
        turn = turns[priority, tenant] = turns[priority, tenant] + 1
        in_order.append(((-priority, turn, age), placement, rest))
    found, kept_for = [], 0
    for _, placement, (created_at, tried_at, next_try_at, cures) in sorted(in_order):
        patient = kept_for < KEPT_FREE and _keeps(created_at, now) and ROOM & set(cures)
        kept_for += bool(patient)
        if patient or next_try_at is None or next_try_at <= now or _may_help(moved, cures, tried_at, now):
            found.append(placement)
    return found


def _keeps(since: datetime, now: datetime) -> bool:
    """Whether who has waited since then has room kept free."""
    return PATIENCE <= now - since < PATIENCE + LONGEST_KEPT


def _may_help(moved: Mapping[str, datetime], cures: Iterable[str], tried_at: datetime | None, now: datetime) -> bool:
    if tried_at is None:
        return True
    topics = {TOPICS[cure] for cure in cures if cure in TOPICS}
    return any(moved[topic] > tried_at - LATE_COMMIT for topic in topics & moved.keys())


class _Round:
    """One after the other, each seeing what the ones before it took. `kept`: what is to be kept until the next."""

    def __init__(self, now: datetime) -> None:
        self._now, self._view, self._kept_free = now, Lookahead(waiting=True), 0
        self.kept: dict[Place, tuple[float, Keep]] = {}

    def tries(self, placement_id: UUID) -> bool:
        """Whether it got a place."""
        takes = self._try(placement_id)
        self._view.took(takes)
        return bool(takes)

    @write()
    def _try(self, placement_id: UUID) -> list[Take]:
        try:
            placement = held(placement_id, skip_locked=True)
        except NotFound:  # somebody else is at it
            return []
        now = max(self._now, timezone.now())  # the round may have begun long ago
        if placement.state != State.WAITING or placement.expires_at is None or placement.expires_at <= now:
            return []
        try:
            takes, cures, why = *self._placed(placement), ""
        except IdcschedError as error:  # its profile is broken, a region is gone, the quota is used up: later, perhaps
            takes, cures, why = [], placement.cures, error.code
        if not takes:
            _wait_on(placement, self._now, cures, why)
        return takes

    def _placed(self, placement: Placement) -> tuple[list[Take], list[str]]:
        """What it has taken; else what may help."""
        request, tenant = convert(placement.request, Request), placement.tenant.code
        made = make(
            request=request,
            tenant=tenant,
            actor=placement.actor,
            http_request_id=str(placement.pk),
            picture=self._view.picture,
        )
        order = order_of(request, tenant=tenant, actor=placement.actor, action=placement.action)
        for takes in choices(order, made, at_most=ALTERNATES):
            try:
                take_for(placement, takes)
            except IntegrityError as error:
                if not oversold(error):
                    raise
                placement.refresh_from_db()
            else:
                return takes, []
        quota_check(order.tenant, order.use)
        awaits_set(placement, awaited(made.decision))
        self._keep_free(placement, made)
        return [], cures_of(made)

    def _keep_free(self, placement: Placement, made: Made) -> None:
        """For who has waited for long, what comes back piece by piece is kept together, lest small orders take it."""
        if made.solution.scheduled or self._kept_free == KEPT_FREE or not _keeps(placement.created_at, self._now):
            return
        if (wanted := nearest(made.decision)) is not None:
            self._view.keep_free(wanted)
            self._kept_free += 1
            for claim in wanted.claims:
                self._note((wanted.idc, claim.line, claim.resource), claim.amount, placement.priority)

    def _note(self, place: Place, amount: float, priority: int) -> None:
        """Of several who want the same thing each has its own part kept, for the most urgent of them."""
        so_far, keep = self.kept.get(place, (0.0, None))
        priority = priority if keep is None else max(priority, keep.priority)
        keep = Keep(priority=priority, until=timezone.now() + UNTIL_NEXT)
        self.kept[place] = round(so_far + amount, DECIMALS), keep


def _wait_on(placement: Placement, now: datetime, cures: list[str], why: str) -> None:
    """For longer each time, but never for long."""
    waited = (placement.next_try_at - placement.tried_at) if placement.next_try_at and placement.tried_at else SOONEST
    Placement.objects.filter(pk=placement.pk).update(
        tried_at=now, next_try_at=now + min(waited * 2, LATEST), cures=cures, held_back=why
    )
