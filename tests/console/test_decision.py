"""One decision in the console: in sentences, as bars, what became of it, and decided again."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.placement.models import Placement
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.schedule import Scheduled
from idcsched.scheduling.services import profile_create
from tests.placement.conftest import fleet, order, recommend  # noqa: F401 - fixtures, used by name

Recommend = Callable[..., Scheduled]


@pytest.fixture
def answered(recommend: Recommend) -> str:  # noqa: F811 - the fixture
    """The address of a decision for `a`, the roomiest; `c` drains."""
    idc_update(idc=Idc.objects.get(code="c"), changes={"status": "draining"})
    live.catch_up()
    scheduled = recommend(request_id="order-880")
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
        "<h1>order-880</h1>",
        "Why a? Of 2 IDCs that fit it has the most points, 60.",
        "Why not b? Its room (50 % against 60 %) costs it 10 points; in all it is 10 behind.",
        "Why not c? It does not fit: its status is draining.",
        '<svg class="bars" role="img" aria-label="room left 60',
        "it stayed a recommendation",
    ):
        assert text in page


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param("B", "Why not b? Its room", id="a candidate"),
        pytest.param("c", "Why not c? It does not fit", id="a rejected one"),
        pytest.param("a", "Why a? Of 2 IDCs", id="the chosen one"),
        pytest.param("foshan", "No IDC whose code contains “foshan” was looked at", id="one elsewhere"),
    ],
)
def test_it_says_why_not_one(asked: str, reason: str, client: Client, answered: str) -> None:
    page = shown(client, f"{answered}?{urlencode({'why': asked})}")
    assert reason in page.partition('<div role="status">')[2].partition("</section>")[0]


def test_it_says_what_became_of_it(client: Client, order: Callable[..., Placement]) -> None:  # noqa: F811
    placement = order(request_id="order-880")
    recorder.flush()
    page = shown(client, f"/console/decisions/{placement.decision_id}/")
    assert "A placement took a, the first of the ranking." in page
    assert '<span class="mark">reserved</span> a' in page


def test_a_candidate_that_was_passed_over_is_named(client: Client, order: Callable[..., Placement]) -> None:  # noqa: F811
    placement = order()
    recorder.flush()
    passed_over = [{"idc": "a", "rank": 1, "because": "provider_failed"}]
    taken = {"idc": "b", "rank": 2, "because": "provider_failed", "passed_over": passed_over}
    Decision.objects.filter(pk=placement.decision_id).update(taken=taken)
    page = shown(client, f"/console/decisions/{placement.decision_id}/")
    assert "A placement took b, number 2 of the ranking." in page
    assert "its provider failed" in page


def test_it_is_decided_again_under_another_profile(client: Client, answered: str) -> None:
    profile_create(code="thrice", body={"plugins": [{"name": "room", "plugin": "network_flow", "weight": 3}]})
    live.catch_up()
    page = shown(client, f"{answered}?again=1&on=then&profile=thrice")
    assert "It would go to the same IDC." in page
    assert "Again: thrice #1" in page
    assert "it has the most points, 180." in page


def test_it_is_decided_again_on_the_data_of_now(client: Client, answered: str) -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "draining"})
    live.catch_up()
    page = shown(client, f"{answered}?again=1&on=now")
    assert "It would go to b instead." in page


def test_it_is_decided_again_with_other_weights(client: Client, answered: str) -> None:
    page = shown(client, f"{answered}?again=1&weight-network_flow=0")
    assert "Again: roomy #1" in page
    assert "it has the most points, 60." in page.partition('id="again"')[0]
    assert "the most points, 0" in page.partition('id="again"')[2]


@pytest.mark.parametrize(
    "query", ["on=never", "profile=gone", "weight-network_flow=heavy", "weight-network_flow=-1", "weight-x=1"]
)
def test_nonsense_in_the_address_is_no_error(query: str, client: Client, answered: str) -> None:
    shown(client, f"{answered}?again=1&{query}")


def test_a_decision_without_inputs_says_so(client: Client, answered: str) -> None:
    Decision.objects.update(inputs=None)
    page = shown(client, f"{answered}?again=1")
    assert page.count("what this decision was made on was not kept") == 2
    assert "Why a?" in page


def test_a_record_that_says_little_is_shown(client: Client, answered: str) -> None:
    Decision.objects.update(inputs=None, answer={"summary": "1/1 IDCs fit"}, sentences={})
    assert "1/1 IDCs fit" in shown(client, answered)


def test_somebody_of_another_tenant_does_not_find_it(client: Client, answered: str) -> None:
    own = Tenant.objects.get(code="live-cn")
    assert "order-880" in shown(client, answered, tenant=own)
    client.force_login(user_create(username="stranger", role="viewer", tenant=tenant_create(code="other")))
    assert client.get(answered).status_code == 404


def test_it_takes_a_bounded_number_of_queries(
    client: Client, answered: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    shown(client, answered)
    with django_assert_max_num_queries(20):
        client.get(f"{answered}?again=1&why=a")
