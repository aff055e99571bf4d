"""The admin's list of callbacks, and where secrets to check them are made."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.callback_secrets import callback_secret_text
from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, tenant_update, user_create
from idcsched.audit.models import Change
from idcsched.placement.models import Delivery, Placement

PAGE = "/admin/placement/delivery/"


@pytest.fixture
def delivery(order: Callable[..., Placement]) -> Delivery:
    """A callback that its receiver has accepted."""
    tenant_update(tenant=Tenant.objects.get(), changes={"callback_hosts": ["portal.example"]})
    order(callback_url="https://portal.example/told", request_id="order-1")
    Delivery.objects.update(state="delivered", delivered_at=timezone.now())
    return Delivery.objects.get()


def browser(role: str, tenant: Tenant | None = None) -> Client:
    client = Client()
    client.force_login(user_create(username=f"some-{role}", role=role, tenant=tenant))
    return client


def resend(client: Client, delivery: Delivery) -> str:
    client.post(PAGE, {"action": "resend", "_selected_action": [str(delivery.pk)]})
    delivery.refresh_from_db()
    return delivery.state


def test_it_works(delivery: Delivery) -> None:
    client = browser("operator")
    listed = client.get(f"{PAGE}?q=order-1").content.decode()
    assert "placement.reserved" in listed
    assert str(delivery.pk) in listed
    page = client.get(f"{PAGE}{delivery.pk}/change/").content.decode()
    assert "https://portal.example/told" in page
    assert resend(client, delivery) == "pending"


def test_a_viewer_looks_and_sends_nothing(delivery: Delivery) -> None:
    client = browser("viewer")
    assert client.get(PAGE).status_code == 200
    assert resend(client, delivery) == "delivered"


def test_others_callbacks_are_not_there(delivery: Delivery) -> None:
    other = tenant_create(code="other")
    client = browser("viewer", other)
    assert str(delivery.pk) not in client.get(PAGE).content.decode()
    assert client.get(f"{PAGE}{delivery.pk}/change/").status_code == 302
    mine = browser("operator", Tenant.objects.get(code="live-cn"))
    assert mine.get(f"{PAGE}{delivery.pk}/change/").status_code == 200


def test_a_secret_is_made_and_shown_once(delivery: Delivery) -> None:
    client, tenant = browser("admin"), Tenant.objects.get()
    sent = {"action": "make_callback_secret", "_selected_action": [tenant.pk]}
    shown = client.post("/admin/accounts/tenant/", sent, follow=True).content.decode()
    tenant.refresh_from_db()
    secret = callback_secret_text(tenant).replace("+", "&#x2B;")
    assert tenant.callback_secret_version == 1
    assert secret.replace("&#x2B;", "+") in shown.replace("&#x2B;", "+")
    assert secret not in client.get("/admin/accounts/tenant/").content.decode()
    assert Change.objects.filter(kind="tenant", actor="some-admin", via="admin").count() == 1
