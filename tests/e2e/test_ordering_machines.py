"""A portal has three machines started by `make run`'s own processes, is told of it, and gives them back."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.e2e.installation import Installation, wait_for
from tests.e2e.running import made
from tests.outbound.peers import Peer
from tests.placement.receiving import received, receiver, signature_fits

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

ORDER = {
    "request_id": "order-8812",
    "region": "440000",
    "action": "provision",
    "machines": [{"count": 3, "cpu": 4, "bandwidth_mbps": 20, "name": "edge"}],
}


class Caller:
    """Somebody with a token."""

    def __init__(self, installation: Installation, who: str) -> None:
        self._address = f"http://127.0.0.1:{installation.environment['PORT']}/api/v1"
        credentials = json.loads((installation.var / "demo-credentials.json").read_text(encoding="utf-8"))
        self._token = credentials[who]["token"]

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._address}{path}", content, headers, method=method)
        with urlopen(request, timeout=10) as response:
            return response.status, json.load(response)


@pytest.fixture
def receiving() -> Iterator[Peer]:
    with receiver() as server:
        yield server


def pending(admin: Caller, idc: str) -> float:
    """What is taken of the IDC's lines and not yet measured."""
    _, state = admin("GET", f"/idcs/{idc}/state/")
    return float(sum(line["pending_mbps"] for line in state["lines"]))


def test_it_works(demo: Installation, receiving: Peer) -> None:
    with made(demo):
        admin, portal = Caller(demo, "admin"), Caller(demo, "portal")
        admin("PATCH", "/tenants/demo/", {"callback_hosts": ["127.0.0.1"]})
        _, made_secret = admin("POST", "/tenants/demo/callback_secret/")

        status, placed = portal("POST", "/schedule/", {**ORDER, "callback_url": receiving.url})
        address = f"/placements/{placed['id']}/"
        assert (status, placed["state"], len(placed["machines"])) == (202, "provisioning", 3)
        assert pending(admin, placed["idc"]) >= 60

        wait_for(lambda: portal("GET", address)[1]["state"] == "active", "three machines", seconds=60)
        _, active = portal("GET", address)
        assert [machine["name"] for machine in active["machines"]] == ["edge-1", "edge-2", "edge-3"]
        assert {machine["state"] for machine in active["machines"]} == {"active"}
        assert all(machine["addresses"] and machine["provider_id"] for machine in active["machines"])

        status, released = portal("POST", f"{address}release/")
        assert (status, released["state"]) == (200, "releasing")
        wait_for(lambda: portal("GET", address)[1]["state"] == "released", "the machines to go", seconds=60)
        states = ["reserved", "provisioning", "active", "releasing", "released"]
        assert [event["state"] for event in portal("GET", f"{address}events/")[1]["results"]] == states
        assert pending(admin, placed["idc"]) == 0

        wait_for(lambda: len(received(receiving)) >= 5, "the callbacks", seconds=60)
        messages = received(receiving)
        assert list(dict.fromkeys(message.state for message in messages)) == states
        assert all(signature_fits(message, made_secret["secret"]) for message in messages)
        assert "The ledger agrees" in demo.manage("ledger_audit")
