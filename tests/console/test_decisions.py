"""The console's list of decisions: searched, filtered, paged by key, and no more than one may see."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import tenant_create, user_create
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.placement.conftest import fleet, order  # noqa: F401 - fixtures, used by name

pytestmark = pytest.mark.usefixtures("db")
LIST = "/console/decisions/"


def decided(**fields: Any) -> Decision:
    values = {"result": "scheduled", "idc": "gz-1", "profile": "default", "profile_revision": 1, "request": {}}
    answer = {"summary": "1/1 IDCs fit"}
    return Decision.objects.create(**{"created_at": timezone.now(), "answer": answer, **values, **fields})


def shown(client: Client, query: str = "", role: str = "operator", **fields: Any) -> str:
    client.force_login(user_create(username=f"the-{role}", role=role, **fields))
    return text_of(client, f"{LIST}{query}")


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_it_works(client: Client) -> None:
    decided(request_id="order <1>")
    decided(request_id="order-2", result="unschedulable", idc="")
    page = shown(client)
    for text in ("order &lt;1&gt;", "1/1 IDCs fit", "<strong>gz-1</strong>", "nothing fits", 'hx-trigger="every 3s"'):
        assert text in page
    assert page.index("order-2") < page.index("order &lt;1&gt;"), "the newest first"


@pytest.mark.parametrize(
    ("query", "matching"),
    [
        pytest.param("q=order-1", ["order-1"], id="an order number, although another contains it"),
        pytest.param("q=order-", ["order-1", "order-12", "order-3"], id="the beginning of numbers"),
        pytest.param("q=der-1", ["order-1", "order-12"], id="part of a number"),
        pytest.param("q=sz-", ["order-12"], id="part of an IDC's code"),
        pytest.param("idc=sz-1", ["order-12"], id="an IDC"),
        pytest.param("result=unschedulable", ["order-3"], id="a result"),
        pytest.param("profile=cost-first", ["order-3"], id="a profile"),
        pytest.param("until=2026-01-02T08:00", ["order-3"], id="a time"),
        pytest.param("tenant=live", ["order-1"], id="a tenant"),
    ],
)
def test_it_finds(query: str, matching: list[str], client: Client) -> None:
    decided(request_id="order-1", tenant=tenant_create(code="live"))
    decided(request_id="order-12", idc="sz-1")
    old = timezone.now().replace(year=2026, month=1, day=1)
    decided(request_id="order-3", result="unschedulable", idc="", profile="cost-first", created_at=old)
    page = shown(client, f"?{query}")
    assert [number for number in ("order-1", "order-12", "order-3") if f">{number}</a>" in page] == matching


def test_a_decision_is_found_by_its_id(client: Client) -> None:
    decided(request_id="other")
    row = decided(request_id="this")
    page = shown(client, f"?q={row.pk}")
    assert (">this</a>" in page, ">other</a>" in page) == (True, False)


def test_pages_stay_put_while_decisions_arrive(client: Client) -> None:
    for number in range(120):
        decided(request_id=f"order-{number:03}")
    first = shown(client)
    assert (">order-119</a>" in first, ">order-069</a>" in first) == (True, False)
    older = first.partition('rel="next" href="')[2].partition('"')[0]
    decided(request_id="order-120")
    second = text_of(client, f"{LIST}{older}")
    assert (">order-069</a>" in second, ">order-020</a>" in second, ">order-019</a>" in second) == (True, True, False)
    assert 'hx-get="/console/decisions/' not in second, "an older page does not move"
    newer = second.partition('rel="prev" href="')[2].partition('"')[0]
    assert ">order-119</a>" in text_of(client, f"{LIST}{newer}")


@pytest.mark.parametrize(
    "query",
    ["before=x", "after=1", "since=yesterday", "result=no", "profile=gone", "tenant=x", "q=%27%22%3C", "idc=%20"],
)
def test_nonsense_in_the_address_is_no_error(query: str, client: Client) -> None:
    decided(request_id="order-1")
    shown(client, f"?{query}")


def test_a_filter_that_makes_no_sense_is_refused_at_its_field(client: Client) -> None:
    assert "Enter a valid date/time." in shown(client, "?since=yesterday")


def test_somebody_of_one_tenant_sees_its_decisions_alone(client: Client) -> None:
    own, other = tenant_create(code="own"), tenant_create(code="other")
    decided(request_id="mine", tenant=own)
    decided(request_id="theirs", tenant=other)
    page = shown(client, role="viewer", tenant=own)
    assert (">mine</a>" in page, ">theirs</a>" in page, "id_tenant" in page) == (True, False, False)


def test_it_says_what_became_of_an_order(client: Client, order: Callable[..., Placement]) -> None:  # noqa: F811
    placement = order(request_id="order-880")
    recorder.flush()
    page = shown(client)
    assert f'<a href="/console/placements/{placement.pk}/">reserved</a>' in page


def test_a_filter_is_a_chip_that_takes_it_away(client: Client) -> None:
    decided(request_id="order-1")
    page = shown(client, "?q=order&profile=default&result=scheduled")
    assert 'href="?q=order&amp;result=scheduled" aria-label="without Profile: default"' in page
    assert 'href="?q=order&amp;profile=default" aria-label="without Result: scheduled"' in page


def test_what_is_empty_says_what_to_do(client: Client) -> None:
    assert "Nothing has been asked yet." in shown(client)
    assert "Widen the filters" in text_of(client, f"{LIST}?idc=no")


def test_somebody_logged_out_logs_in_first(client: Client) -> None:
    assert client.get(LIST).headers["Location"].startswith("/admin/login/?next=/console/decisions/")


def test_it_takes_a_bounded_number_of_queries(
    client: Client, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    since = timezone.now() - timedelta(hours=1)
    for number in range(60):
        decided(request_id=f"order-{number}", created_at=since, tenant=tenant_create(code=f"t-{number}"))
    shown(client)
    with django_assert_max_num_queries(8):
        client.get(LIST)
