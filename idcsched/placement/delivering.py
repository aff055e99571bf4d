"""Delivery of callbacks: at least once, in order for one placement, until they are received or a day is over.

A worker claims the row of the oldest pending callback for a limited time, sends the callback outside of any
transaction, and writes the outcome to the row. If the worker dies in between, the claim runs out and another worker
sends the message again under the same id.

A few workers at a time send to one host, by leases, and go on with what else is due there; so a slow receiver delays
its own callbacks and hardly those of others.
"""

import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from idcsched.accounts.callback_secrets import secrets_in_force
from idcsched.audit.services import change_record
from idcsched.framework.errors import NotFound
from idcsched.framework.messages import _
from idcsched.jobs.claims import claim, claim_end, unclaimed
from idcsched.jobs.services import lease_give_up, lease_take
from idcsched.outbound.client import Request, shared_client
from idcsched.outbound.errors import HostRefused, OutboundError

from .callbacks import announce_now, may_be_called
from .models import Delivery, DeliveryState, Placement
from .signing import signed_headers

__all__ = ["KEPT", "callbacks_announce", "deliveries_prune", "delivery_resend", "placement_deliver"]

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10.0
LONGEST_NAME = 100
CLAIM = timedelta(seconds=60)
"""The duration of a claim: longer than a try may take."""
SOONEST, LATEST = timedelta(seconds=5), timedelta(hours=1)
JITTER = 0.25
LONGEST = timedelta(days=1)
KEPT = timedelta(days=30)
"""How long callbacks are kept, to be looked up or sent again."""
AT_A_TIME = 2
"""How many callbacks are on their way to one host at a time."""
TURN = timedelta(seconds=10)
"""How long a worker goes on with one host before it takes the next message."""


def placement_deliver(*, placement_id: UUID) -> int:
    """Send what is due of the placement, then of others at the same host; return how many callbacks arrived.

    Workers may run it at once. Those who find enough others at the host leave all to these.
    """
    host = urlsplit(Placement.objects.values_list("callback_url", flat=True).get(pk=placement_id)).hostname or ""
    due: UUID | None = placement_id
    delivered, until = 0, timezone.now() + TURN
    while due is not None and timezone.now() < until:
        with _at_host(host) as may_send:
            if not may_send:
                return delivered
            delivered += _deliver_oldest(due)
        due = _due_at(timezone.now()).filter(host=host).values_list("placement", flat=True).first()
    if due is not None:
        announce_now(due)
    return delivered


def callbacks_announce(*, now: datetime, at_most: int = 500) -> int:
    """Announce placements with a due callback, as many of each host as are sent at a time; return how many."""
    number = Window(RowNumber(), partition_by="host", order_by="next_try_at")
    first = _due_at(now).annotate(number=number).filter(number__lte=AT_A_TIME)
    placements = list(first.values_list("placement", flat=True)[:at_most])
    for placement_id in placements:
        announce_now(placement_id)
    return len(placements)


@transaction.atomic
def delivery_resend(*, delivery: Delivery) -> Delivery:
    """Send a callback again, whether it was received or not, and retry for another day; raises NotFound."""
    now = timezone.now()
    rows = Delivery.objects.filter(pk=delivery.pk)
    before = rows.select_for_update(of=("self",)).values("state", "queued_at").first()
    if before is None:
        raise NotFound("not_found", _("there is no callback {id}"), id=str(delivery.pk))
    rows.update(state=DeliveryState.PENDING, queued_at=now, next_try_at=now)
    after = {"state": DeliveryState.PENDING.value, "queued_at": now}
    change_record(kind="callback", key=str(delivery.pk), before=before, after=after)
    transaction.on_commit(lambda: announce_now(delivery.placement_id))
    return rows.select_related("placement__tenant").get()


def deliveries_prune(*, now: datetime, batch: int = 1000) -> int:
    """Delete callbacks that were received or given up long ago, batch by batch; return how many."""
    ended = Delivery.objects.filter(created_at__lt=now - KEPT, queued_at__lt=now - KEPT)
    ended, deleted = ended.exclude(state=DeliveryState.PENDING).order_by(), 0
    while ids := list(ended.values_list("pk", flat=True)[:batch]):
        deleted += Delivery.objects.filter(pk__in=ids).exclude(state=DeliveryState.PENDING).delete()[0]
    return deleted


def _due(now: datetime) -> Q:
    return unclaimed(now) & Q(state=DeliveryState.PENDING, next_try_at__lte=now)


def _due_at(now: datetime) -> QuerySet[Delivery]:
    """Return the callbacks to be sent now, longest due first: of each placement the oldest pending one, if due."""
    earlier = Delivery.objects.filter(
        placement=OuterRef("placement"), state=DeliveryState.PENDING, version__lt=OuterRef("version")
    )
    return Delivery.objects.filter(_due(now), ~Exists(earlier)).order_by("next_try_at")


@contextmanager
def _at_host(host: str) -> Iterator[bool]:
    """Yield whether one more callback may be sent to the host during the block."""
    holder, now = uuid4(), timezone.now()
    names = (f"callback {number} to {host}"[:LONGEST_NAME] for number in range(AT_A_TIME))
    name = next((name for name in names if lease_take(name=name, holder=holder, now=now, lasting=CLAIM)), None)
    try:
        yield name is not None
    finally:
        if name is not None:
            lease_give_up(name=name, holder=holder)


def _claimed(placement_id: UUID) -> Delivery | None:
    """Claim the oldest pending callback, if it is due."""
    now = timezone.now()
    waiting = Delivery.objects.filter(placement=placement_id, state=DeliveryState.PENDING)
    oldest = waiting.order_by("version").values("pk")[:1]
    due = Delivery.objects.filter(_due(now), pk__in=oldest)
    had = claim(due, until=now + CLAIM, tries=F("tries") + 1, tried_at=now)
    return had.select_related("placement__tenant").first()


def _deliver_oldest(placement_id: UUID) -> bool:
    """Send the placement's oldest pending callback, if it is due; return whether it arrived."""
    delivery = _claimed(placement_id)
    if delivery is None:
        return False
    try:
        _send(delivery)
    except Exception as error:
        _failed(delivery, str(error) or type(error).__name__)
        if not isinstance(error, OutboundError):
            raise
        return False
    claim_end(delivery, state=DeliveryState.DELIVERED, delivered_at=timezone.now(), error="")
    return True


def _send(delivery: Delivery) -> None:
    """Send the callback once; raises an OutboundError."""
    tenant, now, content = delivery.placement.tenant, timezone.now(), delivery.payload.encode("utf-8")
    if not may_be_called(delivery.url, tenant):
        host = urlsplit(delivery.url).hostname
        raise HostRefused("host_refused", _("{host} is not among the tenant's callback hosts"), host=host)
    headers = signed_headers(str(delivery.pk), now, content, secrets_in_force(tenant, now))
    request = Request(
        url=delivery.url, method="POST", headers=headers, content=content, packed=False, wants_content=False
    )
    client = shared_client(tuple(tenant.callback_hosts), listed_in="callback_hosts")
    client.fetch(request, timeout=TIMEOUT_SECONDS)


def _failed(delivery: Delivery, error: str) -> None:
    now, until = timezone.now(), delivery.queued_at + LONGEST
    if now < until:
        claim_end(delivery, error=error, next_try_at=min(now + _pause(now - delivery.queued_at), until))
        return
    logger.warning("callback %s of placement %s is given up: %s", delivery.pk, delivery.placement_id, error)
    claim_end(delivery, error=error, state=DeliveryState.GIVEN_UP)


def _pause(tried_for: timedelta) -> timedelta:
    """Return as long as the callback has been tried already, so that pauses double, with jitter."""
    spread = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - jitter needs no secure randomness
    return min(max(tried_for, SOONEST), LATEST) * spread
