"""Waiting orders: tried again when something has changed that may help, and else at growing intervals.

Orders of higher priority go first, then the older ones; tenants take turns (round robin). An order that still does not
fit blocks no other, until it has waited long: then capacity is kept for it in the IDC that lacks the least.

New orders of the same or a lower priority come after all waiting ones: capacity released in an IDC for which an order
waits is kept (see `release`) until a round has tried the waiting orders, and so is what a round keeps for orders that
have waited long. The ledger refuses kept capacity to all others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from operator import itemgetter
from time import monotonic
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from idcsched.feed.models import FeedEntry
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, NotFound
from idcsched.framework.explain import first_rejections
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.request import Request
from idcsched.framework.shortfall import idcs_awaited, nearest_claims
from idcsched.jobs.services import lease_give_up, lease_take
from idcsched.ledger.keeping import Keep, Place, kept_now, kept_settle
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, decide_request
from idcsched.scheduling.live import live
from idcsched.scheduling.services import with_pictures

from .choices import choices
from .events import placement_locked
from .lifecycle import State
from .models import Placement
from .orders import Take, order_of
from .quota import quota_check
from .reserving import awaits_set, reserve_waiting
from .view import Lookahead

__all__ = ["cures_of", "due", "in_turn", "lacks_of", "waiting_try"]

ALTERNATES = 5
SOONEST = timedelta(seconds=5)
LATEST = timedelta(seconds=60)
PATIENCE = timedelta(seconds=60)
"""The wait after which capacity is kept for an order, so that small orders do not starve it."""
LONGEST_KEPT = timedelta(hours=1)
"""How long capacity is kept for one order at most, so that it does not lie idle for ever."""
KEPT_FREE = 20
"""The number of orders for which capacity is kept at a time."""
UNTIL_NEXT = timedelta(seconds=30)
"""How long a round keeps capacity, unless the next round renews it."""
ROUND, LEASE = "waiting orders", timedelta(seconds=12)
"""One round runs at a time, under a lease; if its worker dies, another round may begin after that long."""
LATE_COMMIT = timedelta(seconds=5)
"""How much older than its commit an entry of the feed may be."""

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


def cures_of(made: MadeDecision) -> list[str]:
    """Return the kinds of change that may help: the cures of the rejections, or, where some IDC passed, more room."""
    decision = made.decision
    reasons = {number for number in first_rejections(decision).tolist() if number >= 0}
    cures = {cure for number in reasons for cure in decision.judgements[number].reason.cures}
    return sorted(cures | (ROOM if decision.scheduled or not cures else set()))


def lacks_of(made: MadeDecision) -> dict[str, Any] | None:
    """Return where the order lacks the least: the IDC, and the code and the detail of its rejection, as answered."""
    nearest = next(iter(made.scheduled.near_misses or ()), None)
    if nearest is None:
        return None
    answered = msgspec.json.encode({"idc": nearest.idc, "code": nearest.code, "detail": nearest.detail})
    lacks: dict[str, Any] = msgspec.json.decode(answered)
    return lacks


def waiting_try(*, now: datetime, at_most: int = 2000) -> int:
    """Run a round over the waiting orders that are due; return how many were placed. None while another round runs.

    All orders are tried on one picture, so that capacity released meanwhile goes to the first order of the next round,
    not to the one that happens to be tried then. Rounds don't overlap, as a second one would skip locked orders.
    """
    with _round_lease() as still_held:
        return _run_round(now, at_most, still_held) if still_held() else 0


def _run_round(now: datetime, at_most: int, still_held: Callable[[], bool]) -> int:
    kept_before = kept_now()
    ids = due(now=now)[:at_most]
    if ids:
        live.catch_up()
    current = _Round(now) if ids else None
    placed = sum(current.place(pk) for pk in ids if still_held()) if current else 0
    if still_held() and (kept_before or (current and current.kept)):
        kept_settle(seen=kept_before, wanted=current.kept if current else {})
    return placed


@contextmanager
def _round_lease() -> Iterator[Callable[[], bool]]:
    """Hold the round's lease; yield a function that renews it and returns whether it is still held."""
    holder, until = uuid4(), 0.0

    def still_held() -> bool:
        nonlocal until
        if monotonic() < until:
            return True
        held = lease_take(name=ROUND, holder=holder, now=timezone.now(), lasting=LEASE)
        until = monotonic() + LEASE.total_seconds() / 3 if held else 0.0
        return held

    try:
        yield still_held
    finally:
        lease_give_up(name=ROUND, holder=holder)


def due(*, now: datetime) -> list[UUID]:
    """Return the orders to try, in order; the first that have waited long are always among them."""
    changed = dict(FeedEntry.objects.filter(at__gte=now - LATEST * 2).values_list("topic").annotate(Max("at")))
    to_try, kept_for = [], 0
    for placement, created_at, tried_at, next_try_at, cures in in_turn(
        "created_at", "tried_at", "next_try_at", "cures", now=now
    ):
        patient = kept_for < KEPT_FREE and _keeps_capacity(created_at, now) and ROOM & set(cures)
        kept_for += bool(patient)
        if patient or next_try_at is None or next_try_at <= now or _may_help(changed, cures, tried_at, now):
            to_try.append(placement)
    return to_try


def in_turn(*fields: str, now: datetime) -> list[tuple[Any, ...]]:
    """Return the orders that wait, in the order in which they are tried: the key of each, and these fields.

    The higher priority comes first, then the older order; tenants of the same priority take turns.
    """
    waiting = Placement.objects.filter(state=State.WAITING, expires_at__gt=now)
    rows = waiting.order_by("-priority", "created_at", "id").values_list("priority", "tenant_id", "pk", *fields)
    turns: dict[tuple[int, int], int] = defaultdict(int)
    in_order = []
    for age, (priority, tenant, *row) in enumerate(rows):
        turns[priority, tenant] += 1
        in_order.append(((-priority, turns[priority, tenant], age), tuple(row)))
    return [row for _, row in sorted(in_order, key=itemgetter(0))]


def _keeps_capacity(since: datetime, now: datetime) -> bool:
    """Return whether capacity is kept for an order that has waited since then."""
    return PATIENCE <= now - since < PATIENCE + LONGEST_KEPT


def _may_help(changed: Mapping[str, datetime], cures: Iterable[str], tried_at: datetime | None, now: datetime) -> bool:
    if tried_at is None:
        return True
    topics = {TOPICS[cure] for cure in cures if cure in TOPICS}
    return any(changed[topic] > tried_at - LATE_COMMIT for topic in topics & changed.keys())


class _Round:
    """One round over the waiting orders, each decided after the earlier ones. `kept`: what is kept until the next."""

    def __init__(self, now: datetime) -> None:
        self._now, self._view, self._kept_free = now, Lookahead(waiting=True), 0
        self.kept: dict[Place, tuple[float, Keep]] = {}

    def place(self, placement_id: UUID) -> bool:
        """Try one order; return whether it was placed."""
        takes = with_pictures(lambda: self._try_order(placement_id))
        self._view.took(takes)
        return bool(takes)

    @transaction.atomic
    def _try_order(self, placement_id: UUID) -> list[Take]:
        try:
            placement = placement_locked(placement_id, skip_locked=True)
        except NotFound:  # another transaction has locked it
            return []
        now = max(self._now, timezone.now())  # the round may have begun long ago
        if placement.state != State.WAITING or placement.expires_at is None or placement.expires_at <= now:
            return []
        try:
            takes, cures, error_code = *self._take(placement), ""
        except IdcschedError as error:  # such as a broken profile or a used-up quota, which may be mended later
            takes, cures, error_code = [], placement.cures, error.code
        if not takes:
            _wait_on(placement, self._now, cures, error_code)
        return takes

    def _take(self, placement: Placement) -> tuple[list[Take], list[str]]:
        """Decide and take; return what was taken, else the kinds of change that may help."""
        request, tenant = convert(placement.request, Request), placement.tenant.code
        made = decide_request(
            request=request,
            tenant=tenant,
            actor=placement.actor,
            http_request_id=str(placement.pk),
            picture=self._view.picture,
        )
        order = order_of(request, tenant=tenant, actor=placement.actor, action=placement.action)
        for takes in choices(order, made, at_most=ALTERNATES):
            try:
                reserve_waiting(placement, takes)
            except IntegrityError as error:
                if not oversold(error):
                    raise
                placement.refresh_from_db()
            else:
                return takes, []
        quota_check(order.tenant, order.use)
        awaits_set(placement, idcs_awaited(made.decision))
        placement.lacks = lacks_of(made)
        self._keep_free(placement, made)
        return [], cures_of(made)

    def _keep_free(self, placement: Placement, made: MadeDecision) -> None:
        """Keep capacity for an order that has waited long, so that small orders do not take it piece by piece."""
        if (
            made.solution.scheduled
            or self._kept_free == KEPT_FREE
            or not _keeps_capacity(placement.created_at, self._now)
        ):
            return
        if (needed := nearest_claims(made.decision)) is not None:
            self._view.keep_free(needed)
            self._kept_free += 1
            for claim in needed.claims:
                self._note((needed.idc, claim.line, claim.resource), claim.amount, placement.priority)

    def _note(self, place: Place, amount: float, priority: int) -> None:
        """Add an amount to what is kept of one place; the keep has the highest priority of its orders."""
        kept_so_far, keep = self.kept.get(place, (0.0, None))
        priority = priority if keep is None else max(priority, keep.priority)
        keep = Keep(priority=priority, until=timezone.now() + UNTIL_NEXT)
        self.kept[place] = round(kept_so_far + amount, DECIMALS), keep


def _wait_on(placement: Placement, now: datetime, cures: list[str], error_code: str) -> None:
    """Note when the order is tried again: after a pause that doubles, up to `LATEST`."""
    waited = (placement.next_try_at - placement.tried_at) if placement.next_try_at and placement.tried_at else SOONEST
    Placement.objects.filter(pk=placement.pk).update(
        tried_at=now,
        next_try_at=now + min(waited * 2, LATEST),
        cures=cures,
        lacks=placement.lacks,
        held_back=error_code,
    )
