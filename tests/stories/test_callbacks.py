"""A portal is called back for every change of a placement, in order and signed; a callback that fails is sent again."""

from collections.abc import Iterator

import pytest

from tests.outbound.peers import Peer, in_turn, peer, raw_reply
from tests.placement.receiving import FINE, received, signature_fits
from tests.stories.fleet import Fleet, new_fleet, new_provider
from tests.stories.product import Product, in_state, until

LIFE = ["reserved", "provisioning", "active", "releasing", "released"]


@pytest.fixture
def receiver() -> Iterator[Peer]:
    with peer(FINE) as server:
        yield server


@pytest.fixture
def fleet(product: Product) -> Fleet:
    """A fleet whose tenant may be called back on this machine."""
    return new_fleet(product, providers=[new_provider(product)], tenant={"callback_hosts": ["127.0.0.1"]})


@pytest.fixture
def secret(fleet: Fleet) -> str:
    """What the tenant's callbacks are signed with."""
    return str(fleet.admin.post(f"/tenants/{fleet.tenant}/callback_secret/", status=201)["secret"])


def test_every_change_arrives_in_order_and_signed(fleet: Fleet, secret: str, receiver: Peer) -> None:
    placed = fleet.provision(request_id="order-8812", callback_url=receiver.url)
    in_state(fleet.first, placed, "active")
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    in_state(fleet.first, placed, "released")

    until(lambda: len(received(receiver)) >= len(LIFE), "a callback for each change", seconds=60)
    messages = received(receiver)
    assert [message.state for message in messages] == LIFE
    assert [message.version for message in messages] == [1, 2, 3, 4, 5]
    assert [message.document["type"] for message in messages] == [f"placement.{state}" for state in LIFE]
    assert all(signature_fits(message, secret) for message in messages)
    assert {message.document["data"]["request_id"] for message in messages} == {"order-8812"}

    def delivered() -> bool:
        shown = fleet.first.get(f"/deliveries/?placement={placed['id']}")["results"]
        return {(each["state"], each["tries"]) for each in shown} == {("delivered", 1)}

    until(delivered, "each to be noted as delivered at once", seconds=60)


def test_who_fails_first_gets_the_callback_again(fleet: Fleet, secret: str, receiver: Peer) -> None:
    receiver.behave = in_turn(raw_reply(b"", 503), FINE)
    placed = fleet.reserve(callback_url=receiver.url)
    fleet.first.post(f"/placements/{placed['id']}/confirm/", status=200)

    until(lambda: len(received(receiver)) >= 3, "the callback again, and the next one", seconds=60)
    failed, again, later = received(receiver)
    assert [each.state for each in (failed, again, later)] == ["reserved", "reserved", "active"]
    assert (failed.id, failed.body) == (again.id, again.body)
    assert all(signature_fits(each, secret) for each in (failed, again, later))
    (first,) = fleet.first.get(f"/deliveries/?placement={placed['id']}&type=placement.reserved")["results"]
    assert (first["state"], first["tries"]) == ("delivered", 2)
