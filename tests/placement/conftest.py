"""A region with three IDCs, of which `a` has the most room left, then `b`, then `c`."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create
from idcsched.framework.request import Request
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.placement.models import Placement
from idcsched.placement.ordering import placement_order
from idcsched.placement.recommending import recommend as recommended
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
from tests.keeping import Kept

ROOMS = {"a": 900, "b": 800, "c": 700}
PORTAL = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="live-cn")
POLICY = {
    "plugins": [
        {"name": "available", "plugin": "available"},
        {"name": "network_flow", "plugin": "network_flow", "weight": 1},
        {"name": "resource", "plugin": "resource"},
    ]
}


FLEET: Kept[None] = Kept()


@pytest.fixture
def fleet(db: None) -> None:
    FLEET.write(_fleet)


def _fleet() -> None:
    region_create(code="A")
    isp_create(code="ct")
    for code in ROOMS:
        lines = [{"isp": "ct", "purchased_mbps": 1000, "max_level": 1.0}]
        idc_create(code=code, region="A", stock_cpu=100, lines=lines)
    samples_store(
        samples=[
            Sample(idc=code, line="ct", metric="bandwidth_mbps", value=1000.0 - room, at=timezone.now())
            for code, room in ROOMS.items()
        ],
        now=timezone.now(),
    )
    profile_create(code="roomy", body=POLICY)
    tenant_create(code="live-cn", default_profile="roomy")


def asked(**fields: Any) -> Request:
    machines = [{"count": 3, "bandwidth_mbps": 100, "cpu": 4}]
    return msgspec.convert({"region": "A", "action": "reserve", "machines": machines, **fields}, Request)


@pytest.fixture
def order(fleet: None) -> Callable[..., Placement]:
    def make(principal: Principal = PORTAL, **fields: Any) -> Placement:
        return placement_order(request=asked(**fields), principal=principal, http_request_id="http-1")

    return make


@pytest.fixture
def recommend(fleet: None) -> Callable[..., Scheduled]:
    def make(principal: Principal = PORTAL, **fields: Any) -> Scheduled:
        return recommended(request=asked(action=None, **fields), principal=principal, http_request_id="http-1")

    return make
