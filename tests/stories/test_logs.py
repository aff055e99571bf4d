"""One request is followed through the logs: from the web process to the task that sends its callback."""

import json
from typing import Any

from tests.outbound.peers import peer
from tests.placement.receiving import FINE
from tests.stories.fleet import new_fleet
from tests.stories.product import Product, until

REQUEST = "story-of-a-log"
TASK = "idcsched.placement.tasks.placement_deliver"


def entries(product: Product, process: str) -> list[dict[str, Any]]:
    """What that process has logged about the request. Its server writes lines of its own to the same file."""
    lines = (product.installation.var / "log" / f"{process}.log").read_text(encoding="utf-8").splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    return [entry for entry in logged if entry.get("request_id") == REQUEST]


def test_it_works(product: Product) -> None:
    fleet = new_fleet(product, tenant={"callback_hosts": ["127.0.0.1"]})
    with peer(FINE) as receiver:
        order = fleet.order(callback_url=receiver.url)
        placed = fleet.first.post("/schedule/", order, status=201, X_Request_ID=REQUEST)
        until(lambda: entries(product, "worker") and entries(product, "web"), "the entries of both", seconds=60)

    (asked,) = entries(product, "web")
    assert (asked["method"], asked["route"], asked["status"]) == ("POST", "/api/v1/schedule/", 201)
    assert asked["placement_id"] == placed["id"]
    assert {(entry["task"], entry["placement_id"]) for entry in entries(product, "worker")} == {(TASK, placed["id"])}
    secret = product.tokens["portal"]
    assert not [log for log in (product.installation.var / "log").iterdir() if secret in log.read_text("utf-8")]
