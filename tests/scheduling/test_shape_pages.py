"""The admin pages of shapes."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from idcsched.accounts.services import tenant_create, user_create
from idcsched.scheduling.models import Shape
from idcsched.scheduling.shapes import shape_create, shapes_learnt_store
from metrics_ingest.billing.shape_evidence import LearnedShape, Verdict

pytestmark = pytest.mark.usefixtures("db")

LIST, ADD = "/admin/scheduling/shape/", "/admin/scheduling/shape/add/"
DAY = [1.0] * 12 + [4.0] * 12


def signed_in(role: str, tenant: str | None = None) -> Client:
    client = Client(SERVER_NAME="localhost")
    client.force_login(user_create(username=f"{role}-{tenant}", role=role, tenant=tenant))
    return client


@pytest.fixture
def of_all_tenants() -> list[Shape]:
    for code in ("cn", "us"):
        tenant_create(code=code)
    return [shape_create(business="live", tenant=tenant, entered=DAY) for tenant in (None, "cn", "us")]


def test_it_works() -> None:
    operator = signed_in("operator")
    answer = operator.post(ADD, {"business": "live", "tenant": "", "entered": str(DAY)})
    assert answer.status_code == 302
    (shape,) = Shape.objects.all()
    assert (shape.business, shape.entered) == ("live", DAY)
    assert "<polyline" in operator.get(LIST).content.decode()
    page = operator.get(f"{LIST}{shape.pk}/change/").content.decode()
    assert "<polyline" in page
    assert 'name="business"' not in page


@pytest.mark.parametrize("entered", ["[1, 2]", "[0]", "{}", "nothing", "[1, -1]", ""])
def test_what_is_no_shape_is_refused(entered: str) -> None:
    answer = signed_in("operator").post(ADD, {"business": "live", "entered": entered})
    assert answer.status_code == 200
    assert not Shape.objects.exists()


def test_the_same_business_twice_is_refused_in_the_form(of_all_tenants: list[Shape]) -> None:
    answer = signed_in("operator").post(ADD, {"business": "live", "tenant": "", "entered": str(DAY)})
    assert "There is a shape of this business of all tenants already." in answer.content.decode()


def test_a_user_of_a_tenant_sees_its_shapes_and_those_of_all_tenants(of_all_tenants: list[Shape]) -> None:
    page = signed_in("operator", "cn").get(LIST).content.decode()
    shown = [f"/admin/scheduling/shape/{shape.pk}/change/" in page for shape in of_all_tenants]
    assert shown == [True, True, False]


def test_a_user_of_a_tenant_writes_that_tenants_alone(of_all_tenants: list[Shape]) -> None:
    operator, others = signed_in("operator", "cn"), [1.0] * 24
    written = []
    for shape in of_all_tenants:
        operator.post(f"{LIST}{shape.pk}/change/", {"entered": str(others)})
        shape.refresh_from_db()
        written.append(shape.entered == others)
    assert written == [False, True, False]
    tenants = {shape.tenant.code if shape.tenant else "": shape.tenant_id or "" for shape in of_all_tenants}
    made = [
        operator.post(ADD, {"business": "vod", "tenant": key, "entered": str(DAY)}).status_code == 302
        for key in (tenants[""], tenants["us"], tenants["cn"])
    ]
    assert made == [False, False, True]


@pytest.mark.parametrize("role", ["viewer", "portal"])
def test_who_may_only_look(role: str, of_all_tenants: list[Shape]) -> None:
    client = signed_in(role)
    if client.get(LIST).status_code == 200:
        assert client.post(ADD, {"business": "vod", "entered": str(DAY)}).status_code == 403
    assert Shape.objects.count() == 3


def test_what_was_learnt_is_shown_beside_what_was_entered() -> None:
    trusted = LearnedShape(
        verdict=Verdict.TRUSTED, shape=tuple([0.5] * 84 + [1.0] * 84), use=0.7, days=40.8, lines=14.2, error=0.07
    )
    mixed = LearnedShape(verdict=Verdict.MIXED, days=40.8, lines=14.2, error=0.07)
    shapes_learnt_store(
        learned={(None, "live"): trusted, (None, "any"): mixed}, now=datetime(2031, 5, 7, 20, tzinfo=UTC)
    )
    live = shape_create(business="live", entered=DAY)
    operator = signed_in("operator")
    page = operator.get(LIST).content.decode()
    assert "14 lines, 41 days, error 7%" in page
    assert "mixed: the shapes of single orders differ too much" in page
    assert page.count("<polyline") == 2
    page = operator.get(f"{LIST}{live.pk}/change/").content.decode()
    assert page.count("<polyline") == 2
    operator.post(f"{LIST}{live.pk}/change/", {"entered": ""})
    live.refresh_from_db()
    assert live.entered is None
    assert operator.get(f"{LIST}?verdict__exact=mixed").content.decode().count("<polyline") == 0
