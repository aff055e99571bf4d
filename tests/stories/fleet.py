"""A region of a story's own, with IDCs, a profile and a tenant, so that stories do not disturb one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.stories.product import SOON, Caller, Product, name, until

__all__ = ["AT_ONCE", "LINE_MBPS", "Fleet", "best_by", "chosen_by", "new_fleet", "new_provider"]

LINE_MBPS = 1000
"""What each IDC's only line carries; monitoring sees no traffic on the line."""
KNOWN = 100
"""Seconds within which all web processes know a new fleet; how soon exactly is another story."""
AT_ONCE = {"up_after_seconds": 0, "gone_after_seconds": 0}
"""The configuration of a provider whose machines are started and removed without delay."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """A region with IDCs, a profile and a tenant.

    The IDCs are in the order of preference. The profile prefers them by a metric of their own, which is 1 for the last.
    `callers` has a portal of the fleet's tenant at each web process; `first` and `other` are at two different ones, if
    there are two.
    """

    region: str
    metric: str
    profile: str
    tenant: str
    idcs: tuple[str, ...]
    admin: Caller
    callers: Sequence[Caller]

    @property
    def first(self) -> Caller:
        return self.callers[0]

    @property
    def other(self) -> Caller:
        return self.callers[-1]

    @property
    def question(self) -> dict[str, Any]:
        """The body of a request for a recommendation in this region."""
        return {"region": self.region, "profile": self.profile}

    def order(self, mbps: float = 100, **fields: Any) -> dict[str, Any]:
        """The body of a request to reserve one machine with so much bandwidth."""
        return {**self.question, "action": "reserve", "machines": [{"count": 1, "bandwidth_mbps": mbps}], **fields}

    def reserve(self, mbps: float = 100, **fields: Any) -> Any:
        """The placement of an order that is reserved through the first web process."""
        return self.first.post("/schedule/", self.order(mbps, **fields), status=201)

    def provision(self, **fields: Any) -> Any:
        """The placement of two machines that are to be started."""
        machines = [{"count": 2, "cpu": 4, "bandwidth_mbps": 50, "name": "edge"}]
        body = self.order(machines=machines, action="provision", **fields)
        return self.first.post("/schedule/", body, status=202)

    def fill(self) -> list[Any]:
        """Reserve all bandwidth of all IDCs; return the placements."""
        return [self.reserve(LINE_MBPS, ttl_seconds=600) for _ in self.idcs]

    def measure(self, idc: str, value: float) -> Any:
        """Store a value of the metric by which the profile prefers IDCs, through the first web process."""
        sample = {"idc": idc, "metric": self.metric, "value": value}
        return self.admin.post("/samples/", [sample], status=200)

    def pending(self, caller: Caller) -> list[float]:
        """The pending bandwidth of each IDC, as `idcs/{code}/state/` tells the caller."""
        states = [caller.get(f"/idcs/{code}/state/") for code in self.idcs]
        return [line["pending_mbps"] for state in states for line in state["lines"]]

    def room(self, caller: Caller) -> dict[str, int]:
        """How many machines of 1 Mbps each IDC still holds, as the caller's web process decides now, quotas aside."""
        admin = caller.as_(self.admin.token or "")
        answer = admin.post("/capacity/", {**self.question, "machine": {"bandwidth_mbps": 1}}, status=200)
        return {each["idc"]: each["count"] for each in answer["idcs"]}

    def sees_everywhere(self, *pending: float) -> None:
        """Assert the pending bandwidth of each IDC: shown at once, and decided upon soon, by all web processes."""
        room = {code: LINE_MBPS - taken for code, taken in zip(self.idcs, pending, strict=True)}
        for caller in self.callers:
            assert self.pending(caller) == list(pending)
            until(lambda caller=caller: self.room(caller) == room, f"the room {room}", seconds=SOON)  # type: ignore[misc]

    def placements(self, caller: Caller, **filters: str) -> list[Any]:
        """The tenant's placements, the oldest first."""
        query = "&".join(f"{field}={value}" for field, value in {"ordering": "created_at", **filters}.items())
        results: list[Any] = caller.get(f"/placements/?{query}")["results"]
        return results


def new_fleet(
    product: Product, *, idcs: int = 2, providers: Sequence[str] = (), tenant: Mapping[str, Any] | None = None
) -> Fleet:
    """Make a fleet with an IDC for each provider, or so many IDCs without; return it once web processes know it."""
    codes = tuple(name("idc") for _ in providers or range(idcs))
    admins = product.caller_in_each_process("admin")
    fleet = Fleet(name("region"), name("metric"), name("profile"), name("tenant"), codes, admins[0], admins)
    line = {"isp": "ct", "purchased_mbps": LINE_MBPS, "max_level": 1.0}
    rows: list[dict[str, Any]] = [{"code": code, "region": fleet.region, "lines": [line]} for code in codes]
    for row, provider in zip(rows, providers, strict=False):
        row["provider"] = provider
    samples = [{"idc": code, "line": "ct", "metric": "bandwidth_mbps", "value": 0} for code in codes]
    samples += [{"idc": code, "metric": fleet.metric, "value": len(codes) - place} for place, code in enumerate(codes)]
    user = name("portal")

    fleet.admin.post("/regions/", {"code": fleet.region}, status=201)
    fleet.admin.post("/idcs/", rows, status=201)
    fleet.admin.post("/metrics/", {"code": fleet.metric, "direction": "higher", "scope": "idc"}, status=201)
    fleet.admin.post("/profiles/", {"code": fleet.profile, "plugins": best_by(fleet.metric)}, status=201)
    fleet.admin.post("/samples/", samples, status=200)
    fleet.admin.post(
        "/tenants/", {"code": fleet.tenant, "default_profile": fleet.profile, **(tenant or {})}, status=201
    )
    fleet.admin.post("/users/", {"username": user, "role": "portal", "tenant": fleet.tenant}, status=201)
    token = product.new_token(user)["token"]
    for admin in admins:
        until(partial(_is_known, fleet, admin), "the new fleet", seconds=KNOWN)
    portals = [admin.as_(token) for admin in admins]
    return Fleet(fleet.region, fleet.metric, fleet.profile, fleet.tenant, codes, fleet.admin, portals)


def best_by(metric: str, *, better: str = "more") -> list[dict[str, Any]]:
    """The plugins of a profile in which taints, status and room filter, and one metric alone decides the order."""
    arguments = {"metric": metric, "better": better}
    return [
        *({"name": plugin, "plugin": plugin} for plugin in ("available", "network_flow", "taint")),
        {"name": metric, "plugin": "metric", "weight": 1, "normalizer": {"kind": "none"}, "args": arguments},
    ]


def chosen_by(caller: Caller, question: Mapping[str, Any]) -> str | None:
    """The code of the IDC that the caller's web process recommends; None if nothing fits."""
    idc = caller.schedule(**question)["idc"]
    return None if idc is None else idc["code"]


def new_provider(product: Product, kind: str = "simulated", **fields: Any) -> str:
    """The code of a new provider; by default of one whose machines are started without delay."""
    code = name("provider")
    body = {"code": code, "kind": kind, "config": AT_ONCE, **fields}
    product.caller("admin").post("/providers/", body, status=201)
    return code


def _is_known(fleet: Fleet, caller: Caller) -> bool:
    answer = caller.ask("POST", "/schedule/", fleet.order(LINE_MBPS, action="recommend", tenant=fleet.tenant))
    return answer.status == 200 and [each["idc"] for each in answer.body["candidates"]] == list(fleet.idcs)
