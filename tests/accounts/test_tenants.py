"""Tenants."""

import pytest
from django.db import IntegrityError, transaction

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, tenant_delete, tenant_update, user_create
from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid

pytestmark = pytest.mark.usefixtures("db")


def test_it_works():
    tenant = tenant_create(code="live-cn", callback_hosts=["portal.example.com", "10.0.0.7"], quota_machines=100)
    tenant = tenant_update(tenant=tenant, changes={"name": "Live", "quota_bandwidth_mbps": 5000})
    assert str(tenant) == "Live"
    tenant_delete(tenant=tenant)
    assert list(Change.objects.filter(kind="tenant").values_list("action", flat=True)) == ["delete", "update", "create"]
    assert FeedEntry.objects.filter(topic="tokens", key="live-cn").count() == 3


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"code": "live cn"}, "/code", "invalid_code", id="a blank in the code"),
        pytest.param(
            {"callback_hosts": ["https://x"]}, "/callback_hosts", "invalid_host", id="an address with a scheme"
        ),
        pytest.param({"callback_hosts": ["x:80"]}, "/callback_hosts", "invalid_host", id="a host with a port"),
        pytest.param({"callback_hosts": [7]}, "/callback_hosts", "invalid_host", id="a number for a host"),
        pytest.param({"default_profile": "-x"}, "/default_profile", "invalid_code", id="no profile's code"),
        pytest.param({"quota_machines": -1}, "/quota_machines", "out_of_range", id="fewer than no machines"),
        pytest.param({"quota_bandwidth_mbps": float("inf")}, "/quota_bandwidth_mbps", "not_finite", id="no end"),
    ],
)
def test_a_tenant_is_not_created(fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        tenant_create(**({"code": "live-cn"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)


def test_hosts_are_a_list():
    with pytest.raises(Invalid) as caught:
        tenant_update(tenant=tenant_create(code="live-cn"), changes={"callback_hosts": "portal.example.com"})
    assert caught.value.code == "invalid_host"


def test_a_code_is_taken_once():
    tenant_create(code="live-cn")
    with pytest.raises(Conflict) as caught:
        tenant_create(code="live-cn")
    assert caught.value.code == "already_exists"


def test_one_with_users_stays():
    tenant = tenant_create(code="live-cn")
    user_create(username="shop", tenant=tenant)
    with pytest.raises(Conflict) as caught:
        tenant_delete(tenant=tenant)
    assert (caught.value.code, caught.value.detail) == ("in_use", "in use by user shop")


@pytest.mark.parametrize(
    "fields", [{"quota_bandwidth_mbps": -1}, {"quota_machines": -1}, {"quota_bandwidth_mbps": float("inf")}], ids=str
)
def test_the_database_refuses(fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Tenant.objects.create(code="x", **fields)


def test_the_database_knows_a_code_once():
    Tenant.objects.create(code="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Tenant.objects.create(code="x")
