"""What a taint would do is said before it is set: which of the last orders would go elsewhere, and at what price."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from idcsched import planning
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import user_create
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory.models import Taint
from idcsched.inventory.services import region_create, region_scope_create
from idcsched.placement.committing import placement_commit
from idcsched.placement.lifecycle import Action
from idcsched.placement.models import Placement
from idcsched.planning.taint_consequence import Consequence, MovedTo, taint_consequence
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision, IdcOutcome
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_create
from tests.console.pricing import lines_priced
from tests.placement.conftest import POLICY, PORTAL, fleet, order, recommend  # noqa: F401 - fixtures, used by name

Recommend = Callable[..., Scheduled]
BY_PRICE: dict[str, Any] = {
    "plugins": [
        {"name": "network_flow", "plugin": "network_flow"},
        {"name": "taint", "plugin": "taint"},
        {"name": "billing_cost", "plugin": "billing_cost", "weight": 90},
    ]
}
ANYBODY = Principal(user_id=1, username="ops", role=Role.OPERATOR, all_tenants=True)
PAGE = "/console/idcs/a/taint/"
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


@pytest.fixture
def careful(recommend: Recommend) -> Recommend:  # noqa: F811 - the fixture
    """Recommends by room alone, and not where a taint is."""
    taint = {"name": "taint", "plugin": "taint", "weight": 100}
    profile_create(code="careful", body={"plugins": [*POLICY["plugins"], taint]})
    live.catch_up()

    def make(**fields: Any) -> Scheduled:
        scheduled = recommend(profile="careful", **fields)
        recorder.flush()
        return scheduled

    return make


def consequence(effect: str = "NoSchedule", principal: Principal = ANYBODY) -> Consequence:
    return taint_consequence(HypotheticalTaint(idc="a", key="switch", effect=effect), principal)  # type: ignore[arg-type]


def test_it_works(orders: None) -> None:
    """Two orders would move: they add 2,000 CNY each in `a`, and would add 3,000 each in `b`."""
    found = consequence()
    assert (found.chosen, found.examined) == (4, 4)
    assert (found.moving, found.stayed, found.unplaced) == (2, 1, 1)
    assert found.moved == (MovedTo(idc="b", count=2),)
    assert (found.priced, found.billed, found.would_be_billed, found.currency) == (2, 4000.0, 6000.0, "CNY")


def test_a_taint_that_no_scorer_minds_moves_nothing(orders: None) -> None:
    found = consequence("PreferNoSchedule")
    assert (found.examined, found.stayed, found.moved) == (4, 4, ())
    assert found.priced == 0


def test_a_tenant_s_reader_sees_what_its_own_orders_would_do(orders: None) -> None:
    assert (
        consequence(principal=Principal(user_id=2, username="x", role=Role.OPERATOR, tenant="somebody")).considered == 0
    )


@pytest.mark.parametrize(
    ("machines", "effect", "goal"),
    [
        pytest.param(4, "NoSchedule", "c", id="2 of 4 go from a to c"),
        pytest.param(3, "PreferNoSchedule", "b", id="1 of 2 goes from a to b, 1 stays"),
    ],
)
def test_a_spread_order_moves_share_by_share(careful: Recommend, machines: int, effect: str, goal: str) -> None:
    careful(machines=[{"count": machines, "bandwidth_mbps": 100}], spread={"max_per_idc": 2})
    found = consequence(effect)
    assert (found.examined, found.moving, found.stayed, found.unplaced) == (1, 1, 0, 0)
    assert MovedTo(idc=goal, count=1) in found.moved


def test_a_recommendation_and_its_commit_are_one_order(careful: Recommend) -> None:
    """A recommendation and its commit count as one order, which could go elsewhere, although the commit had one
    candidate.
    """
    token = careful().commit_token or ""
    placement_commit(commit_token=token, action=Action.RESERVE, principal=PORTAL, http_request_id="http-2")
    recorder.flush()
    found = consequence()
    assert (found.considered, found.chosen, found.examined, found.moving, found.unplaced) == (1, 1, 1, 1, 0)


@pytest.mark.parametrize("profiles", [("by-price",), ("by-price", "roomy")])
def test_each_profile_is_looked_up_once(
    orders: None,
    recommend: Recommend,  # noqa: F811 - the fixture
    profiles: tuple[str, ...],
    django_assert_num_queries: Callable[..., Any],
) -> None:
    for profile in profiles * 3:
        recommend(profile=profile, machines=[{"bandwidth_mbps": 100}], only=["a"])
    recorder.flush()
    consequence()  # reads the picture that all of them were decided on
    with django_assert_num_queries(3 + len(profiles)):
        assert consequence().examined == 4 + 3 * len(profiles)


def asked(client: Client, form: dict[str, str], role: str = "operator", region: str = "") -> tuple[int, str]:
    user = user_create(username=f"the-{role}", role=role)
    if region:
        region_create(code=region)
        region_scope_create(user=user, region=region)
    client.force_login(user)
    answer = client.post(PAGE, {**form, "ask": ""})
    return answer.status_code, " ".join(unescape(answer.content.decode()).split())


def test_the_page_says_it_and_keeps_what_was_typed(client: Client, orders: None) -> None:
    status, page = asked(client, FORM)
    assert status == 200
    assert "Of the last 4 orders that went to a, 2 would have gone elsewhere and 1 would have found no place." in page
    assert "That would cost 2,000 CNY a month more: 6,000 instead of 4,000." in page
    assert "4 of 4 could be decided again on what was known then" in page
    assert "The bills are known" not in page
    assert 'value="OPS-1"' in page
    assert not Taint.objects.exists(), "nothing is done yet"


def test_what_is_wrong_with_the_taint_is_said_first(client: Client, orders: None) -> None:
    status, page = asked(client, {**FORM, "key": ""})
    assert status == 422
    assert "would have gone elsewhere" not in page


@pytest.mark.parametrize(("role", "region"), [("viewer", ""), ("operator", "B")])
def test_who_may_not_taint_may_not_ask(client: Client, orders: None, role: str, region: str) -> None:
    status, page = asked(client, FORM, role=role, region=region)
    assert status == 403
    assert "would have gone elsewhere" not in page


def test_where_no_order_is_known(client: Client, fleet: None) -> None:  # noqa: F811 - the fixture
    assert "can't be told: no order that could go to a is on record" in asked(client, FORM)[1]


def test_where_no_order_went_there(client: Client, careful: Recommend) -> None:
    careful()
    IdcOutcome.objects.update(chosen=False)
    assert (
        "The last order that could go to a went elsewhere: the taint would have changed nothing."
        in asked(client, FORM)[1]
    )


def test_where_none_can_be_decided_again_it_gives_no_all_clear(client: Client, orders: None) -> None:
    Decision.objects.update(inputs=None)
    page = asked(client, FORM)[1]
    assert "What the taint would do can't be told: no order that went to a can be decided again." in page
    assert "0 of 4 could be decided again" in page
    assert "all the same" not in page


def test_what_was_left_out_is_said(client: Client, orders: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning.taint_consequence, "MOST_DECIDED", 3)
    last = Decision.objects.filter(idc="a").latest("id")
    Decision.objects.filter(pk=last.pk).update(inputs=None)
    page = asked(client, FORM)[1]
    assert "Of the 4 orders that went there only the last 3 are looked at. 2 of 3 could be decided again" in page


def test_bills_that_are_not_known_are_said(client: Client, orders: None) -> None:
    decision = Decision.objects.filter(idc="a").earliest("id")
    Decision.objects.filter(pk=decision.pk).update(answer={**decision.answer, "bill": None})
    page = asked(client, FORM)[1]
    assert "That would cost 1,000 CNY a month more: 3,000 instead of 2,000." in page
    assert "The bills are known of 1 of the 2 that move." in page


@pytest.mark.parametrize(
    ("effect", "becomes"),
    [
        ("NoSchedule", "stands on a now, and stays there untouched."),
        ("PreferNoSchedule", "stands on a now, and stays there untouched."),
        ("NoExecute", "stands on a now: it is listed as due to leave as soon as the taint is in force, and stays"),
    ],
)
def test_what_becomes_of_what_stands_there_now(
    client: Client,
    order: Callable[..., Placement],  # noqa: F811 - the fixture
    effect: str,
    becomes: str,
) -> None:
    assert order(machines=[{"count": 2, "bandwidth_mbps": 150}]).idc.code == "a"  # type: ignore[union-attr]
    recorder.flush()
    assert f"1 order with 2 machines and 300 Mbps {becomes}" in asked(client, {**FORM, "effect": effect})[1]


def test_where_nothing_stands_now_that_is_said(client: Client, careful: Recommend) -> None:
    careful()
    assert "No order stands on a now." in asked(client, FORM)[1]


def test_a_single_order(client: Client, careful: Recommend) -> None:
    careful()
    page = asked(client, FORM)[1]
    assert "The last order that went to a would have gone elsewhere." in page
    assert "What that would cost is not known." in page
