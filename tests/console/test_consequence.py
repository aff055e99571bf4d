"""What a taint would do is said before it is set: which of the last orders would go elsewhere, and at what price."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import user_create
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory.models import Taint
from idcsched.inventory.services import region_create, region_scope_create
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.schedule import Scheduled
from idcsched.scheduling.services import profile_create
from idcsched.scheduling.taint_consequence import Consequence, MovedTo, taint_consequence
from tests.console.pricing import lines_priced
from tests.placement.conftest import fleet, order, recommend  # noqa: F401 - fixtures, used by name

Recommend = Callable[..., Scheduled]
BY_PRICE: dict[str, Any] = {
    "plugins": [
        {"name": "network_flow", "plugin": "network_flow"},
        {"name": "taint", "plugin": "taint"},
        {"name": "billing_cost", "plugin": "billing_cost", "weight": 90},
    ]
}
ANYBODY = Principal(user_id=1, username="ops", role=Role.OPERATOR, all_tenants=True)
PAGE = "/console/idcs/a/"
FORM = {"key": "switch", "effect": "NoSchedule", "reason": "OPS-1"}


@pytest.fixture
def orders(recommend: Recommend) -> None:  # noqa: F811 - the fixture
    """Of 100 Mbps each: two that may stand anywhere, one that tolerates the taint, one that only `a` will do for; all
    went to `a`, the cheapest. A fifth went to `b`."""
    profile_create(code="by-price", body=BY_PRICE)
    lines_priced({"a": 20, "b": 30, "c": 40})
    live.catch_up()
    asked = {"profile": "by-price", "machines": [{"bandwidth_mbps": 100}]}
    for fields in (
        {},
        {},
        {"tolerations": [{"key": "switch", "operator": "Exists"}]},
        {"only": ["a"]},
        {"exclude": ["a"]},
    ):
        recommend(**asked, **fields)
    recorder.flush()


def consequence(effect: str = "NoSchedule", principal: Principal = ANYBODY) -> Consequence:
    return taint_consequence(HypotheticalTaint(idc="a", key="switch", effect=effect), principal)  # type: ignore[arg-type]


def test_it_works(orders: None) -> None:
    """Those that move add 2,000 CNY each where they are and 3,000 in `b`."""
    found = consequence()
    assert (found.chosen, found.examined) == (4, 4)
    assert (found.moving, found.stayed, found.unplaced) == (2, 1, 1)
    assert found.moved == (MovedTo(idc="b", count=2),)
    assert (found.billed, found.would_be_billed, found.currency) == (4000.0, 6000.0, "CNY")


def test_a_taint_that_no_scorer_minds_moves_nothing(orders: None) -> None:
    found = consequence("PreferNoSchedule")
    assert (found.examined, found.stayed, found.moved) == (4, 4, ())
    assert found.billed is None


def test_a_tenant_s_reader_sees_what_its_own_orders_would_do(orders: None) -> None:
    assert (
        consequence(principal=Principal(user_id=2, username="x", role=Role.OPERATOR, tenant="somebody")).considered == 0
    )


def test_what_can_t_be_decided_again_is_not_examined(orders: None) -> None:
    Decision.objects.update(inputs=None)
    found = consequence()
    assert (found.chosen, found.examined) == (4, 0)


def asked(client: Client, form: dict[str, str], role: str = "operator", region: str = "") -> tuple[int, str]:
    user = user_create(username=f"the-{role}", role=role)
    if region:
        region_create(code=region)
        region_scope_create(user=user, region=region)
    client.force_login(user)
    answer = client.post(PAGE, {**form, "ask": ""})
    return answer.status_code, " ".join(answer.content.decode().split())


def test_the_page_says_it_and_keeps_what_was_typed(client: Client, orders: None) -> None:
    status, page = asked(client, FORM)
    assert status == 200
    assert "Of the last 4 orders that went to a, 2 would have gone elsewhere and 1 would have found no place." in page
    assert "There they would add 6,000 CNY a month to the bills, here they add 4,000." in page
    assert 'value="OPS-1"' in page
    assert not Taint.objects.exists(), "nothing is done yet"


def test_what_is_wrong_with_the_taint_is_said_first(client: Client, orders: None) -> None:
    status, page = asked(client, {**FORM, "key": ""})
    assert status == 422
    assert "would have gone elsewhere" not in page


@pytest.mark.parametrize(("role", "region"), [("viewer", ""), ("operator", "B")])
def test_who_may_not_taint_may_not_ask(client: Client, orders: None, role: str, region: str) -> None:
    status, page = asked(client, FORM, role=role, region=region)
    assert status == 422
    assert "would have gone elsewhere" not in page


def test_where_no_order_went_there(client: Client, fleet: None) -> None:  # noqa: F811 - the fixture
    assert "the taint would have changed nothing" in asked(client, FORM)[1]
