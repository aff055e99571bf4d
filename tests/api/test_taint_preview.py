"""`POST taints/preview/`: what a taint would have done to the last orders, as the console says it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory.models import Taint
from idcsched.inventory.services import region_scope_create
from idcsched.planning.taint_consequence import Consequence, taint_consequence
from tests.api.conftest import Api, speaking

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

ASKED: dict[str, Any] = {"region": "A", "profile": "seed-example"}
TAINT: dict[str, Any] = {"idc": "d", "key": "switch", "effect": "NoSchedule"}
EVERYBODY = Principal(user_id=1, username="x", role=Role.OPERATOR, all_tenants=True)


def test_it_works(seed: Api, portal: Api, api: Callable[..., Api]) -> None:
    """Of the seed example d is chosen, and b is the next best; one order tolerates the taint."""
    for fields in ({}, {}, {"tolerations": [{"key": "switch", "operator": "Exists"}]}):
        portal.schedule(**ASKED, **fields)
    before = Taint.objects.count()

    shown = api("operator").post("/taints/preview/", TAINT, status=200)

    assert (shown["considered"], shown["chosen"], shown["tried"], shown["examined"]) == (3, 3, 3, 3)
    assert (shown["moved"], shown["stayed"], shown["unplaced"]) == ([{"idc": "b", "count": 2}], 1, 0)
    same = taint_consequence(HypotheticalTaint(**TAINT), EVERYBODY)
    assert msgspec.convert(shown, Consequence) == same, "what the console says"
    assert Taint.objects.count() == before, "nothing is done yet"


def test_no_more_than_was_asked_for_is_considered(seed: Api, portal: Api, api: Callable[..., Api]) -> None:
    for _ in range(3):
        portal.schedule(**ASKED)
    assert api("operator").post("/taints/preview/", {**TAINT, "last": 2}, status=200)["considered"] == 2


def test_a_caller_of_a_tenant_asks_about_its_own_orders(seed: Api, portal: Api) -> None:
    portal.schedule(**ASKED)
    user = user_create(username="olga", role="operator", tenant=tenant_create(code="other"))
    other = speaking(token_issue(user=user, name="t").text)
    assert other.post("/taints/preview/", TAINT, status=200)["considered"] == 0


def test_who_may_not_taint_there_may_not_ask(seed: Api, portal: Api) -> None:
    """The operator is bound to the region of `e`."""
    user = user_create(username="olga", role="operator")
    region_scope_create(user=user, region="B")
    operator = speaking(token_issue(user=user, name="t").text)
    for method, path in (("POST", "/taints/preview/"), ("POST", "/taints/")):
        assert operator.refused(method, path, TAINT, status=403)[0] == "region_not_allowed"
    assert operator.post("/taints/preview/", {**TAINT, "idc": "e"}, status=200)["considered"] == 0


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"idc": "nowhere"}, "unknown_idc", "/idc"),
        ({"effect": "Never"}, "invalid_choice", "/effect"),
        ({"key": ""}, "out_of_range", "/key"),
        ({"last": 5000}, "out_of_range", "/last"),
        ({"reason": "OPS-1"}, "unknown_field", "/reason"),
    ],
)
def test_it_refuses(seed: Api, api: Callable[..., Api], changes: dict[str, Any], code: str, pointer: str) -> None:
    found = api("operator").refused("POST", "/taints/preview/", {**TAINT, **changes}, status=400)
    assert found == (code, [pointer])
