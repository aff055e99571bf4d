"""The search opens the only object of a name at once, lists several, and finds nothing of another tenant."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, taint_create
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from metrics_ingest.services import source_create
from tests.console.conftest import Browser
from tests.placement.conftest import fleet, order  # noqa: F401 - fixtures

SEARCH = "/console/search/"
Order = Callable[..., Placement]


@pytest.fixture
def placement(order: Order) -> Placement:  # noqa: F811
    """An order in `a`; IDCs `gz-01` and `gz-02`, the first tainted; a source."""
    idc_create(code="gz-01", name="Guangzhou One", region="A", lines=[{"isp": "ct", "purchased_mbps": 1}])
    idc_create(code="gz-02", name="Guangzhou Two", region="A")
    taint_create(idc=Idc.objects.get(code="gz-01"), key="switch", value="dc-9")
    config = {"url": "http://127.0.0.1/"}
    mapping = {"idc": "site", "values": {"cpu_load": "cpu"}}
    source_create(code="prom.gz", kind="http_json", schedule="60", config=config, mapping=mapping)
    placed = order(request_id="order-880")
    recorder.flush()
    return placed


def led(client: Client, words: str) -> str:
    """Return the address that the search opens at once, or an empty text if it shows a list."""
    answer = client.get(SEARCH, {"q": words})
    return str(answer.headers.get("Location", ""))


def titles(client: Client, words: str) -> dict[str, list[str]]:
    answer: Any = client.get(SEARCH, {"q": words})
    return {str(title): [hit.name for hit in hits] for title, hits in answer.context["groups"]}


def test_it_works(browser: Browser, placement: Placement) -> None:
    client = browser("viewer")
    page = f"/console/placements/{placement.pk}/"
    assert led(client, "order-880") == page
    assert led(client, f" {placement.pk} ") == page
    assert led(client, str(placement.decision_id)) == f"/console/decisions/{placement.decision_id}/"
    assert led(client, "PROM.gz") == "/console/sources/prom.gz/"
    for words in ("gz-01", "guangzhou one", "gz-01/ct"):
        assert "gz-01" in led(client, words), words
    assert titles(client, "gz-0") == {"IDCs": ["gz-01", "gz-02"]}
    assert titles(client, "gz") == {"IDCs": ["gz-01", "gz-02"], "Sources": ["prom.gz"]}
    assert titles(client, "switch=dc") == {"Taints": ["switch=dc-9:NoSchedule"]}
    assert titles(client, "gz/") == {"Lines": ["gz-01/ct"]}


def test_what_has_the_same_name_is_told_apart(browser: Browser, placement: Placement) -> None:
    """A hit says what kind of thing it is; an order's also when it was, since several may have its number."""
    answer: Any = browser("viewer").get("/console/search/suggestions/", {"q": "order-880"})
    found = [(str(hit.kind), hit.detail) for hit in answer.context["hits"]]
    ordered, decided = (
        f"{timezone.localtime(row.created_at, ZoneInfo(settings.BILLING_ZONE)):%m-%d %H:%M}"
        for row in (placement, Decision.objects.get(pk=placement.decision_id))
    )
    assert found == [("placement", f"reserved · a · {ordered}"), ("decision", f"scheduled · a · {decided}")]


def test_the_page_itself_has_a_field_for_the_words(browser: Browser, placement: Placement) -> None:
    """On a phone the head of the pages has none."""
    main = browser("viewer").get(SEARCH, {"q": "gz"}).content.decode().partition("<main")[2]
    assert 'name="q" value="gz"' in main


def test_an_order_without_a_placement_leads_to_its_decision(browser: Browser, placement: Placement) -> None:
    decision = placement.decision_id
    Placement.objects.all().delete()
    assert led(browser("viewer"), "order-880") == f"/console/decisions/{decision}/"


def test_two_of_that_name_are_listed(browser: Browser, placement: Placement, order: Order) -> None:  # noqa: F811
    order(request_id="prom.gz")
    found = titles(browser("viewer"), "prom.gz")
    assert (found["Placements"], found["Sources"]) == (["prom.gz"], ["prom.gz"])


def test_those_of_a_tenant_find_its_orders_alone(browser: Browser, placement: Placement) -> None:
    stranger = browser("operator", tenant=tenant_create(code="other"))
    for words in ("order-880", str(placement.pk), str(placement.decision_id)):
        assert not led(stranger, words)
        assert titles(stranger, words) == {}
    assert led(browser("viewer", tenant=Tenant.objects.get(code="live-cn")), "order-880")


def test_nonsense_finds_nothing_and_empty_words_say_what_can_be_found(
    client: Client, browser: Browser, placement: Placement
) -> None:
    viewer = browser("viewer")
    for words in ("x" * 5000, "%", "' OR 1=1", "/", "=", "{}"):
        assert viewer.get(SEARCH, {"q": words}).status_code in {200, 302}, words
    assert "by their whole number" in viewer.get(SEARCH).content.decode()
    nothing = viewer.get(SEARCH, {"q": "nowhere"}).content.decode()
    assert "Nothing is called so." in nothing
    assert "Did you mean" not in nothing
    idc_create(code="gz-ct-cu-cm-01", region="A")
    near = viewer.get(SEARCH, {"q": "GZ-ct-cu-01"}).content.decode()
    assert 'Did you mean <a href="/console/idcs/gz-ct-cu-cm-01/">gz-ct-cu-cm-01</a>' in near
    assert viewer.get(f"{SEARCH}?q=%00").status_code == 400
    assert client.get(SEARCH).status_code == 302


def test_it_takes_a_bounded_number_of_queries(
    browser: Browser, placement: Placement, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(30):
        idc_create(code=f"gz-1{number}", region="A")
    client = browser("viewer")
    with django_assert_max_num_queries(12):
        assert len(titles(client, "gz")["IDCs"]) == 10


def suggested(client: Client, words: str) -> list[str]:
    answer: Any = client.get(f"{SEARCH}suggestions/", {"q": words})
    assert answer.status_code == 200
    return [hit.name for hit in answer.context["hits"]]


def test_a_few_of_each_kind_are_suggested_first_what_is_called_so(
    browser: Browser, placement: Placement, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(30):
        idc_create(code=f"gz-1{number}", region="A")
    client = browser("viewer")
    with django_assert_max_num_queries(12):
        assert suggested(client, "gz") == ["gz-01", "gz-02", "gz-10", "gz-11", "gz-110", "prom.gz"]
    assert suggested(client, "gz-12")[0] == "gz-12"
    assert suggested(client, "order-880") == ["order-880", "order-880"], "the placement and the decision"
    assert suggested(client, "/gz") == suggested(client, " ") == suggested(client, "nowhere") == []
    assert suggested(browser("operator", tenant=tenant_create(code="other")), "order-880") == []


def test_suggestions_are_at_most_eight_links(browser: Browser, placement: Placement) -> None:
    for number in range(9):
        idc_create(code=f"switch-{number}", region="A")
        taint_create(idc=Idc.objects.get(code=f"switch-{number}"), key="switch")
    page = browser("viewer").get(f"{SEARCH}suggestions/", {"q": "switch"}).content.decode()
    assert page.count('role="option"') == 8
    assert 'href="/console/idcs/switch-0/"' in page
