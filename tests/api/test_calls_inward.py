"""With `OUTBOUND_HOSTS` as it is by default, nobody makes the server call its own machine or network (SSRF)."""

from collections.abc import Callable, Iterator, Mapping
from json import dumps, loads
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.errors import IdcschedError
from idcsched.outbound.client import clients_forget
from idcsched.placement.models import Delivery
from idcsched.placement.services import placement_deliver
from idcsched.provisioning.providers import driver_and_call
from tests.api.conftest import Api
from tests.api.test_secret_recipients import KINDS, PROVIDERS, provider, source
from tests.outbound.peers import Peer, json_reply, loopback_allowed, peer, redirect

SAVED, REFUSED = (200, 201), 400
INSIDE = [
    "127.0.0.1",
    "127.0.0.1.",
    "localhost",
    "LOCALHOST",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",
    "１２７.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
]
"""Ways to write this machine's address."""
CALLS_NOBODY = {"simulated"}

Door = Callable[[Api, Peer, str], None]
"""Makes a row that names the host, and has the server act upon it; either may be refused."""


def asked_source(kind: str) -> Door:
    def act(admin: Api, server: Peer, host: str) -> None:
        document = source(kind, server, host)
        del document["secret_ref"]
        if saved(admin, "sources", document):
            assert admin.post("/sources/s/test/", {}, status=200)["error"]
            admin.call("DELETE", "/sources/s/", status=204)

    return act


def asked_provider(kind: str) -> Door:
    def act(admin: Api, server: Peer, host: str) -> None:
        if saved(admin, "providers", provider(kind, server, host)):
            driver, call = driver_and_call("p", now=timezone.now())
            with pytest.raises((IdcschedError, ValueError)):  # Libcloud reads no IPv6 address
                driver.find(call, "token")
            admin.call("DELETE", "/providers/p/", status=204)

    return act


def asked_extender(admin: Api, server: Peer, host: str) -> None:
    judge = {"name": "judge", "plugin": "extender", "args": {"url": address(server, host), "timeout_seconds": 10}}
    if saved(admin, "profiles", {"code": "judged", "plugins": [judge]}):
        admin.refused("POST", "/schedule/", {"region": "A", "profile": "judged"}, status=503)
        admin.call("DELETE", "/profiles/judged/", status=204)


def called_back(admin: Api, server: Peer, host: str) -> None:
    """Order with a callback to the host.

    If the order is accepted, the delivery must fail. The tenant's list has names only, because an address in the list
    would be a permission to call it.
    """
    order = {"region": "A", "profile": "seed-example", "action": "reserve", "tenant": "live-cn"}
    placed = admin.raw("POST", "/schedule/", dumps({**order, "callback_url": address(server, host)}))
    if placed.status_code != REFUSED:
        placement = loads(placed.content)["id"]
        assert placement_deliver(placement_id=placement) == 0
        assert Delivery.objects.get(placement=placement).error


DOORS: Mapping[str, Door] = {
    **{f"source {kind}": asked_source(kind) for kind in KINDS},
    **{f"provider {kind}": asked_provider(kind) for kind in PROVIDERS},
    "extender": asked_extender,
    "callback": called_back,
}


def saved(admin: Api, resource: str, document: dict[str, Any]) -> bool:
    status = admin.raw("POST", f"/{resource}/", dumps(document)).status_code
    assert status in (*SAVED, REFUSED)
    return status in SAVED


@pytest.fixture
def inside(seed: Api, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    """A server on this machine that `OUTBOUND_HOSTS` alone protects: the secrets and the tenant's list allow calls to
    it.
    """
    monkeypatch.setenv("PROVIDER_EDGE", "hunter2")
    settings.PROVIDER_SECRETS = ["env:PROVIDER_EDGE@*", *(f"env:PROVIDER_EDGE@{host.strip('[]')}" for host in INSIDE)]
    seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["localhost"]}, status=200)
    with peer(json_reply([])) as server:
        yield server
    clients_forget()


def test_it_works(seed: Api) -> None:
    """Each kind of source and of provider is tried here."""
    assert {each["kind"] for each in seed.get("/collectors/")["results"]} == set(KINDS)
    assert {each["kind"] for each in seed.get("/provider_kinds/")["results"]} == set(PROVIDERS) | CALLS_NOBODY


@pytest.mark.parametrize("door", DOORS)
def test_nothing_inside_is_called(seed: Api, inside: Peer, settings: Any, door: str) -> None:
    assert settings.OUTBOUND_HOSTS == ["*"]
    for host in INSIDE:
        DOORS[door](seed, inside, host)
        assert inside.connections == 0, host


@pytest.mark.parametrize("door", sorted(set(DOORS) - {"source sql"}))
def test_nor_by_way_of_somebody_outside(seed: Api, inside: Peer, settings: Any, door: str) -> None:
    """A server outside that redirects to one inside is called, and its redirect is not followed."""
    with loopback_allowed(settings), peer(redirect(inside.url)) as outside:
        seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["127.0.0.1"]}, status=200)
        DOORS[door](seed, outside, "127.0.0.1")
        assert (outside.connections, inside.connections) == (1, 0)


def address(server: Peer, host: str) -> str:
    return f"http://{host}:{server.server_address[1]}/"
