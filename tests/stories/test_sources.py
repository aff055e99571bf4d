"""A source brings samples that move a decision; when its server fails, the run says why; then values come again."""

from typing import Any

from tests.outbound.peers import json_reply, peer, raw_reply
from tests.stories.fleet import chosen_by, new_fleet
from tests.stories.product import Caller, Product, name, until

LONG = 100
"""Seconds within which a free worker asks a source that is to be asked now, on a busy machine."""
NEVER = "0 0 29 2 *"


def run(operator: Caller, code: str) -> dict[str, Any]:
    """Have the source asked now, and return the run once it is over."""
    before = operator.get(f"/sources/{code}/runs/")["count"]
    operator.post(f"/sources/{code}/run/", {}, status=202)

    def newest() -> dict[str, Any]:
        runs = operator.get(f"/sources/{code}/runs/")
        return runs["results"][0] if runs["count"] > before else {}

    until(lambda: newest().get("finished_at"), f"another run of {code}", seconds=LONG)
    return newest()


def test_it_works(product: Product) -> None:
    fleet = new_fleet(product)
    better, worse = fleet.idcs
    operator, portal = product.caller("operator"), fleet.first
    code = name("source")
    with peer(json_reply([{"site": worse, "value": 3}])) as server:
        document = {
            "code": code,
            "kind": "http_json",
            "schedule": NEVER,
            "config": {"url": server.url, "timeout_seconds": 60},
            "mapping": {"idc": "site", "values": {fleet.metric: "value"}},
        }
        operator.post("/sources/", document, status=201)
        assert chosen_by(portal, fleet.question) == better
        brought = run(operator, code)
        assert (brought["state"], brought["stored"], brought["error"]) == ("succeeded", 1, None)
        until(lambda: chosen_by(portal, fleet.question) == worse, "the sample in the decision", seconds=LONG)

        server.behave = raw_reply(b"out of order", 500)
        failed = run(operator, code)
        assert (failed["state"], failed["stored"], failed["error"]["code"]) == ("failed", 0, "server_failed")
        assert "500" in failed["error"]["detail"]
        assert chosen_by(portal, fleet.question) == worse

        server.behave = json_reply([{"site": worse, "value": 0}])
        assert run(operator, code)["state"] == "succeeded"
        until(lambda: chosen_by(portal, fleet.question) == better, "the next sample in the decision", seconds=LONG)
        operator.call("DELETE", f"/sources/{code}/", status=204)
