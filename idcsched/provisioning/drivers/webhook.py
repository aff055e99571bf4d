"""`webhook`: an existing provisioning system, which gets signed messages to create, find and delete machines."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import uuid4

import msgspec
from django.utils import timezone

from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import origin_of
from idcsched.outbound.errors import BadReply, HostRefused
from idcsched.placement.signing import secret_bytes, signed_headers
from idcsched.provisioning.driver import Call, Condition, Config, Driver, Existing, NotHere, Wanted

__all__ = ["Webhook"]

REFUSED_FOR_GOOD = 422


class WebhookConfig(Config, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the messages are sent. The secret signs them; it may be written as `whsec_` and base64."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]


class ReportedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as the system reports it; other fields are ignored."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    state: Literal["starting", "up", "broken", "going"]
    addresses: tuple[str, ...] = ()
    error: str = ""


class Machines(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to every message: the machines that the message is about, as they are now."""

    machines: tuple[ReportedMachine, ...]


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    detail: str = ""


class Webhook(Driver):
    """Has your own system start machines, by signed messages (Standard Webhooks) to one address."""

    kind = "webhook"
    Config = WebhookConfig
    config: WebhookConfig

    def check(self) -> Sequence[FieldError]:
        try:
            origin_of(self.config.url)
        except HostRefused as error:
            return [FieldError("/url", "invalid_url", error.template, error.params)]
        return []

    def create(self, call: Call, wanted: Wanted) -> Existing:
        machines = self._send(call, "machine.create", msgspec.to_builtins(_order(wanted)), wanted.idempotency_key)
        if not machines:
            raise BadReply("bad_reply", _("the provider did not say what it has created"))
        return machines[0]

    def find(self, call: Call, token: str) -> Sequence[Existing]:
        return self._send(call, "machine.find", {"token": token})

    def get(self, call: Call, machine_id: str) -> Existing | None:
        machines = self._send(call, "machine.get", {"id": machine_id})
        return next((machine for machine in machines if machine.id == machine_id), None)

    def delete(self, call: Call, machine_id: str) -> None:
        self._send(call, "machine.delete", {"id": machine_id})

    def _send(self, call: Call, kind: str, data: dict[str, Any], message_id: str = "") -> list[Existing]:
        if call.secret is None:
            raise Unavailable("secret_missing", _("this provider needs a secret_ref"))
        now = timezone.now()
        content = msgspec.json.encode(Message(type=kind, timestamp=now, data={**data, "provider": call.provider}))
        headers = signed_headers(message_id or uuid4().hex, now, content, [secret_bytes(call.secret)])
        reply = call.fetch(self.config.url, method="POST", headers=headers, content=content, also=(REFUSED_FOR_GOOD,))
        if reply.status == REFUSED_FOR_GOOD:
            raise NotHere("provider_refused", _("the provider refused: {reason}"), reason=_detail(reply.content))
        try:
            reported = decoder_of(Machines).decode(reply.content).machines
        except msgspec.MsgspecError as error:
            raise BadReply("bad_reply", _("the provider's reply can't be read: {reason}"), reason=error) from None
        return [
            Existing(
                id=machine.id, condition=Condition(machine.state), addresses=machine.addresses, error=machine.error
            )
            for machine in reported
        ]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: dict[str, Any]


def _order(wanted: Wanted) -> dict[str, Any]:
    return {
        "token": wanted.token,
        "name": wanted.name,
        "idc": wanted.idc,
        "region": wanted.region,
        "tenant": wanted.tenant,
        "placement": wanted.placement,
        "shape": dict(wanted.shape),
    }


def _detail(content: bytes) -> str:
    try:
        return decoder_of(Refusal).decode(content).detail[:500]
    except msgspec.MsgspecError:
        return "it does not say why"
