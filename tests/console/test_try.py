"""An order that is tried in the console: the engine's own answer, live weights and suppositions, and drafts."""

import html
import json
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, user_create
from idcsched.framework.decoding import convert
from idcsched.framework.request import Request
from idcsched.inventory.services import idc_create, region_scope_create, taint_create
from idcsched.placement.models import Placement
from idcsched.placement.recommending import recommend as recommended
from idcsched.scheduling.instruments import attempts
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_create
from idcsched.scheduling.shapes import shape_create
from metrics_ingest.services import Sample, samples_store
from tests.console.pricing import lines_priced
from tests.placement.conftest import POLICY, fleet  # noqa: F401 - the fixture, used by name

pytestmark = pytest.mark.usefixtures("fleet")

TRY = "/console/try/"
ORDER = {"region": "A", "profile": "roomy", "count": 3, "bandwidth_mbps": 100}
SCORED: dict[str, Any] = {
    "plugins": [
        {"name": "network_flow", "plugin": "network_flow", "weight": 10},
        {"name": "affinity", "plugin": "affinity", "weight": 4},
        {"name": "taint", "plugin": "taint", "weight": 0},
    ]
}

Show = Callable[..., str]


@pytest.fixture
def show(client: Client) -> Show:
    """Shows the page to an operator or another user, with these parameters beside those of the order."""
    operator = user_create(username="operator", role="operator")

    def page(*, user: Any = None, **parameters: Any) -> str:
        client.force_login(user or operator)
        live.catch_up()
        response = client.get(TRY, {**ORDER, **parameters})
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    return page


def ranking(page: str) -> list[str]:
    """The codes of the ranked IDCs, the best first."""
    return re.findall(r'data-idc="([^"]+)"', page.partition('class="lens-points')[2])


def body_of(page: str) -> Any:
    """The request in the page's curl command."""
    command = html.unescape(page.partition('<pre id="curl"')[2].partition("</pre>")[0])
    return json.loads(re.sub(r"'\\''", "'", command.partition("-d '")[2])[:-1])


def problems(page: str) -> dict[str, str]:
    """What is wrong, by the id of the field."""
    found = page.partition('<script id="problems" type="application/json">')[2].partition("</script>")[0]
    return {str(name): str(text) for name, text in json.loads(found).items()}


def test_it_works(show: Show) -> None:
    taint_create(idc="c", key="repair")
    profile_create(code="scored", body=SCORED)
    page = show(profile="scored")
    assert ranking(page) == ["a", "b"]
    for text in (
        "<b>a</b> has the most points of all that fit: 800.",
        "Room left 600",
        "In points only: the profile does not weigh the bill.",
        "untolerated taint repair:NoSchedule",
        "taint, no end set",
    ):
        assert text in page


def test_it_speaks_of_money(show: Show) -> None:
    billed = {"name": "billing_cost", "plugin": "billing_cost", "weight": 90}
    profile_create(code="billed", body={"plugins": [*SCORED["plugins"][:1], billed]})
    lines_priced({"a": 40, "b": 30, "c": 20})
    page = show(profile="billed", **{"weight.billing_cost": "45"})
    assert ranking(page)[0] == "c"
    assert re.search(r"c adds [0-9,]+ CNY a month", page)
    weighed = json.loads(page.partition('<script id="weighed" type="application/json">')[2].partition("</script>")[0])
    known = {each["idc"]: each for each in weighed["candidates"]}
    rate = weighed["unit"] / 45
    assert rate == pytest.approx(60 * 300 / (100 * 45)), "CNY a month for a point"
    cost = known["c"]["counted"] + (weighed["best"]["network_flow"] - known["c"]["scores"]["network_flow"]) * 10 * rate
    assert f'<div class="total">{cost:,.0f}<small>chosen</small>' in page, "what the page adds up is what it shows"
    assert weighed["scorers"]["network_flow"]["points"] == pytest.approx(10)


def test_the_effect_of_a_supposed_taint_is_chosen_in_words(show: Show) -> None:
    assert (
        '<option value="PreferNoSchedule">new machines only if nothing better fits (PreferNoSchedule)</option>'
        in show()
    )


def test_what_is_supposed_says_what_it_costs(show: Show) -> None:
    profile_create(code="billed", body={"plugins": [{"name": "bill", "plugin": "billing_cost", "weight": 90}]})
    lines_priced({"a": 20, "b": 30, "c": 40})
    taint = {"taint_idc": "a", "taint_key": "x", "taint_effect": "NoSchedule"}
    profile_create(
        code="tainted",
        body={
            "plugins": [{"name": "taint", "plugin": "taint"}, {"name": "bill", "plugin": "billing_cost", "weight": 90}]
        },
    )
    Tenant.objects.update(default_profile="tainted")
    live.catch_up()
    page = show(profile="tainted", tenant="live-cn", **taint)
    assert ranking(page) == ["b", "c"]
    assert re.search(r'instead of a: <span class="delta dearer">\+[0-9,]+</span> CNY a month on the bill', page)


def test_the_answer_is_the_apis_and_nothing_is_recorded(show: Show) -> None:
    before = [metric.samples for metric in attempts.collect()]
    page = show(client="31.2,121.5", business="video", **{"weight.network_flow": "7"})
    recorder.flush()
    assert (Decision.objects.count(), Placement.objects.count()) == (0, 0)
    assert [metric.samples for metric in attempts.collect()] == before

    body = body_of(page)
    assert body == {
        "profile": "roomy",
        "region": "A",
        "client": {"latitude": 31.2, "longitude": 121.5},
        "labels": {"business": "video"},
        "machines": [{"count": 3, "bandwidth_mbps": 100}],
        "weights": {"network_flow": 7},
        "explain": "full",
    }
    anybody = Principal(user_id=1, username="somebody", role=Role.ADMIN, all_tenants=True)
    answer = recommended(request=convert(body, Request), principal=anybody, http_request_id="1")
    assert [candidate.idc for candidate in answer.candidates or ()] == ranking(page)
    assert answer.summary in page


def test_a_weight_reranks_and_says_what_it_would_be_otherwise(show: Show) -> None:
    profile_create(code="least", body={"plugins": [*POLICY["plugins"], {"name": "affinity", "plugin": "affinity"}]})
    page = show(profile="least", **{"weight.network_flow": "0", "weight.affinity": "1"}, request_id="order-7")
    assert sorted(ranking(page)) == ["a", "b", "c"]
    assert '<span class="chip">room left 1 → 0</span>' in page
    assert "changed or supposed here" in page or "instead of" in page


def test_who_names_the_usual_profile_changes_nothing(show: Show) -> None:
    compared = 'class="swap"'
    assert compared not in show(profile="")
    assert compared not in show(profile="default")
    assert compared in show(profile="roomy")


def test_weights_of_another_profile_do_not_count(show: Show) -> None:
    page = show(**{"weights_of": "default", "weight.network_flow": "99"})
    assert "weights" not in body_of(page)


def test_a_weight_that_no_request_may_change_is_tried_all_the_same(show: Show) -> None:
    profile_create(code="fixed", body={**POLICY, "overridable": []})
    page = show(profile="fixed", **{"weight.network_flow": "9"})
    assert ranking(page) == ["a", "b", "c"]
    assert "Profile fixed lets no request weigh network_flow." in page


@pytest.mark.parametrize(
    ("supposed", "ranked", "hypothetical"),
    [
        pytest.param(
            {"status_idc": "new", "status": "online"},
            ["new", "a", "b", "c"],
            {"idcs": [{"code": "new", "status": "online"}]},
            id="an IDC that is online",
        ),
        pytest.param(
            {"line": "a/ct", "used_mbps": "950"},
            ["b", "c"],
            {"idcs": [{"code": "a", "lines": [{"line": "ct", "metrics": {"bandwidth_mbps": 950}}]}]},
            id="a fuller line",
        ),
        pytest.param(
            {"taint_idc": ["a", "b"], "taint_key": ["x", "y"], "taint_effect": ["NoSchedule", "NoSchedule"]},
            ["c"],
            {
                "taints": [
                    {"idc": "a", "key": "x", "effect": "NoSchedule"},
                    {"idc": "b", "key": "y", "effect": "NoSchedule"},
                ]
            },
            id="two taints",
        ),
        pytest.param(
            {"lifted_idc": "d", "lifted_key": "repair"},
            ["a", "b", "c", "d"],
            {"ignore_taints": [{"idc": "d", "key": "repair"}]},
            id="a taint that is lifted",
        ),
    ],
)
def test_it_supposes(supposed: dict[str, Any], ranked: list[str], hypothetical: Any, show: Show) -> None:
    profile_create(code="scored", body={"plugins": [*POLICY["plugins"], {"name": "taint", "plugin": "taint"}]})
    free = {"isp": "ct", "purchased_mbps": 1000, "max_level": 1.0}
    idc_create(code="new", region="A", status="offline", lines=[{**free, "purchased_mbps": 5000}])
    idc_create(code="d", region="A", lines=[free])
    taint_create(idc="d", key="repair")
    _measured("new", 0.0)
    _measured("d", 500.0)
    page = show(profile="scored", **supposed)
    assert ranking(page) == ranked
    assert body_of(page)["hypothetical"] == hypothetical


def _measured(idc: str, value: float) -> None:
    now = timezone.now()
    samples_store(samples=[Sample(idc=idc, line="ct", metric="bandwidth_mbps", value=value, at=now)], now=now)


def test_a_shape_is_drawn_or_picked(show: Show) -> None:
    evening = [*[1] * 18, *[9] * 6]
    shape = shape_create(business="video", entered=evening)
    assert body_of(show(shape_of=shape.pk))["shape"] == evening
    assert body_of(show(shape_of="drawn", shape="1" + ", 2" * 23))["shape"] == [1, *[2] * 23]
    assert "shape" not in body_of(show(shape="1 2 3")), "drawn before, and not picked any more"


def test_nothing_fits(show: Show) -> None:
    page = show(bandwidth_mbps=310)
    assert "Nothing fits" in page
    assert "needs 930 Mbps on ct, 900 left" in page.partition("Rejected: 3 of 3")[2]
    assert "30 Mbps short" in page


@pytest.mark.parametrize(
    ("parameters", "field", "problem"),
    [
        pytest.param({"region": "nowhere"}, "id_region", "there is no region nowhere", id="a region"),
        pytest.param({"isp": "xx"}, "id_isp", "there is no ISP xx", id="an ISP"),
        pytest.param({"client": "mars"}, "id_client", "there is no region mars", id="a client"),
        pytest.param({"client": "1,x"}, "id_client", "Enter a number.", id="coordinates"),
        pytest.param({"profile": "gone"}, "id_profile", "there is no profile gone", id="a profile"),
        pytest.param({"tenant": "gone"}, "id_tenant", "there is no tenant gone", id="a tenant"),
        pytest.param({"count": "0"}, "id_count_0", "this must be at least 1", id="a number of machines"),
        pytest.param({"bandwidth_mbps": "much"}, "id_bandwidth_mbps_0", "Enter a number.", id="bandwidth"),
        pytest.param({"bandwidth_mbps": "nan"}, "id_bandwidth_mbps_0", "Enter a number.", id="no number at all"),
        pytest.param(
            {"shape_of": "drawn", "shape": "1 2"}, "id_shape", "a shape has 24 or 168 numbers, not 2", id="a shape"
        ),
        pytest.param({"shape_of": "99"}, "id_shape_of", "There is no such shape.", id="a shape that is gone"),
        pytest.param(
            {"weight.network_flow": "-1"},
            "id_weight.network_flow",
            "this must be at least 0",
            id="a weight",
        ),
        pytest.param({"taint_idc": "a"}, "id_taint_key_0", "this is required", id="a taint without a key"),
        pytest.param(
            {"status_idc": "a", "status": "online", "line": "a/xx", "used_mbps": "1"},
            "id_line_0",
            "a has no line xx",
            id="a line",
        ),
        pytest.param(
            {"lifted_idc": "a", "lifted_key": "x"}, "id_lifted_key_0", "a has no taint x", id="a taint to be lifted"
        ),
    ],
)
def test_what_is_wrong_stands_at_its_field(parameters: dict[str, str], field: str, problem: str, show: Show) -> None:
    page = html.unescape(show(**parameters))
    assert problem in problems(page)[field]
    assert f'id="{field}_error">{problem}' in page
    assert all(f'value="{text}"' in page or text in page for text in parameters.values()), "what was typed stays"
    assert "This order would be refused" in page


def test_an_empty_page_says_what_to_do(client: Client) -> None:
    client.force_login(user_create(username="somebody", role="operator"))
    assert "Choose a region" in client.get(TRY).content.decode()


def test_viewers_may_not_ask_and_see_no_link(client: Client) -> None:
    client.force_login(user_create(username="somebody", role="viewer"))
    assert client.get(TRY).status_code == 403
    assert f'href="{TRY}"' not in client.get("/console/decisions/").content.decode()


def test_somebody_logged_out_logs_in_first(client: Client) -> None:
    response = client.get(TRY)
    assert (response.status_code, response["Location"]) == (302, "/admin/login/?next=/console/try/")


def test_somebody_of_one_tenant_asks_for_that_one_alone(show: Show) -> None:
    tenant_create(code="other")
    own = Tenant.objects.get(code="live-cn")
    shape_create(business="secret", entered=[1] * 24, tenant="other")
    somebody = user_create(username="somebody", role="operator", tenant=own)
    page = show(user=somebody, profile="")
    assert "roomy" in page, "by the tenant's own profile"
    assert "secret" not in page
    assert '<option value="other"' not in page
    refused = show(user=somebody, tenant="other")
    assert "you may not act for the tenant other" in refused
    assert not ranking(refused)


def save(client: Client, query: dict[str, Any], regions: Iterable[str] = ()) -> Any:
    user = user_create(username="the-operator", role="operator")
    for region in regions:
        region_scope_create(user=user, region=region)
    client.force_login(user)
    live.catch_up()
    return client.post(f"{TRY}?{urlencode(query)}", {"message": "less room"})


def test_changed_weights_become_a_draft_that_is_not_in_force(client: Client) -> None:
    query = {**ORDER, "weight.network_flow": "2.5"}
    response = save(client, query)
    assert response.status_code == 302
    profile = Profile.objects.select_related("active").get(code="roomy")
    draft = profile.revisions.order_by("-number").first()
    assert profile.active is not None
    assert draft is not None
    assert (profile.active.number, draft.number, draft.message, draft.created_by) == (1, 2, "less room", "the-operator")
    assert draft.body["plugins"][1] == {"name": "network_flow", "plugin": "network_flow", "weight": 2.5}
    assert [entry["name"] for entry in draft.body["plugins"]] == [entry["name"] for entry in POLICY["plugins"]]
    page = client.get(response["Location"]).content.decode()
    assert "Draft 2 of profile" in page
    assert "It is not in force." in page


def test_changed_weights_lead_to_the_preview_and_the_backtest_of_that_draft(client: Client) -> None:
    """The page's form carries the draft itself, so no revision is saved for a preview or a backtest."""
    user = user_create(username="operator", role="operator")
    client.force_login(user)
    live.catch_up()
    page = html.unescape(client.get(TRY, {**ORDER, "weight.network_flow": "2.5"}).content.decode())
    form = page.partition('<form method="post" action="/console/profiles/roomy/"')[2].partition("</form>")[0]
    draft = re.findall(r'name="document" value="(.*?)">', form)[0]
    assert json.loads(draft)["plugins"][1]["weight"] == 2.5
    assert 'value="preview"' in form
    assert 'value="backtest"' in form
    assert "The answer is worked out on the data of now." in page
    answer = client.post("/console/profiles/roomy/", {"edit": "json", "document": draft, "action": "preview"})
    assert "What the draft would have changed" in answer.content.decode()
    assert Profile.objects.get(code="roomy").revisions.count() == 1
    assert 'name="document"' not in client.get(TRY, ORDER).content.decode()


def test_an_operator_of_one_region_saves_no_drafts(client: Client) -> None:
    query = {**ORDER, "weight.network_flow": "2.5"}
    assert save(client, query, regions=["A"]).status_code == 403
    page = client.get(TRY, query).content.decode()
    assert "Changed weights" in page
    assert "Save as a draft" not in page
    assert Profile.objects.get(code="roomy").revisions.count() == 1


def test_it_takes_a_bounded_number_of_queries(
    client: Client, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(20):
        idc_create(code=f"more-{number}", region="A", lines=[{"isp": "ct", "purchased_mbps": 1000}])
        shape_create(business=f"business-{number}", entered=[1] * 24)
    client.force_login(user_create(username="somebody", role="operator"))
    live.catch_up()
    with django_assert_max_num_queries(8):
        assert client.get(TRY, {**ORDER, "weight.network_flow": "3"}).status_code == 200
