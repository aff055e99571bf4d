"""The driver for an existing system: signed orders to it, its replies, and its own messages that something has
happened.
"""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.errors import Invalid, NotFound, Unavailable
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.outbound.errors import BadReply, ServerFailed
from idcsched.placement.models import Machine, Placement
from idcsched.placement.signing import secret_bytes, signature_fits, signed_headers
from idcsched.provisioning.driver import Call, NotHere
from idcsched.provisioning.driver_testing import check_driver, wanted
from idcsched.provisioning.drivers.webhook import Webhook, WebhookConfig
from idcsched.provisioning.services import machine_changed, provider_create
from tests.outbound.peers import Exchange, Peer, json_reply, loopback_allowed, peer, raw_reply
from tests.provisioning.starting import work, work_once

SECRET = "whsec_c2VjcmV0IG9mIHRoZSBoYWxs"


class LifeCycle:
    """A small system that keeps machines, and refuses messages without a valid signature."""

    def __init__(self) -> None:
        self.machines: dict[str, dict[str, Any]] = {}
        self.created: dict[str, str] = {}

    def __call__(self, exchange: Exchange) -> None:
        body = exchange.server.bodies[-1]
        headers = {name.lower(): value for name, value in exchange.server.seen_headers[-1].items()}
        if not signature_fits(headers, body, secret_bytes(SECRET), timezone.now()):
            raw_reply(b"", 401)(exchange)
            return
        message = json.loads(body)
        found = getattr(self, message["type"].partition(".")[2])(message["data"], headers["webhook-id"])
        json_reply({"machines": found})(exchange)

    def create(self, data: Any, message_id: str) -> list[Any]:
        if message_id not in self.created:
            machine_id = self.created[message_id] = f"vm-{len(self.machines) + 1}"
            self.machines[machine_id] = {"id": machine_id, "state": "up", "addresses": ["10.0.0.1"], "of": data}
        return [self.machines[self.created[message_id]]]

    def find(self, data: Any, message_id: str) -> list[Any]:
        return [each for each in self.machines.values() if each["of"]["token"] == data["token"]]

    def get(self, data: Any, message_id: str) -> list[Any]:
        return [self.machines[data["id"]]] if data["id"] in self.machines else []

    def delete(self, data: Any, message_id: str) -> list[Any]:
        self.machines.pop(data["id"], None)
        return []


@pytest.fixture
def system(settings: Any) -> Iterator[Peer]:
    with loopback_allowed(settings), peer(LifeCycle()) as server:
        yield server


def driver(server: Peer) -> Webhook:
    return Webhook(WebhookConfig(url=server.url))


def call(secret: str | None = SECRET) -> Call:
    return Call(provider="own", now=timezone.now(), timeout=60, secret=secret)


def test_it_works(system: Peer) -> None:
    check_driver(driver(system), call)


def test_the_same_order_again_is_the_same_message(system: Peer) -> None:
    """The same order twice has the same message id, by which the system can see that it is one machine."""
    order = wanted(name="edge-1", shape={"cpu": 2.0})
    first, again = (driver(system).create(call(), order) for _ in range(2))
    assert first == again
    (machine,) = system.behave.machines.values()
    assert machine["of"].items() >= {"token": order.token, "name": "edge-1", "idc": "a", "provider": "own"}.items()


def test_without_the_secret_nothing_is_asked(system: Peer) -> None:
    with pytest.raises(Unavailable) as refusal:
        driver(system).find(call(secret=None), "x")
    assert refusal.value.code == "secret_missing"
    assert system.bodies == []


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (raw_reply(b'{"detail": "no such image"}', 422), NotHere),
        (raw_reply(b"", 422), NotHere),
        (raw_reply(b"", 503), ServerFailed),
        (raw_reply(b"", 401), Unavailable),
        (raw_reply(b"<html>", 200), BadReply),
        (json_reply({"machines": []}), BadReply),
        (json_reply({"machines": [{"id": "", "state": "up"}]}), BadReply),
        (json_reply({"machines": [{"id": "a", "state": "fine"}]}), BadReply),
    ],
)
def test_a_reply_that_is_no_yes(settings: Any, reply: Any, error: type[Exception]) -> None:
    with loopback_allowed(settings), peer(reply) as server, pytest.raises(error):
        driver(server).create(call(), wanted())


def test_no_list_at_all_is_no_empty_one(settings: Any) -> None:
    with loopback_allowed(settings), peer(json_reply({})) as server, pytest.raises(BadReply):
        driver(server).find(call(), "x")


@pytest.mark.parametrize("url", ["ftp://a/", "http://a:b@c/", "x"])
def test_an_address_that_cannot_be_called(url: str) -> None:
    assert [error.code for error in Webhook(WebhookConfig(url=url)).check()] == ["invalid_url"]


@pytest.fixture
def placement(order: Callable[..., Placement], system: Peer, monkeypatch: pytest.MonkeyPatch) -> Placement:
    monkeypatch.setenv("PROVIDER_OWN", SECRET)
    provider_create(code="own", kind="webhook", config={"url": system.url}, secret_ref="env:PROVIDER_OWN")
    idc_update(idc=Idc.objects.get(code="a"), changes={"provider": "own"})
    return order(action="provision", only=["a"], region=None)


def told(machine: Machine, *, provider: str = "own", secret: str = SECRET, minutes: int = 0, token: str = "") -> bool:
    content = json.dumps({"type": "machine.up", "data": {"token": token or str(machine.pk)}}).encode()
    headers = signed_headers("m-1", timezone.now() - timedelta(minutes=minutes), content, [secret_bytes(secret)])
    return machine_changed(provider=provider, headers=headers, content=content)


def test_machines_are_started_and_removed_by_it(placement: Placement, system: Peer) -> None:
    work()
    placement.refresh_from_db()
    assert placement.state == "active"
    assert len(system.behave.machines) == 3


def test_its_word_brings_a_machine_its_turn(placement: Placement, system: Peer) -> None:
    work_once()
    machine = Machine.objects.earliest("number")
    later = timezone.now() + timedelta(hours=1)
    Machine.objects.update(next_try_at=later)
    assert told(machine)
    machine.refresh_from_db()
    assert machine.next_try_at <= timezone.now()


def test_what_it_says_twice_or_late_does_no_harm(placement: Placement) -> None:
    work()
    machine = Machine.objects.earliest("number")
    assert [told(machine), told(machine)] == [True, True]
    Machine.objects.update(next_try_at=None)
    assert told(machine) is False
    placement.refresh_from_db()
    assert placement.state == "active"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"secret": "whsec_b3RoZXI="}, Invalid),
        ({"minutes": 6}, Invalid),
        ({"minutes": -6}, Invalid),
        ({"provider": "nobody"}, Invalid),
        ({"token": "00000000-0000-0000-0000-000000000000"}, NotFound),
        ({"token": "x"}, Invalid),
    ],
)
def test_what_it_did_not_say_is_not_heard(placement: Placement, given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        told(Machine.objects.earliest("number"), **given)
