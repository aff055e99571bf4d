"""Placements in the admin: readers of one tenant see its own, everybody else all; nobody writes."""

from collections.abc import Callable

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.placement.models import Placement

LIST = reverse("admin:placement_placement_changelist")


@pytest.fixture
def placement(order: Callable[..., Placement]) -> Placement:
    return order(request_id="order-8812")


def reader(tenant: Tenant | None) -> Client:
    client = Client(SERVER_NAME="localhost")
    client.force_login(
        user_create(username="reader", role="viewer", tenant=tenant),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


@pytest.mark.parametrize(
    ("tenant", "seen"),
    [
        pytest.param("live-cn", True, id="the placement's own tenant"),
        pytest.param(None, True, id="all tenants"),
        pytest.param("other", False, id="another tenant"),
    ],
)
def test_it_works(placement: Placement, tenant: str | None, *, seen: bool) -> None:
    tenant_create(code="other")
    client = reader(Tenant.objects.get(code=tenant) if tenant else None)

    assert ("order-8812" in client.get(LIST).content.decode()) is seen
    page = client.get(reverse("admin:placement_placement_change", args=[placement.pk]))
    assert (page.status_code == 200) is seen


def test_nobody_writes(placement: Placement) -> None:
    page = reader(None).post(reverse("admin:placement_placement_change", args=[placement.pk]), {"state": "active"})
    assert page.status_code == 403
    placement.refresh_from_db()
    assert placement.state == "reserved"


def test_the_page_tells_what_it_holds_and_what_happened(placement: Placement) -> None:
    page = reader(None).get(reverse("admin:placement_placement_change", args=[placement.pk]))
    told = page.content.decode()
    assert placement.idc is not None
    assert placement.idc.code in told
    assert reverse("admin:scheduling_decision_change", args=[placement.decision_id]) in told
    assert [event.move for event in page.context["events"]] == ["reserve"]
    assert "&quot;claims&quot;" in told


def test_headings_begin_with_a_capital(placement: Placement) -> None:
    page = reader(None).get(reverse("admin:placement_placement_change", args=[placement.pk])).content.decode()
    assert "<summary>Request</summary>" in page


def test_the_group_is_called_otherwise_than_the_list(placement: Placement) -> None:
    assert apps.get_app_config("placement").verbose_name != Placement._meta.verbose_name_plural
