"""The inventory's admin pages: they write through the services, and permissions follow the roles."""

import re

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.models import Change
from idcsched.inventory.models import Affinity, Idc, Region, RegionScope, Taint
from idcsched.inventory.services import (
    affinity_create,
    idc_create,
    region_create,
    region_scope_create,
    taint_create,
)
from idcsched.provisioning.services import provider_create

pytestmark = pytest.mark.usefixtures("db")

MODELS = ["region", "isp", "idc", "line", "taint", "affinity"]


def login(client: Client, role: str) -> User:
    user = user_create(username=f"the-{role}", role=role)
    client.force_login(user)
    return user


@pytest.fixture
def admin(client: Client) -> Client:
    login(client, Role.ADMIN)
    return client


@pytest.fixture
def operator(client: Client) -> User:
    return login(client, Role.OPERATOR)


def idc_form(region: Region, **fields: object) -> dict[str, object]:
    """The fields of an IDC's page as a browser sends them, without lines."""
    sent = {"code": "gz-ct-01", "region": region.pk, "tier": "edge", "status": "online", "labels": "{}"}
    management = {"lines-TOTAL_FORMS": 0, "lines-INITIAL_FORMS": 0}
    return sent | management | fields


def messages_of(response: object) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


def test_it_works(admin, guangzhou, ct):
    lines = {
        "lines-TOTAL_FORMS": 1,
        "lines-0-code": "",
        "lines-0-isp": ct.pk,
        "lines-0-purchased_mbps": 1000,
        "lines-0-charge_type": "p95_month",
    }
    assert admin.post("/admin/inventory/idc/add/", idc_form(guangzhou, **lines)).status_code == 302
    idc = Idc.objects.get()
    line = idc.lines.get()
    assert (line.code, line.purchased_mbps) == ("ct", 1000)
    assert set(Change.objects.filter(via="admin").values_list("actor", "action", "kind", "key")) == {
        ("the-admin", "create", "idc", "gz-ct-01"),
        ("the-admin", "create", "line", "gz-ct-01/ct"),
    }

    lines |= {"lines-INITIAL_FORMS": 1, "lines-0-id": line.pk, "lines-0-idc": idc.pk, "lines-0-purchased_mbps": 2000}
    changed = idc_form(guangzhou, status="draining", **lines)
    assert admin.post(f"/admin/inventory/idc/{idc.pk}/change/", changed).status_code == 302
    idc.refresh_from_db()
    assert (idc.status, idc.lines.get().purchased_mbps) == ("draining", 2000)
    recorded = Change.objects.filter(action="update").order_by("kind").values_list("kind", "after")
    assert list(recorded) == [("idc", {"status": "draining"}), ("line", {"purchased_mbps": 2000.0})]

    gone = {**changed, "lines-0-DELETE": "on"}
    assert admin.post(f"/admin/inventory/idc/{idc.pk}/change/", gone).status_code == 302
    assert not idc.lines.exists()
    assert admin.post(f"/admin/inventory/idc/{idc.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Idc.objects.exists()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("role", "may_see", "may_write"),
    [
        ("viewer", MODELS, []),
        ("operator", MODELS, ["taint", "affinity"]),
        ("admin", MODELS, MODELS),
        ("portal", [], []),
    ],
)
def test_a_role_may(client, model, role, may_see, may_write):
    login(client, role)
    seen, write = (client.get(f"/admin/inventory/{model}/{page}").status_code for page in ("", "add/"))
    refused = {302, 403}
    assert (seen == 200) if model in may_see else (seen in refused)
    assert (write == 200) if model in may_write else (write in refused)


def test_region_scopes_are_for_administrators(client, operator):
    assert client.get("/admin/inventory/regionscope/").status_code == 403


def test_every_page_shows(admin, idc):
    taint_create(idc=idc, key="k")
    affinity_create(idc=idc, kind="prefer", weight=1)
    for model in MODELS:
        rows = {"region": Region, "idc": Idc, "taint": Taint, "affinity": Affinity}.get(model)
        row = rows.objects.first() if rows else (idc.lines.get() if model == "line" else idc.lines.get().isp)
        for page in ("?q=gz", f"{row.pk}/change/", f"{row.pk}/delete/"):
            assert admin.get(f"/admin/inventory/{model}/{page}").status_code == 200


def test_a_viewer_sees_without_touching(client, idc):
    login(client, Role.VIEWER)
    page = client.get(f"/admin/inventory/idc/{idc.pk}/change/")
    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert client.post(f"/admin/inventory/idc/{idc.pk}/change/", {}).status_code == 403


def test_what_a_service_refuses_is_shown_in_the_form_with_what_was_filled_in(admin, south, guangzhou):
    sent = {"code": "south", "name": "filled in", "parent": guangzhou.pk, "labels": "{}"}
    page = admin.post(f"/admin/inventory/region/{south.pk}/change/", sent)
    assert page.status_code == 200
    assert page.context["adminform"].form.errors == {"parent": ["440100 is the region itself or lies in it"]}
    assert b"filled in" in page.content
    south.refresh_from_db()
    assert south.name == ""


def test_what_names_no_field_of_the_form_is_shown_above_it(admin, ct, cu):
    page = admin.post(f"/admin/inventory/isp/{cu.pk}/change/", {"code": "cu", "aliases": '["telecom"]'})
    assert page.context["adminform"].form.errors == {"aliases": ["0: telecom means ct already"]}


def test_what_a_form_can_check_it_checks(admin, guangzhou):
    page = admin.post("/admin/inventory/idc/add/", idc_form(guangzhou, code="no code", latitude="1", labels="[]"))
    assert set(page.context["adminform"].form.errors) == {"code", "labels", "__all__"}


def test_what_is_needed_is_not_deleted(admin, guangzhou, idc):
    admin.post(f"/admin/inventory/region/{guangzhou.pk}/delete/", {"post": "yes"})
    assert Region.objects.filter(pk=guangzhou.pk).exists()


def test_many_are_deleted_by_the_service(admin, idc):
    idc_create(code="b", region="440100")
    chosen = {"action": "delete_selected", "_selected_action": [one.pk for one in Idc.objects.all()], "post": "yes"}
    assert admin.post("/admin/inventory/idc/", chosen).status_code == 302
    assert not Idc.objects.exists()
    assert Change.objects.filter(kind="idc", action="delete", via="admin").count() == 2


def test_an_operator_taints_and_lifts(client, operator, idc):
    sent = {"idcs": idc.pk, "key": "maintenance", "effect": "NoSchedule", "reason": "disks"}
    assert client.post("/admin/inventory/taint/add/", sent).status_code == 302
    taint = Taint.objects.get()
    assert client.post(f"/admin/inventory/taint/{taint.pk}/change/", sent | {"value": "x"}).status_code == 302
    assert Taint.objects.get().value == "x"
    assert client.post(f"/admin/inventory/taint/{taint.pk}/delete/", {"post": "yes"}).status_code == 302
    actions = Change.objects.filter(kind="taint", actor="the-operator", via="admin").order_by("id")
    assert list(actions.values_list("action", flat=True)) == ["create", "update", "delete"]


def test_an_operator_prefers(client, operator, idc):
    sent = {"kind": "prefer", "weight": 5, "idc": idc.pk, "selector": "", "request_selector": "null"}
    assert client.post("/admin/inventory/affinity/add/", sent).status_code == 302
    assert (Affinity.objects.get().weight, Affinity.objects.get().selector) == (5, None)


def test_an_unknown_fact_is_shown_at_the_selector(client, operator):
    sent = {"kind": "forbid", "selector": '{"match_labels": {"idc/nope": "x"}}', "request_selector": "null"}
    form = client.post("/admin/inventory/affinity/add/", sent).context["adminform"].form
    assert "there is no idc/nope" in form.errors["selector"][0]
    assert not Affinity.objects.exists()


def test_a_long_document_has_a_line_for_each_entry_and_an_absent_one_none(admin, client, idc):
    idc.labels = {"owner": "partner"} | {f"key-{number}": "x" * 20 for number in range(4)}
    idc.save()
    affinity = affinity_create(idc=idc.code, kind="forbid", request_selector={"match_labels": {"a": "b"}})

    shown = client.get(f"/admin/inventory/idc/{idc.pk}/change/").content.decode()
    form = client.get(f"/admin/inventory/affinity/{affinity.pk}/change/").context["adminform"].form

    assert "\n  &quot;owner&quot;: &quot;partner&quot;" in shown
    assert ">{&quot;match_labels&quot;: {&quot;a&quot;: &quot;b&quot;}}<" in str(form["request_selector"])
    assert "null" not in str(form["selector"])


def test_an_operator_stays_in_his_regions(client, operator, idc):
    north = region_create(code="north")
    region_scope_create(user=operator, region=north)
    page = client.post("/admin/inventory/taint/add/", {"idcs": idc.pk, "key": "k", "effect": "NoSchedule"})
    assert page.context["adminform"].form.non_field_errors() == ["gz-ct-01 lies outside of your regions"]
    (taint,) = taint_create(idc=idc, key="k")
    assert client.post(f"/admin/inventory/taint/{taint.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "lift", "_selected_action": taint.pk, "confirmed": "1"}
    assert messages_of(client.post("/admin/inventory/taint/", chosen)) == ["gz-ct-01 lies outside of your regions"]
    assert Taint.objects.count() == 1


def test_an_operator_of_some_regions_has_no_buttons_that_refuse(client, operator, guangzhou, idc):
    region_scope_create(user=operator, region=region_create(code="north"))
    (taint,) = taint_create(idc=idc, key="k")
    pages = [
        f"/admin/inventory/taint/{taint.pk}/change/",
        f"/admin/inventory/affinity/{affinity_create(idc=idc, kind='forbid').pk}/change/",
        f"/admin/inventory/affinity/{affinity_create(selector={'match_labels': {'a': 'b'}}, kind='forbid').pk}/change/",
        f"/admin/inventory/idc/{idc.pk}/change/",
    ]

    def offered():
        texts = [client.get(page).content.decode() for page in pages]
        return ["_save" in text or "/delete/" in text or f"/idc/{idc.pk}/taint/" in text for text in texts]

    assert offered() == [False, False, False, False]
    region_scope_create(user=operator, region=guangzhou)
    assert offered() == [True, True, False, True]


@pytest.mark.parametrize(
    ("page", "fields", "colour"),
    [
        ("taint", {"effect": "NoSchedule"}, "red"),
        ("taint", {"effect": "PreferNoSchedule"}, "orange"),
        ("affinity", {"kind": "prefer", "weight": 5}, "green"),
        ("affinity", {"kind": "prefer", "weight": -5}, "orange"),
        ("affinity", {"kind": "require"}, "orange"),
        ("affinity", {"kind": "forbid"}, "red"),
    ],
)
def test_red_is_what_keeps_orders_off(admin, idc, page, fields, colour):
    taint_create(idc=idc, key="k", **fields) if page == "taint" else affinity_create(idc=idc, **fields)
    listed = admin.get(f"/admin/inventory/{page}/").content.decode()
    assert re.search(r"bg-(\w+)-100[^>]*>\s*in force", listed)[1] == colour


def test_a_retired_idc_is_called_so_in_the_reader_s_language(admin, idc):
    Idc.objects.update(status="retired")
    listed = admin.get("/admin/inventory/idc/", headers={"accept-language": "zh-hans"}).content.decode()
    assert re.search(r"<span[^>]*>\s*已退役\s*</span>", listed)


def test_a_choice_is_offered_where_there_is_one(admin, idc):
    """A field of codes offers the codes that exist, and the code that the row has even if nothing has that code any
    more.
    """
    provider_create(code="edge-vm", kind="simulated")
    Idc.objects.update(provider="gone")

    def options(page, field):
        return [value for value, _label in admin.get(page).context["adminform"].form.fields[field].choices]

    tenant_create(code="shop")
    assert options(f"/admin/inventory/idc/{idc.pk}/change/", "provider") == ["", "edge-vm", "gone"]
    assert options("/admin/accounts/user/add/", "language") == ["", "en", "zh-hans"]
    assert options("/admin/accounts/tenant/add/", "default_profile")[:2] == ["", "bandwidth-first"]
    assert options("/admin/metrics_ingest/source/add/", "kind") == ["csv", "http_json", "prometheus", "sql", "zabbix"]
    assert options("/admin/placement/provider/add/", "kind") == ["libcloud", "openstack", "simulated", "webhook"]

    changed = idc_form(idc.region, provider="edge-vm")
    assert admin.post(f"/admin/inventory/idc/{idc.pk}/change/", changed).status_code == 302
    assert Idc.objects.get().provider == "edge-vm"


def test_a_line_is_edited_on_its_own_page_too(admin, idc, cu):
    sent = {"idc": idc.pk, "isp": cu.pk, "purchased_mbps": 5, "charge_type": "fixed"}
    assert admin.post("/admin/inventory/line/add/", sent).status_code == 302
    line = idc.lines.get(code="cu")
    assert admin.post(f"/admin/inventory/line/{line.pk}/change/", sent | {"code": "cu", "purchased_mbps": 6})
    line.refresh_from_db()
    assert line.purchased_mbps == 6


def test_scopes_are_given_and_taken(admin, south):
    operator = user_create(username="olga", role=Role.OPERATOR)
    sent = {"user": operator.pk, "region": south.pk}
    assert admin.post("/admin/inventory/regionscope/add/", sent).status_code == 302
    scope = RegionScope.objects.get()
    assert admin.post(f"/admin/inventory/regionscope/{scope.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not RegionScope.objects.exists()


def test_lists_take_a_bounded_number_of_queries(admin, guangzhou, ct, django_assert_max_num_queries, subtests):
    for number in range(30):
        idc = idc_create(code=f"i-{number}", region=guangzhou, lines=[{"isp": ct, "purchased_mbps": 1}])
        taint_create(idc=idc, key="k")
        affinity_create(idc=idc, kind="forbid")
    for model in MODELS:
        with subtests.test(model), django_assert_max_num_queries(16):
            assert admin.get(f"/admin/inventory/{model}/").status_code == 200


@pytest.mark.parametrize(("role", "warned"), [("operator", False), ("viewer", True), ("admin", True)])
def test_a_scope_of_somebody_who_is_no_operator_is_said_to_have_no_effect(admin, south, role, warned):
    user = user_create(username="somebody", role=role)
    page = admin.post("/admin/inventory/regionscope/add/", {"user": user.pk, "region": south.pk}, follow=True)
    assert ("the region has no effect" in page.content.decode()) is warned
    assert ("none: no operator" in page.content.decode()) is warned
