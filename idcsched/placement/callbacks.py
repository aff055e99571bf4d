"""Callbacks to a placement's address: each is written with its event, in the same transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from django.db import transaction

from idcsched.accounts.models import Tenant
from idcsched.framework.answer import Bill, LineUse
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.jobs.announcing import announce
from idcsched.outbound.hosts import AllowedHosts
from idcsched.scheduling.deciding import callback_url_check

from .documents import placement_bill
from .lifecycle import Move
from .models import Delivery, Event, Placement

__all__ = [
    "CallbackDocument",
    "announce_now",
    "announce_on_commit",
    "callback_host_check",
    "callbacks_of",
    "may_be_called",
]

KINDS: Mapping[str, str] = {Move.LOST: "placement.machines_lost", Move.FOUND: "placement.machines_found"}
"""The callback types of moves that do not change the state."""
MESSAGE_SECONDS = 60
"""A message that no worker has taken by then is dropped, as the sweep sends another."""


class CallbackData(msgspec.Struct, frozen=True, kw_only=True):
    """The placement right after the event; `bill` as it was decided."""

    id: str
    request_id: str | None
    tenant: str
    state: str
    version: int
    move: str
    idc: str | None
    lines: list[LineUse]
    bill: Bill | None
    group_id: str | None
    expires_at: datetime | None
    needs_attention: bool
    decision_id: str
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET


class CallbackDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a callback, in the form of Standard Webhooks."""

    type: str
    timestamp: datetime
    data: CallbackData


def callbacks_of(events: Sequence[Event]) -> list[Delivery]:
    """Return the unsaved deliveries of the events; a placement without a callback address has none."""
    return [_delivery(event.placement, event) for event in events if event.placement.callback_url]


def announce_on_commit(placement: Placement) -> None:
    """Announce the placement's callbacks to the workers once the transaction is committed."""
    if placement.callback_url:
        transaction.on_commit(lambda: announce_now(placement.pk))


def announce_now(placement_id: UUID) -> None:
    """Announce the placement's callbacks to the workers."""
    announce("idcsched.placement.tasks.placement_deliver", str(placement_id), expires=MESSAGE_SECONDS)


def callback_host_check(url: str | None, tenant: Tenant | None) -> None:
    """Raise Invalid unless the URL is valid and the tenant, if there is one, lists its host."""
    if url is None:
        return
    callback_url_check(url)
    if tenant is not None and not may_be_called(url, tenant):
        raise Invalid(
            "callback_host_not_allowed",
            _("the tenant {tenant} does not list {host} among its callback hosts"),
            "/callback_url",
            tenant=tenant.code,
            host=urlsplit(url).hostname or "",
        )


def may_be_called(url: str, tenant: Tenant) -> bool:
    """Return whether the tenant lists the URL's host; the name is not resolved."""
    return AllowedHosts.of(tenant.callback_hosts).lists(urlsplit(url).hostname or "")


def _delivery(placement: Placement, event: Event) -> Delivery:
    kind = KINDS.get(event.move, f"placement.{event.state}")
    document = CallbackDocument(type=kind, timestamp=event.at, data=_callback_data(placement, event))
    return Delivery(
        placement=placement,
        version=event.version,
        kind=kind,
        url=placement.callback_url,
        host=urlsplit(placement.callback_url).hostname or "",
        payload=msgspec.json.encode(document).decode("utf-8"),
    )


def _callback_data(placement: Placement, event: Event) -> CallbackData:
    return CallbackData(
        id=str(placement.pk),
        request_id=placement.request_id or None,
        tenant=placement.tenant.code,
        state=event.state,
        version=event.version,
        move=event.move,
        idc=placement.idc.code if placement.idc else None,
        lines=[LineUse(**line) for line in placement.lines],
        **placement_bill(placement),
        group_id=str(placement.group_id) if placement.group_id else None,
        expires_at=placement.expires_at,
        needs_attention=placement.needs_attention,
        decision_id=str(placement.decision_id),
    )
