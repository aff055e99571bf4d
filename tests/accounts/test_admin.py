"""The admin pages of accounts: for administrators alone."""

import re

import pytest
from django.contrib.admin import site
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import tenant_create, token_authenticate, token_issue, user_create
from idcsched.audit.models import Change

pytestmark = pytest.mark.usefixtures("db")

PASSWORD = "correct horse battery"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(user_create(username="root", role=Role.ADMIN))
    return client


@pytest.fixture
def shop(db: None) -> User:
    return user_create(username="shop", role=Role.PORTAL)


def test_it_works(admin):
    sent = {"code": "live-cn", "callback_hosts": '["portal.example.com"]', "quota_machines": 5}
    assert admin.post("/admin/accounts/tenant/add/", sent).status_code == 302
    tenant = Tenant.objects.get()
    assert admin.post(f"/admin/accounts/tenant/{tenant.pk}/change/", sent | {"name": "Live"}).status_code == 302
    assert admin.post(f"/admin/accounts/tenant/{tenant.pk}/delete/", {"post": "yes"}).status_code == 302
    recorded = Change.objects.filter(kind="tenant", actor="root", via="admin").order_by("id")
    assert list(recorded.values_list("action", flat=True)) == ["create", "update", "delete"]


@pytest.mark.parametrize("model", ["tenant", "user", "apitoken"])
@pytest.mark.parametrize("role", ["viewer", "operator", "portal"])
def test_others_see_nothing(client, role, model):
    client.force_login(user_create(username="other", role=role))
    assert client.get(f"/admin/accounts/{model}/").status_code in {302, 403}


TENANT_FILTERED = ["placement/placement", "placement/delivery", "ledger/headcount"]


def tenants_named(client: Client, page: str) -> set[str]:
    """Which of the tenants `ours-1` and `theirs-2` a page names."""
    shown = client.get(page).content.decode()
    return {code for code in ("ours-1", "theirs-2") if code in shown}


def test_no_list_names_other_tenants_to_users_of_one(client):
    ours, _theirs = tenant_create(code="ours-1"), tenant_create(code="theirs-2")
    client.force_login(user_create(username="reader", role=Role.VIEWER, tenant=ours))
    lists = [f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in site._registry]
    assert [page for page in lists if "theirs-2" in tenants_named(client, page)] == []


@pytest.mark.parametrize("model", TENANT_FILTERED)
def test_users_of_all_tenants_filter_by_tenant(client, model):
    for code in ("ours-1", "theirs-2"):
        tenant_create(code=code)
    client.force_login(user_create(username="reader", role=Role.VIEWER))
    assert tenants_named(client, f"/admin/{model}/") == {"ours-1", "theirs-2"}


@pytest.mark.parametrize("model", ["tenant", "user", "apitoken"])
def test_lists_and_forms_show(admin, shop, model):
    token_issue(user=shop, name="orders")
    for page in ("?q=o", "add/"):
        assert admin.get(f"/admin/accounts/{model}/{page}").status_code == 200


def test_a_user_is_made_changed_and_locked_out(admin):
    tenant = tenant_create(code="live-cn")
    sent = {"username": "olga", "role": "operator", "tenant": tenant.pk, "password": PASSWORD}
    assert admin.post("/admin/accounts/user/add/", sent).status_code == 302
    user = User.objects.get(username="olga")
    assert (user.role, user.is_staff, user.check_password(PASSWORD)) == ("operator", True, True)

    page = admin.get(f"/admin/accounts/user/{user.pk}/change/")
    assert user.password.encode() not in page.content
    sent |= {"password": "", "role": "portal"}
    assert admin.post(f"/admin/accounts/user/{user.pk}/change/", sent).status_code == 302
    user.refresh_from_db()
    assert (user.role, user.is_staff, user.is_active) == ("portal", False, False)
    assert user.check_password(PASSWORD), "an empty password leaves the one that is"


def test_a_user_without_a_password_can_not_log_in(admin):
    assert admin.post("/admin/accounts/user/add/", {"username": "shop", "role": "portal"}).status_code == 302
    assert not User.objects.get(username="shop").has_usable_password()


def test_a_weak_password_is_refused_in_the_form(admin):
    page = admin.post("/admin/accounts/user/add/", {"username": "olga", "role": "viewer", "password": "1"})
    assert "password" in page.context["adminform"].form.errors
    assert not User.objects.filter(username="olga").exists()


def test_the_last_administrator_stays(admin):
    root = User.objects.get(username="root")
    page = admin.post(
        f"/admin/accounts/user/{root.pk}/change/", {"username": "root", "role": "viewer", "is_active": "on"}
    )
    assert page.context["adminform"].form.non_field_errors() == ["somebody must remain an active administrator"]
    page = admin.post(f"/admin/accounts/user/{root.pk}/delete/", {"post": "yes"}, follow=True)
    assert b"somebody must remain an active administrator" in page.content
    assert User.objects.filter(pk=root.pk, role="admin").exists()


def test_a_token_is_shown_once(admin, shop):
    sent = {"user": shop.pk, "name": "orders", "allowed_networks": '["10.0.0.0/8"]', "read_only": "on"}
    page = admin.post("/admin/accounts/apitoken/add/", sent, follow=True)
    text = re.search(r"idc_[A-Za-z0-9_-]{40}", page.content.decode())
    assert text is not None
    found = token_authenticate(text=text[0], address="10.0.0.1", now=timezone.now())
    assert (found.username, found.read_only) == ("shop", True)
    token = ApiToken.objects.get()
    for address in ("", f"{token.pk}/change/"):
        assert text[0] not in admin.get(f"/admin/accounts/apitoken/{address}").content.decode()


def test_tokens_are_revoked_and_never_changed_or_deleted(admin, shop):
    token = token_issue(user=shop, name="orders").token
    assert admin.post(f"/admin/accounts/apitoken/{token.pk}/change/", {"name": "x"}).status_code == 403
    assert admin.post(f"/admin/accounts/apitoken/{token.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "revoke", "_selected_action": [token.pk]}
    assert admin.post("/admin/accounts/apitoken/", chosen).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert Change.objects.filter(kind="token", action="update", actor="root", via="admin").count() == 1


def test_tokens_are_rotated_and_shown_once(admin, shop):
    old = token_issue(user=shop, name="orders").token
    page = admin.get(f"/admin/accounts/apitoken/{old.pk}/change/").content.decode()
    assert "Rotate: a new token like this one" in page
    sent = {"action": "rotate", "_selected_action": [old.pk]}
    page = admin.post("/admin/accounts/apitoken/", sent, follow=True).content.decode()
    (text,) = set(re.findall(r"it can&#x27;t be shown again: ([\w-]+)", page))
    new = token_authenticate(text=text, address="10.0.0.1", now=timezone.now())
    assert (new.username, new.token_id == old.pk) == ("shop", False)
    old.refresh_from_db()
    assert 23 < (old.expires_at - timezone.now()).total_seconds() / 3600 < 24.1
    assert Change.objects.filter(kind="token", action="create", via="admin", actor="root").exists()


def test_one_that_has_ended_is_not_rotated(admin, shop):
    old = token_issue(user=shop, name="orders").token
    sent = {"action": "rotate", "_selected_action": [old.pk]}
    admin.post("/admin/accounts/apitoken/", sent)
    assert "Rotate:" not in admin.get(f"/admin/accounts/apitoken/{old.pk}/change/").content.decode()
    page = admin.post("/admin/accounts/apitoken/", sent, follow=True).content.decode()
    assert "this token was rotated before" in page
    assert ApiToken.objects.count() == 2
