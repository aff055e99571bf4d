"""The history in the admin: that of one row, also under its former names, and that of everything."""

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.change_display import changed_fields, kind_name, kinds
from idcsched.audit.history import changes_of
from idcsched.audit.models import Change
from idcsched.audit.services import change_record
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, idc_update, region_create, taint_create

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(user_create(username="root", role="admin"))
    return client


@pytest.fixture
def idc(db: None) -> Idc:
    return idc_create(code="gz-1", region=region_create(code="A"), lines=[])


def history(client: Client, idc: Idc) -> str:
    return client.get(f"/admin/inventory/idc/{idc.pk}/history/").content.decode()


def test_it_works(admin: Client, idc: Idc) -> None:
    """The history of a row shows its old and new values, who changed it, by which request, and why."""
    management = {"lines-TOTAL_FORMS": 0, "lines-INITIAL_FORMS": 0}
    sent = {"code": "gz-1", "region": idc.region.pk, "tier": "edge", "status": "draining", "labels": "{}", **management}
    page = f"/admin/inventory/idc/{idc.pk}/change/"
    done = admin.post(page, {**sent, "message": "the lease <ends>"}, headers={"X-Request-ID": "req-77"})
    assert done.status_code == 302
    shown = history(admin, idc)
    for text in ("root", "<del>online</del>", "<ins>draining</ins>", "the lease &lt;ends&gt;", "req-77", "created"):
        assert text in shown


def test_a_row_is_followed_through_its_names(idc: Idc) -> None:
    idc = idc_update(idc=idc, changes={"code": "gz-2"})
    idc = idc_update(idc=idc, changes={"code": "gz-3"})
    idc_update(idc=idc, changes={"name": "three"})
    assert [(change.key, change.action) for change in changes_of("idc", "gz-3")] == [
        ("gz-3", "update"),
        ("gz-2", "update"),
        ("gz-1", "update"),
        ("gz-1", "create"),
    ]


def test_names_that_go_round_end(idc: Idc) -> None:
    for code in ("b", "gz-1", "b", "gz-1"):
        idc = idc_update(idc=idc, changes={"code": code})
    assert changes_of("idc", "gz-1").count() == 5


def test_the_parts_of_a_row_are_in_its_history(admin: Client, idc: Idc) -> None:
    taint_create(idc=idc, key="disks")
    taint_create(idc=idc_create(code="gz-10", region="A"), key="other")
    shown = history(admin, idc)
    assert "gz-1/disks:NoSchedule" in shown
    assert "other" not in shown


def test_long_histories_come_in_pages(admin: Client, idc: Idc, django_assert_max_num_queries: object) -> None:
    for number in range(30):
        idc_update(idc=idc, changes={"name": f"name-{number}"})
    first = history(admin, idc)
    assert "1 / 2" in first
    assert "name-29" in first
    second = admin.get(f"/admin/inventory/idc/{idc.pk}/history/?p=2").content.decode()
    assert "name-0<" in second
    assert admin.get(f"/admin/inventory/idc/{idc.pk}/history/?p=nonsense").status_code == 200


def test_the_global_list_is_filtered(admin: Client, idc: Idc) -> None:
    taint_create(idc=idc, key="disks")
    page = admin.get("/admin/audit/change/?kind=taint").content.decode()
    assert "gz-1/disks:NoSchedule" in page
    assert admin.get("/admin/audit/change/?q=disks&action__exact=create").status_code == 200
    change = Change.objects.latest("id")
    assert "<dd>disks</dd>" in admin.get(f"/admin/audit/change/{change.pk}/change/").content.decode()
    assert admin.get(f"/admin/audit/change/{change.pk}/history/").status_code == 404


def test_a_row_that_is_gone_has_no_page(admin: Client) -> None:
    assert admin.get("/admin/inventory/idc/4711/history/").status_code == 302
    assert admin.get("/admin/inventory/idc/nonsense/history/").status_code == 302


def test_a_portal_sees_none(client: Client, idc: Idc) -> None:
    client.force_login(user_create(username="shop", role="portal"))
    assert client.get(f"/admin/inventory/idc/{idc.pk}/history/").status_code == 302


def test_what_is_empty_is_not_shown() -> None:
    change = change_record(kind="idc", key="a", before=None, after={"name": "", "labels": {"x": "y"}, "stock_cpu": 0})
    assert change is not None
    assert [(field.label, field.after) for field in changed_fields(change)] == [
        ("Labels", '{"x": "y"}'),
        ("CPU cores for sale", "0"),
    ]


def test_what_a_field_or_a_kind_was_once_called_is_shown_as_it_was() -> None:
    change = change_record(kind="gone", key="a", before={"colour": "red"}, after={"colour": "blue"})
    assert change is not None
    assert [(field.label, field.before, field.after) for field in changed_fields(change)] == [("Colour", "red", "blue")]
    assert kind_name("gone") == "gone"
    assert kinds()["profile"] == "profile"


def test_somebody_of_one_tenant_sees_there_what_he_may_see_elsewhere(client: Client, idc: Idc) -> None:
    client.force_login(user_create(username="vera", role="viewer", tenant=tenant_create(code="shop")))
    assert "Nothing is recorded about this." in history(client, idc)
    client.force_login(user_create(username="hugo", role="viewer"))
    assert "created" in history(client, idc)


def test_times_and_numbers_are_shown_as_people_write_them() -> None:
    after = {"starts_at": "2031-01-02T18:30:00.5+00:00", "purchased_mbps": 8000.0, "max_level": 0.85, "name": "2031-01"}
    change = change_record(kind="line", key="a/ct", before=None, after=after)
    assert change is not None
    with timezone.override("Asia/Shanghai"):
        shown = {field.name: field.after for field in changed_fields(change)}
    assert shown == {"starts_at": "2031-01-03 02:30", "purchased_mbps": "8000", "max_level": "0.85", "name": "2031-01"}
