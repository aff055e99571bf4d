"""What a placement's callback address is to be told: written with each event, in its transaction."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError as BrokerAway

from idcsched.accounts.models import Tenant
from idcsched.framework.answer import LineUse
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.outbound.hosts import AllowedHosts
from idcsched.scheduling.schedule import callback_url_check

from .lifecycle import Move
from .models import Delivery, Event, Placement

__all__ = [
    "CallbackDocument",
    "announce",
    "announced",
    "callback_host_check",
    "callbacks_of",
    "may_be_called",
]

logger = logging.getLogger(__name__)

KINDS: Mapping[str, str] = {Move.LOST: "placement.machines_lost", Move.FOUND: "placement.machines_found"}
"""What is told of moves that leave the state as it is."""
MESSAGE_SECONDS = 60
"""A message that no worker has taken by then is dropped: the sweep has sent others."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The placement as the event left it."""

    id: str
    request_id: str | None
    tenant: str
    state: str
    version: int
    move: str
    idc: str | None
    lines: list[LineUse]
    group_id: str | None
    expires_at: datetime | None
    needs_attention: bool
    decision_id: str


class CallbackDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a callback, in the form of Standard Webhooks."""

    type: str
    timestamp: datetime
    data: Told


def callbacks_of(events: Sequence[Event]) -> list[Delivery]:
    """A row for each of the events, to be written with it; none where nobody wants to be told."""
    return [_delivery(event.placement, event) for event in events if event.placement.callback_url]


def announced(placement: Placement) -> None:
    """Once the transaction is through, send for a worker."""
    if placement.callback_url:
        transaction.on_commit(lambda: announce(placement.pk))


def announce(placement_id: UUID) -> None:
    """A hint to the workers; without it the sweep finds what is to be sent."""
    task, wanted = "idcsched.placement.tasks.placement_deliver", [str(placement_id)]
    try:
        current_app.send_task(task, wanted, retry=False, expires=MESSAGE_SECONDS)
    except (BrokerAway, OSError) as error:
        logger.warning("the broker is away, callbacks of %s wait for the sweep: %s", placement_id, error)


def callback_host_check(url: str | None, tenant: Tenant) -> None:
    """Raises Invalid for what is no address, and where the tenant does not list the host."""
    if url is None:
        return
    callback_url_check(url)
    if not may_be_called(url, tenant):
        raise Invalid(
            "callback_host_not_allowed",
            _("the tenant {tenant} does not list {host} among its callback hosts"),
            "/callback_url",
            tenant=tenant.code,
            host=urlsplit(url).hostname or "",
        )


def may_be_called(url: str, tenant: Tenant) -> bool:
    """Whether the tenant lists the host itself, wherever its name may lead."""
    return AllowedHosts.of(tenant.callback_hosts).lists(urlsplit(url).hostname or "")


def _delivery(placement: Placement, event: Event) -> Delivery:
    kind = KINDS.get(event.move, f"placement.{event.state}")
    document = CallbackDocument(type=kind, timestamp=event.at, data=_told(placement, event))
    return Delivery(
        placement=placement,
        version=event.version,
        kind=kind,
        url=placement.callback_url,
        payload=msgspec.json.encode(document).decode("utf-8"),
    )


def _told(placement: Placement, event: Event) -> Told:
    return Told(
        id=str(placement.pk),
        request_id=placement.request_id or None,
        tenant=placement.tenant.code,
        state=event.state,
        version=event.version,
        move=event.move,
        idc=placement.idc.code if placement.idc else None,
        lines=[LineUse(**line) for line in placement.lines],
        group_id=str(placement.group_id) if placement.group_id else None,
        expires_at=placement.expires_at,
        needs_attention=placement.needs_attention,
        decision_id=str(placement.decision_id),
    )
