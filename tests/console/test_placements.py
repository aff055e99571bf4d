"""The placements in the console: lists, one placement, and the actions of those who may."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from idcsched.accounts.models import Tenant, User
from idcsched.accounts.services import tenant_create, tenant_update
from idcsched.audit.models import Change
from idcsched.inventory.models import Region, RegionScope
from idcsched.inventory.services import region_create
from idcsched.placement.models import Delivery, Placement, Provider
from idcsched.placement.rollup import ATTENTION_AFTER
from idcsched.placement.services import placement_release
from idcsched.scheduling.recorder import recorder
from tests.console.conftest import Browser
from tests.placement.conftest import fleet, order  # noqa: F401 - fixtures
from tests.provisioning.starting import at_once, equip, work, work_once

LIST = "/console/placements/"
Order = Callable[..., Placement]
WAITS: dict[str, Any] = {"machines": [{"count": 10, "bandwidth_mbps": 400}], "wait_seconds": 600}
ALL = {"order-1", "order-2", "order-3"}
QUERIES: dict[str, set[str]] = {
    "state=reserved": {"order-1", "order-2"},
    "state=waiting": {"order-3"},
    "idc=A": {"order-1"},
    "order=order-2": {"order-2"},
    "tenant=live-cn&state=waiting": {"order-3"},
    "tenant=nobody": set(),
    "state=nonsense": ALL,
    "before=nonsense&group=nonsense": ALL,
    "group=00000000-0000-0000-0000-000000000000": set(),
    "before=00000000-0000-0000-0000-000000000000": set(),
    "order=" + "x" * 5000: set(),
}


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def address(placement: Placement) -> str:
    return f"{LIST}{placement.pk}/"


def move(client: Client, placement: Placement, name: str, **fields: Any) -> HttpResponse:
    placement.refresh_from_db()
    form = {"move": name, "version": placement.version, **fields}
    return client.post(address(placement), form, follow=True)  # type: ignore[return-value]


def buttons(client: Client, placement: Placement) -> set[str]:
    page = client.get(address(placement)).content.decode()
    return {name for name in ("confirm", "provision", "retry", "release", "give_up") if f'value="{name}"' in page}


@pytest.fixture
def stuck(order: Order) -> Placement:  # noqa: F811
    """A placement whose provider does not remove its machines."""
    equip(a=at_once())
    placement = order(action="provision", request_id="order-stuck")
    work()
    placement_release(placement=placement)
    Provider.objects.update(kind="gone")
    for _ in range(ATTENTION_AFTER):
        work_once()
    return placement


def test_it_works(browser: Browser, order: Order) -> None:  # noqa: F811
    placement, waits = order(request_id="order-1"), order(**WAITS, priority=7)
    recorder.flush()
    client = browser("operator")
    listed = text(client.get(LIST))
    assert listed.index(str(waits.pk)) < listed.index("order-1"), "what waits comes first"
    page = text(client.get(address(placement)))
    assert "ct: 300" in page
    assert "3/3 IDCs fit" in page
    assert str(placement.decision_id) in page
    assert "What it waits for" in text(client.get(address(waits)))
    assert buttons(client, waits) == {"release"}
    assert buttons(client, placement) == {"confirm", "provision", "release"}

    done = text(move(client, placement, "confirm", message="the portal said so"))
    assert "the placement is active" in done
    assert "the portal said so" in done
    event = placement.events.latest("version")
    assert (event.move, event.actor) == ("confirm", "operator")


def test_the_queue_stands_in_the_order_of_the_tries_with_what_each_order_lacks(
    browser: Browser,
    order: Order,  # noqa: F811
) -> None:
    later, urgent = order(**WAITS, request_id="later"), order(**WAITS, request_id="urgent", priority=7)
    lacks = later.lacks
    assert lacks is not None
    short_by = f"{lacks['detail']['short_by']:,.0f} Mbps short"
    client = browser("operator")
    page = text(client.get(LIST))
    assert page.index(">urgent</a>") < page.index(">later</a>")
    queue = page[page.index(">urgent</a>") :]
    assert queue.count(short_by) == 2
    assert f'href="/console/idcs/{lacks["idc"]}/"' in queue
    assert short_by in text(client.get(address(urgent)))

    Placement.objects.update(lacks=None, cures=["taints"])
    assert "may help: a taint that is lifted" in text(client.get(LIST))


def test_the_list_is_filtered(browser: Browser, order: Order) -> None:  # noqa: F811
    order(request_id="order-1")
    order(request_id="order-2")
    order(request_id="order-3", **WAITS)
    client, shown = browser("viewer"), {}
    for query in QUERIES:
        page = text(client.get(f"{LIST}?{query}"))
        shown[query] = {name for name in ALL if f">{name}</a>" in page}
    assert shown == QUERIES


def test_the_list_is_paged(browser: Browser, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr("idcsched.console.placements.SHOWN", 2)
    for number in range(5):
        order(request_id=f"order-{number}", machines=[{"count": 1}])
    client, pages, target = browser("viewer"), [], f"{LIST}?state=reserved"
    while target:
        answer: Any = client.get(target)
        pages.append([row.request_id for row in answer.context["placements"]])
        target = answer.context["older"]
    assert pages == [["order-4", "order-3"], ["order-2", "order-1"], ["order-0"]]


def test_a_viewer_looks_and_moves_nothing(browser: Browser, order: Order) -> None:  # noqa: F811
    placement, client = order(), browser("viewer")
    assert buttons(client, placement) == set()
    assert "may not do this" in text(move(client, placement, "release"))
    placement.refresh_from_db()
    assert placement.state == "reserved"


def test_those_of_a_tenant_see_its_placements_alone(browser: Browser, order: Order) -> None:  # noqa: F811
    placement = order(request_id="order-1")
    other = browser("operator", tenant=tenant_create(code="other"))
    assert "order-1" not in text(other.get(LIST))
    assert "live-cn" not in text(other.get(LIST))
    assert other.get(address(placement)).status_code == 404
    assert other.post(address(placement), {"move": "release", "version": 1}).status_code == 404
    own = browser("viewer", tenant=Tenant.objects.get(code="live-cn"))
    assert "order-1" in text(own.get(LIST))


def test_somebody_without_a_session_logs_in_first(client: Client, order: Order) -> None:  # noqa: F811
    assert client.get(address(order()))["Location"].startswith("/admin/login/?next=/console/placements/")


def test_a_refusal_is_shown_and_nothing_is_done(browser: Browser, order: Order) -> None:  # noqa: F811
    placement, client = order(), browser("operator")
    for name in ("retry", "give_up"):
        answer = move(client, placement, name, message="why")
        assert answer.status_code == 409, name
        assert 'role="alert"' in text(answer)
    for name in ("up", "nonsense", ""):
        assert move(client, placement, name).status_code == 400, name
    assert placement.events.count() == 1


def test_a_placement_that_has_moved_since_is_left_alone(browser: Browser, order: Order) -> None:  # noqa: F811
    placement, client = order(), browser("operator")
    move(client, placement, "confirm")
    answer = client.post(address(placement), {"move": "release", "version": "1"})
    assert answer.status_code == 409
    assert "has changed since you loaded the page" in text(answer)
    placement.refresh_from_db()
    assert placement.state == "active"


def test_a_stuck_release_is_given_up_for_a_reason(browser: Browser, stuck: Placement) -> None:
    client = browser("operator")
    assert text(client.get(LIST)).index("Need somebody") < text(client.get(LIST)).index("order-stuck")
    assert buttons(client, stuck) == {"give_up"}
    assert "say why" in text(move(client, stuck, "give_up", message=" "))
    assert "its capacity is free" in text(move(client, stuck, "give_up", message="scrapped, OPS-4711"))
    assert "scrapped, OPS-4711" in text(client.get(address(stuck)))
    assert Change.objects.filter(kind="placement", actor="operator", via="console").count() == 1


def test_an_operator_of_another_region_does_not_give_up(browser: Browser, stuck: Placement) -> None:
    client = browser("operator")
    region_create(code="B")
    RegionScope.objects.create(user=User.objects.get(username="operator"), region=Region.objects.get(code="B"))
    assert buttons(client, stuck) == set()
    assert "outside of your regions" in text(move(client, stuck, "give_up", message="why"))
    stuck.refresh_from_db()
    assert stuck.state == "releasing"


def test_a_callback_is_sent_again(browser: Browser, order: Order) -> None:  # noqa: F811
    tenant_update(tenant=Tenant.objects.get(), changes={"callback_hosts": ["portal.example"]})
    placement, another = order(callback_url="https://portal.example/told"), order()
    Delivery.objects.update(state="given_up", error="the portal is away")
    delivery, client = Delivery.objects.get(), browser("operator")
    assert "the portal is away" in text(client.get(address(placement)))
    for target, name, status in (
        (another, delivery.pk, 404),
        (placement, "nonsense", 404),
        (placement, delivery.pk, 200),
    ):
        answer = client.post(address(target), {"delivery": str(name)}, follow=True)
        assert answer.status_code == status, text(answer)
        delivery.refresh_from_db()
        assert delivery.state == ("pending" if status == 200 else "given_up")
    assert "Send again" not in text(browser("viewer").get(address(placement)))


def test_it_takes_a_bounded_number_of_queries(
    browser: Browser,
    order: Order,  # noqa: F811
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    for _ in range(12):
        placement = order(machines=[{"count": 1}])
        order(**WAITS)
    client = browser("operator")
    with django_assert_max_num_queries(12):
        client.get(LIST)
    with django_assert_max_num_queries(18):
        client.get(address(placement))
