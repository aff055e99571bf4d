"""What portals ask of the fleet in `bench.stored_fleet`."""

import random
from typing import Any

__all__ = ["ISPS", "REGIONS", "orders", "requests"]

ISPS = ("ct", "cu", "cm")
REGIONS = 20


def requests(count: int, *, seed: int = 2) -> list[dict[str, Any]]:
    """Distinct questions about the whole fleet, such as portals ask."""
    chance = random.Random(seed)
    return [_request(n, chance) for n in range(count)]


def orders(count: int) -> list[dict[str, Any]]:
    """The same questions as orders that reserve, each for two small machines, so that the fleet is not full soon."""
    small = {"action": "reserve", "explain": "none", "machines": [{"count": 2, "bandwidth_mbps": 5}]}
    return [found | small for found in requests(count)]


def _request(number: int, chance: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "request_id": f"order-{number}",
        "region": "all",
        "isp": chance.choice(ISPS),
        "machines": [{"count": chance.randint(1, 20), "bandwidth_mbps": chance.choice([5, 10, 20, 50])}],
        "labels": {"business": chance.choice(["live", "vod", "game"])},
    }
    if chance.random() < 0.3:
        found["client"] = {"region": f"r{chance.randrange(REGIONS):02d}"}
    if chance.random() < 0.3:
        found["tolerations"] = [{"key": "maintenance", "operator": "Exists"}]
    if chance.random() < 0.2:
        found["prefer"] = [{"weight": chance.randint(1, 50), "match_labels": {"rack": chance.choice("abc")}}]
    return found
