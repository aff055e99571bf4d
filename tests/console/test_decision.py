"""One decision in the console: in sentences, as bars, why not another one, what became of it, and decided again."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, idc_update
from idcsched.placement.models import Placement
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
from tests.console.pricing import lines_priced
from tests.placement.conftest import fleet, order, recommend  # noqa: F401 - fixtures, used by name

Recommend = Callable[..., Scheduled]
LINES = [{"isp": "ct", "purchased_mbps": 1000, "max_level": 1.0}]
BILLED: dict[str, Any] = {
    "plugins": [
        {"name": "network_flow", "plugin": "network_flow", "weight": 5},
        {"name": "billing_cost", "plugin": "billing_cost", "weight": 90},
    ]
}


@pytest.fixture
def answered(recommend: Recommend) -> str:  # noqa: F811 - the fixture
    """The address of a decision for `a`, the roomiest; `c` drains."""
    idc_update(idc=Idc.objects.get(code="c"), changes={"status": "draining"})
    live.catch_up()
    scheduled = recommend(request_id="order-880")
    recorder.flush()
    return f"/console/decisions/{scheduled.decision_id}/"


@pytest.fixture
def priced(recommend: Recommend) -> str:  # noqa: F811 - the fixture
    """The address of a decision by the bill: `b` is the cheapest, `a` the roomiest."""
    profile_create(code="billed", body=BILLED)
    lines_priced({"a": 30, "b": 20, "c": 40})
    live.catch_up()
    scheduled = recommend(request_id="order-881", profile="billed")
    recorder.flush()
    return f"/console/decisions/{scheduled.decision_id}/"


def shown(client: Client, address: str, role: str = "viewer", **fields: Any) -> str:
    client.force_login(user_create(username=f"the-{role}", role=role, **fields))
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_it_works(client: Client, answered: str) -> None:
    page = shown(client, answered)
    for text in (
        "<h1>Why did order-880 go to a?</h1>",
        "<b>a</b> has the most points of all that fit: 60.",
        "It is ahead of <b>b</b>, the next best, by 10 points. 2 of 3 IDCs fit.",
        "In points only: the profile does not weigh the bill.",
        'aria-label="the same for all: 50, Room left 60"',
        "Rejected: 1 of 3",
        "its status is draining",
        "it stayed a recommendation",
    ):
        assert text in page


def test_it_speaks_of_money(client: Client, priced: str) -> None:
    page = shown(client, priced)
    for text in (
        '<b>b</b> adds least to the bill of all that fit: <span class="money">',
        "With the order, the last 30 days on ct would have cost",
        "With everything else weighed in, it is ahead of <b>a</b>, the next best, by the worth of",
        "CNY a month</label>",
        '<span class="name"><svg aria-hidden="true"><rect class="s-bill"',
        "It would add",
        "It would draw level only if its bill weighed",
    ):
        assert text in page
    assert 'value="money" checked' in page
    assert 'value="points" checked' in shown(client, f"{priced}?lens=points", role="operator")


def test_what_is_billed_stands_apart_from_what_it_counts_as(client: Client, priced: str) -> None:
    page = shown(client, f"{priced}?not=c")
    duel = page.partition('class="versus"')[2].partition("</section>")[0]
    assert "</svg>Counts as, per month</span>" in duel
    assert "the figure above also weighs the busiest hours" in duel
    billed = re.search(r'Billed, per month</span><span class="fromto">([\d,]+) → ([\d,]+)</span>', duel)
    assert billed is not None
    winner, other = ("".join(amount.split(",")) for amount in billed.groups())
    assert int(other) == 2 * int(winner) > 0, "the price in c is twice that in b"


def test_unless_asked_it_says_why_not_the_next_best(client: Client, priced: str) -> None:
    page = shown(client, priced)
    next_best = re.search(r"ahead of <b>(.)</b>, the next best", page)
    assert next_best is not None
    assert f'href="?not={next_best[1]}#why-not" aria-current="true"' in page


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param("b", "It is 10 points behind <b>a</b>; its room costs it 10.", id="a candidate"),
        pytest.param(
            "c",
            "It does not fit: its status is draining. If it fitted, it would be number 3 of 3.",
            id="a rejected one",
        ),
        pytest.param("foshan", "<b>foshan</b> is none of the 3 IDCs that the order was about.", id="one elsewhere"),
    ],
)
def test_it_says_why_not_one(asked: str, reason: str, client: Client, answered: str) -> None:
    page = shown(client, f"{answered}?{urlencode({'not': asked})}")
    assert reason in page.partition('id="why-not"')[2].partition("</section>")[0]


def test_it_says_what_would_have_helped(client: Client, recommend: Recommend) -> None:  # noqa: F811 - the fixture
    scheduled = recommend(request_id="order-885", machines=[{"bandwidth_mbps": 930}])
    recorder.flush()
    page = shown(client, f"/console/decisions/{scheduled.decision_id}/?not=a")
    assert "<h1>Why did order-885 find no place?</h1>" in page
    assert "With 30 Mbps more on <b>a</b> it would have fitted." in page
    assert "With 30 Mbps more it would fit." in page.partition('id="why-not"')[2]


def test_every_other_idc_can_be_asked_about(client: Client, answered: str) -> None:
    page = shown(client, answered)
    for code in ("b", "c"):
        assert f'href="?not={code}#why-not"' in page
    assert 'href="?not=a' not in page, "the chosen one"


def test_it_says_what_became_of_it(client: Client, order: Callable[..., Placement]) -> None:  # noqa: F811
    placement = order(request_id="order-880")
    recorder.flush()
    page = shown(client, f"/console/decisions/{placement.decision_id}/")
    assert "A placement took a" in page
    assert "first choice taken" in page
    assert f'href="/console/placements/{placement.pk}/">Reserved</a>' in page


def test_a_candidate_that_was_passed_over_is_named(client: Client, order: Callable[..., Placement]) -> None:  # noqa: F811
    placement = order()
    recorder.flush()
    passed_over = [{"idc": "a", "rank": 1, "because": "provider_failed"}]
    taken = {"idc": "b", "rank": 2, "because": "provider_failed", "passed_over": passed_over}
    Decision.objects.filter(pk=placement.decision_id).update(taken=taken)
    page = shown(client, f"/console/decisions/{placement.decision_id}/")
    for text in ("A placement took b", "number 2 of the ranking", "a was passed over", "its provider failed"):
        assert text in page


def test_it_is_decided_again_under_another_profile(client: Client, answered: str) -> None:
    profile_create(code="thrice", body={"plugins": [{"name": "room", "plugin": "network_flow", "weight": 3}]})
    live.catch_up()
    page = shown(client, f"{answered}replay/?data=then&profile=thrice")
    assert "It would go to the same IDC." in page
    assert "Again: thrice #1" in page
    assert "has the most points of all that fit: 180." in page


def test_it_is_decided_again_on_the_data_of_now(client: Client, answered: str) -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "draining"})
    live.catch_up()
    page = shown(client, f"{answered}replay/?data=now")
    assert "It would go to b instead." in page
    assert "was no. 2" in page
    assert "It would go to b instead." in shown(client, answered, role="operator"), "the decision's page says so, too"


def test_both_sides_rank_all_that_fit(client: Client, recommend: Recommend) -> None:  # noqa: F811 - the fixture
    """Both sides show ten IDCs at first and all 15 on demand, although the answer itself names five."""
    for number in range(12):
        idc_create(code=f"more-{number:02}", region="A", stock_cpu=100, lines=LINES)
        sample = Sample(idc=f"more-{number:02}", line="ct", metric="bandwidth_mbps", value=100.0, at=timezone.now())
        samples_store(samples=[sample], now=timezone.now())
    live.catch_up()
    scheduled = recommend(request_id="order-890")
    recorder.flush()
    page = shown(client, f"/console/decisions/{scheduled.decision_id}/replay/?data=then")
    then, _, again = page.partition("Again: roomy #1")
    for side in (then, again):
        assert side.partition('class="lens-points')[2].count('class="rank') == 15
        assert '<summary class="body">all 15</summary>' in side


def test_both_sides_have_their_own_lens_and_the_form_stands_once(client: Client, priced: str) -> None:
    page = shown(client, f"{priced}replay/?data=then")
    for side in "12":
        assert page.count(f'<input type="radio" name="lens{side}" value="money" checked>') == 1
    assert page.count('name="data"') == 1


ASKED_BEYOND: dict[str, Any] = {
    "only": ["b", "c"],
    "shape": [1.0] * 24,
    "tolerations": [{"operator": "Exists"}],
    "labels": {"business": "live", "team": "x"},
}


def test_an_order_is_tried_with_changes_as_it_was_asked(client: Client, recommend: Recommend) -> None:  # noqa: F811
    """The trial keeps the order's tenant, and the parts of the order for which the form has no field."""
    scheduled = recommend(request_id="order-882", **ASKED_BEYOND)
    recorder.flush()
    page = shown(client, f"/console/decisions/{scheduled.decision_id}/", role="operator")
    address = unescape(re.findall(r'href="(/console/try/\?[^"]*)"', page)[0])
    page = " ".join(client.get(address).content.decode().split())
    command = unescape(page.partition('<pre id="curl"')[2].partition("</pre>")[0])
    asked = json.loads(command.partition("-d '")[2][:-1])
    assert {name: asked[name] for name in ASKED_BEYOND} == ASKED_BEYOND
    assert asked["tenant"] == "live-cn"
    assert "As in order-882, without a field here: <code>only</code>" in page
    assert f'name="like" value="{scheduled.decision_id}"' in page


@pytest.mark.parametrize("like", ["", "nope", "00000000-0000-0000-0000-000000000000"])
def test_a_decision_that_is_not_there_adds_nothing(client: Client, answered: str, like: str) -> None:
    client.force_login(user_create(username="operator", role="operator"))
    page = client.get("/console/try/", {"like": like, "region": "A", "count": 1, "bandwidth_mbps": 1})
    assert "without a field here" not in page.content.decode()


def test_another_tenant_s_order_is_not_tried(client: Client, recommend: Recommend) -> None:  # noqa: F811 - the fixture
    scheduled = recommend(request_id="order-882", **ASKED_BEYOND)
    recorder.flush()
    stranger = user_create(username="stranger", role="operator", tenant=tenant_create(code="other"))
    client.force_login(stranger)
    page = client.get("/console/try/", {"like": scheduled.decision_id, "region": "A", "count": 1})
    assert "without a field here" not in page.content.decode()


def test_it_is_decided_again_with_other_weights(client: Client, answered: str) -> None:
    page = shown(client, f"{answered}replay/?data=then&w.network_flow=2")
    assert "Again: roomy #1" in page
    then, _, again = page.partition("Again: roomy #1")
    assert ("points of all that fit: 60." in then, "points of all that fit: 120." in again) == (True, True)


@pytest.mark.parametrize(
    "query", ["data=never", "profile=gone", "w.network_flow=heavy", "w.network_flow=-1", "w.x=1", "lens=no"]
)
def test_nonsense_in_the_address_is_no_error(query: str, client: Client, answered: str) -> None:
    shown(client, f"{answered}replay/?{query}")


def test_a_decision_without_inputs_says_so(client: Client, answered: str) -> None:
    Decision.objects.update(inputs=None)
    page = shown(client, answered)
    assert "what this decision was made on was not kept" in page
    assert "<b>a</b> has the most points" in page
    assert "what this decision was made on was not kept" in shown(client, f"{answered}replay/", role="operator")


def test_a_record_that_says_little_is_shown(client: Client, answered: str) -> None:
    Decision.objects.update(inputs=None, answer={"summary": "1/1 IDCs fit"}, sentences={})
    assert "1/1 IDCs fit" in shown(client, answered)


def test_rejections_that_are_only_counted_are_counted_in_words(client: Client, answered: str) -> None:
    counts = [{"plugin": "taint", "code": "untolerated_taint", "count": 7}]
    Decision.objects.update(inputs=None, answer={"summary": "0/7 IDCs fit", "rejected_counts": counts}, sentences={})
    page = shown(client, answered)
    assert '<span class="code">7</span><span class="why">untolerated taint</span>' in page


def test_somebody_of_another_tenant_does_not_find_it(client: Client, answered: str) -> None:
    own = Tenant.objects.get(code="live-cn")
    assert "order-880" in shown(client, answered, tenant=own)
    client.force_login(user_create(username="stranger", role="viewer", tenant=tenant_create(code="other")))
    for address in (answered, f"{answered}replay/"):
        assert client.get(address).status_code == 404


def test_an_orders_number_leads_to_its_decision(client: Client, answered: str, recommend: Recommend) -> None:  # noqa: F811
    shown(client, answered)
    assert client.get("/console/orders/order-880/").headers["Location"] == answered
    assert client.get("/console/orders/gone/").headers["Location"] == "/console/decisions/?q=gone"
    recommend(request_id="order-880")
    recorder.flush()
    assert client.get("/console/orders/order-880/").headers["Location"] == "/console/decisions/?q=order-880"


def test_it_takes_a_bounded_number_of_queries(
    client: Client, answered: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    shown(client, answered)
    with django_assert_max_num_queries(8):
        client.get(f"{answered}?not=b")
