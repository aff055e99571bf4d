"""Taints in the admin: IDCs are tainted for a given time, alone or many at once, and taints are lifted."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from idcsched.inventory.models import Idc, Region, Taint
from idcsched.inventory.services import idc_create, region_create, region_scope_create, taint_create

pytestmark = pytest.mark.usefixtures("db", "in_shanghai")

IDCS, TAINTS, ADD = "/admin/inventory/idc/", "/admin/inventory/taint/", "/admin/inventory/taint/add/"
SAID: dict[str, Any] = {"key": "maintenance", "value": "power", "effect": "NoSchedule", "reason": "UPS"}


@pytest.fixture
def operator(client: Client) -> User:
    user = user_create(username="olga", role="operator")
    client.force_login(user)
    return user


@pytest.fixture
def idcs(guangzhou: Region) -> list[Idc]:
    return [idc_create(code=f"gz-{number}", region=guangzhou) for number in (1, 2, 3)]


def chosen(action: str, rows: list[Any], **fields: Any) -> dict[str, Any]:
    """What a browser sends after rows of a list were ticked."""
    return {"action": action, "index": 0, "select_across": 0, "_selected_action": [row.pk for row in rows], **fields}


def said(response: Any) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


def test_it_works(client: Client, operator: User, idcs: list[Idc]) -> None:
    """Two of three IDCs are tainted for two hours, then the taints are lifted, and the history shows both."""
    asked = client.post(IDCS, chosen("taint", idcs[:2]))
    assert asked.status_code == 200
    assert not Taint.objects.exists()
    assert all(code in asked.content.decode() for code in ("gz-1", "gz-2"))

    before = timezone.now()
    done = client.post(IDCS, chosen("taint", idcs[:2], confirmed=1, lasts="2", message="ticket 7", **SAID))
    assert said(done) == ["Tainted IDCs: 2"]
    taints = list(Taint.objects.order_by("idc"))
    assert [taint.idc.code for taint in taints] == ["gz-1", "gz-2"]
    for taint in taints:
        assert (str(taint), taint.reason) == ("maintenance=power:NoSchedule", "UPS")
        assert taint.starts_at is not None
        assert taint.ends_at is not None
        assert before <= taint.starts_at <= timezone.now()
        assert taint.ends_at - taint.starts_at == timedelta(hours=2)

    page = client.post(IDCS, chosen("lift", idcs)).content.decode()
    assert page.count("maintenance=power:NoSchedule") == 2
    done = client.post(IDCS, chosen("lift", idcs, confirmed=1, taint=[taints[0].pk], message="power is back"))
    assert said(done) == ["Lifted taints: 1"]
    assert list(Taint.objects.all()) == taints[1:]
    recorded = Change.objects.filter(kind="taint", actor="olga", via="admin").order_by("id")
    assert list(recorded.values_list("key", "action", "message")) == [
        ("gz-1/maintenance=power:NoSchedule", "create", "ticket 7"),
        ("gz-2/maintenance=power:NoSchedule", "create", "ticket 7"),
        ("gz-1/maintenance=power:NoSchedule", "delete", "power is back"),
    ]


def test_from_anywhere_many_are_tainted_at_once(client: Client, operator: User, idcs: list[Idc]) -> None:
    """The link in the sidebar leads to a form that takes any IDCs."""
    assert f'href="{ADD}"' in client.get("/admin/metrics_ingest/metric/").content.decode()
    done = client.post(ADD, {**SAID, "idcs": [idc.pk for idc in idcs], "lasts": "1"})
    assert done.status_code == 302
    assert "Tainted IDCs: 3" in said(done)
    assert Taint.objects.count() == 3


def test_a_link_names_idcs(client: Client, operator: User, idcs: list[Idc]) -> None:
    assert client.get(f"{IDCS}{idcs[1].pk}/taint/").headers["Location"] == f"{ADD}?idc=gz-2"
    page = client.get(f"{ADD}?idc=gz-2&idc=gz-3&idc=nowhere")
    assert [str(idc) for idc in page.context["adminform"].form.initial["idcs"]] == ["gz-2", "gz-3"]


def test_all_of_a_list_are_tainted_whatever_the_page_shows(client: Client, operator: User, idcs: list[Idc]) -> None:
    sent = chosen("taint", idcs[:1], confirmed=1, **SAID) | {"select_across": 1}
    client.post(IDCS, sent)
    assert Taint.objects.count() == 3


def test_taints_are_lifted_from_their_own_list(client: Client, operator: User, idcs: list[Idc]) -> None:
    taints = [taint_create(idc=idc, key="k")[0] for idc in idcs]
    asked = client.post(TAINTS, chosen("lift", taints[1:]))
    assert asked.status_code == 200
    assert Taint.objects.count() == 3
    done = client.post(TAINTS, chosen("lift", taints[1:], confirmed=1))
    assert said(done) == ["Lifted taints: 2"]
    assert list(Taint.objects.all()) == taints[:1]


def test_a_planned_maintenance_lasts_from_its_start_on(client: Client, operator: User, idcs: list[Idc]) -> None:
    """Times are typed in the zone of the billing: Shanghai, eight hours before UTC."""
    start = {"starts_at_0": "2027-01-10", "starts_at_1": "02:00:00", "lasts": "4"}
    client.post(ADD, {**SAID, "idcs": [idcs[0].pk], **start})
    taint = Taint.objects.get()
    assert taint.starts_at is not None
    assert taint.ends_at is not None
    assert taint.starts_at.isoformat() == "2027-01-09T18:00:00+00:00"
    assert taint.ends_at.isoformat() == "2027-01-09T22:00:00+00:00"
    assert "2027-01-10 02:00" in client.get(TAINTS).content.decode()


def test_without_a_time_it_stays_until_it_is_lifted(client: Client, operator: User, idcs: list[Idc]) -> None:
    client.post(ADD, {**SAID, "idcs": [idcs[0].pk]})
    assert Taint.objects.values_list("starts_at", "ends_at").get() == (None, None)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"key": ""}, "key"),
    "a key that is too long": ({"key": "k" * 129}, "key"),
    "an effect that is not there": ({"effect": "NoWay"}, "effect"),
    "a duration that is not offered": ({"lasts": "-1"}, "lasts"),
    "both a duration and an end": ({"lasts": "1", "ends_at_0": "2027-01-01", "ends_at_1": "00:00"}, "ends_at"),
    "both a night and a start": ({"lasts": "night", "starts_at_0": "2027-01-01", "starts_at_1": "00:00"}, "lasts"),
    "half a time": ({"starts_at_0": "2027-01-01", "starts_at_1": "noon"}, "starts_at"),
}


@pytest.mark.parametrize(("wrong", "field"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("way", ["list", "form"])
def test_a_mistake_is_said_at_its_field_and_changes_nothing(
    client: Client, operator: User, idcs: list[Idc], way: str, wrong: dict[str, Any], field: str
) -> None:
    fields = {**SAID, **wrong}
    if way == "list":
        page = client.post(IDCS, chosen("taint", idcs, confirmed=1, **fields))
        form = page.context["form"]
    else:
        page = client.post(ADD, {**fields, "idcs": [idcs[0].pk]})
        form = page.context["adminform"].form
    assert page.status_code == 200
    assert set(form.errors) == {field}
    assert not Taint.objects.exists()


def test_an_end_before_the_start_is_refused(client: Client, operator: User, idcs: list[Idc]) -> None:
    wrong = {"starts_at_0": "2027-01-02", "starts_at_1": "0:00", "ends_at_0": "2027-01-01", "ends_at_1": "0:00"}
    page = client.post(ADD, {**SAID, **wrong, "idcs": [idcs[0].pk]})
    assert "The end must be after the start." in page.content.decode()
    assert not Taint.objects.exists()


def test_one_that_has_it_already_keeps_all_from_it(client: Client, operator: User, idcs: list[Idc]) -> None:
    taint_create(idc=idcs[1], key="maintenance", value="power")
    page = client.post(IDCS, chosen("taint", idcs, confirmed=1, **SAID), follow=True)
    assert "The IDC has this taint already." in page.content.decode()
    assert Taint.objects.count() == 1


@pytest.mark.parametrize("action", ["taint", "lift"])
def test_an_operator_stays_in_his_regions(client: Client, operator: User, idcs: list[Idc], action: str) -> None:
    outside = idc_create(code="far", region=region_create(code="north"))
    taint_create(idc=outside, key="k")
    region_scope_create(user=operator, region=idcs[0].region)
    taints = [taint.pk for taint in Taint.objects.all()]
    done = client.post(IDCS, chosen(action, [*idcs, outside], confirmed=1, taint=taints, **SAID), follow=True)
    assert "far lies outside of your regions" in done.content.decode()
    assert list(Taint.objects.values_list("idc__code", "key")) == [("far", "k")]
    done = client.post(TAINTS, chosen("lift", list(Taint.objects.all()), confirmed=1), follow=True)
    assert "far lies outside of your regions" in done.content.decode()
    assert Taint.objects.count() == 1


def test_a_viewer_is_offered_nothing(client: Client, idcs: list[Idc]) -> None:
    (taint,) = taint_create(idc=idcs[0], key="k")
    client.force_login(user_create(username="vera", role="viewer"))
    page = client.get(IDCS).content.decode()
    assert ADD not in page
    assert 'name="action"' not in page
    client.post(IDCS, chosen("taint", idcs, confirmed=1, **SAID))
    client.post(TAINTS, chosen("lift", [taint], confirmed=1))
    assert client.get(f"{IDCS}{idcs[0].pk}/taint/").status_code == 403
    assert client.get(ADD).status_code == 403
    assert list(Taint.objects.all()) == [taint]


def test_the_list_shows_where_each_stands_in_time(client: Client, operator: User, idcs: list[Idc]) -> None:
    now, hour = timezone.now(), timedelta(hours=1)
    taint_create(idc=idcs[0], key="during", starts_at=now - hour, ends_at=now + hour)
    taint_create(idc=idcs[0], key="before", starts_at=now + hour)
    taint_create(idc=idcs[0], key="after", ends_at=now - hour)
    for state, key in (("in_force", "during"), ("coming", "before"), ("over", "after")):
        page = client.get(f"{TAINTS}?state={state}").content.decode()
        assert [f"{one}:NoSchedule" in page for one in ("during", "before", "after")] == [
            one == key for one in ("during", "before", "after")
        ]
    assert client.get(f"{TAINTS}?state=nonsense").status_code in {200, 302}
    listed = client.get(IDCS).content.decode()
    assert "during:NoSchedule" in listed
    assert "before:NoSchedule" not in listed
