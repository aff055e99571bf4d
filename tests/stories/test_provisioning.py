"""A portal has machines started in an IDC, gives them back, and the IDC's capacity is free again."""

import json
from typing import Any

from tests.outbound.peers import Exchange, json_reply, peer
from tests.stories.fleet import new_fleet, new_provider
from tests.stories.product import Product, in_state, name, states

LIFE = ["reserved", "provisioning", "active", "releasing", "released"]


def test_the_demos_provider_starts_them(product: Product) -> None:
    fleet = new_fleet(product, providers=["edge-vm"])
    placed = fleet.provision(request_id="order-8812")
    assert (placed["state"], placed["idc"], len(placed["machines"])) == ("provisioning", fleet.idcs[0], 2)
    assert fleet.pending(fleet.other) == [100]

    active = in_state(fleet.first, placed, "active")
    assert [machine["name"] for machine in active["machines"]] == ["edge-1", "edge-2"]
    assert {machine["state"] for machine in active["machines"]} == {"active"}
    assert all(machine["addresses"] and machine["provider_id"] for machine in active["machines"])

    released = fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    assert released["state"] == "releasing"
    gone = in_state(fleet.first, placed, "released")
    assert {machine["state"] for machine in gone["machines"]} <= {"deleted"}
    assert states(fleet.other, placed) == LIFE
    assert fleet.pending(fleet.other) == [0]
    assert "The ledger agrees" in product.command("ledger_audit")


def test_a_reservation_is_provisioned_later(product: Product) -> None:
    fleet = new_fleet(product, providers=[new_provider(product)])
    reserved = fleet.reserve()
    begun = fleet.first.post(f"/placements/{reserved['id']}/provision/", status=202)
    assert (reserved["state"], begun["state"]) == ("reserved", "provisioning")
    assert in_state(fleet.first, reserved, "active")["idc"] == fleet.idcs[0]


def test_an_existing_system_starts_them(product: Product) -> None:
    """A provider of kind `webhook` has an existing system start and delete the machines, by signed messages."""
    secret = product.installation.var / "secrets" / name("webhook")
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("the system's secret", encoding="utf-8")
    with peer(System()) as system:
        own = new_provider(product, "webhook", config={"url": system.url}, secret_ref=f"file:{secret}")
        fleet = new_fleet(product, providers=[own])
        active = in_state(fleet.first, fleet.provision(), "active")
        assert [machine["addresses"] for machine in active["machines"]] == [["203.0.113.9"]] * 2
        assert {machine["provider_id"] for machine in active["machines"]} == {"vm-1", "vm-2"}
        fleet.first.post(f"/placements/{active['id']}/release/", status=200)
        in_state(fleet.first, active, "released")
        assert system.behave.machines == {}


class System:
    """An existing system that starts and deletes machines, as docs/provisioning.md describes it."""

    def __init__(self) -> None:
        self.machines: dict[str, dict[str, Any]] = {}

    def __call__(self, exchange: Exchange) -> None:
        message = json.loads(exchange.server.bodies[-1])
        data = message["data"]
        if message["type"] == "machine.create":
            machine_id = f"vm-{len(self.machines) + 1}"
            self.machines[machine_id] = {"id": machine_id, "token": data["token"], "state": "up"}
        if message["type"] == "machine.delete":
            self.machines.pop(data["id"], None)
        meant = [each for each in self.machines.values() if data.get("token", data.get("id")) in each.values()]
        json_reply({"machines": [{**each, "addresses": ["203.0.113.9"], "error": ""} for each in meant]})(exchange)
