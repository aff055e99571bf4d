"""The admin's front page: taints in force and coming, the latest decisions and changes, as far as one may see them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import tenant_create, user_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, region_create, taint_create
from idcsched.scheduling.models import Decision

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def idc() -> Idc:
    region_create(code="A")
    return idc_create(code="gz-1", region="A", status="draining")


def shown(client: Client, role: str, **fields: Any) -> str:
    client.force_login(user_create(username=f"the-{role}", role=role, **fields))
    return " ".join(client.get("/admin/").content.decode().split())


def decided(**fields: Any) -> Decision:
    answer = {"summary": "1/1 IDCs fit"}
    values = {"result": "scheduled", "idc": "gz-1", "profile": "p", "profile_revision": 1, "request": {}}
    return Decision.objects.create(created_at=timezone.now(), answer=answer, **{**values, **fields})


def test_it_works(client: Client, idc: Idc) -> None:
    now, hour = timezone.now(), timedelta(hours=1)
    taint_create(idc=idc, key="now")
    taint_create(idc=idc, key="soon", starts_at=now + hour)
    taint_create(idc=idc, key="over", ends_at=now - hour)
    decided(request_id="order <1>")
    page = shown(client, "operator")
    assert "<strong>1</strong> draining" in page
    for text in ("now:NoSchedule", "soon:NoSchedule", "order &lt;1&gt;", "1/1 IDCs fit", "gz-1/now:NoSchedule"):
        assert text in page
    assert page.index("Latest changes") < page.index("over:NoSchedule"), "what is over is history"


def test_somebody_of_one_tenant_sees_its_decisions_alone(client: Client, idc: Idc) -> None:
    own, other = tenant_create(code="own"), tenant_create(code="other")
    decided(request_id="mine", tenant=own)
    decided(request_id="theirs", tenant=other)
    page = shown(client, "viewer", tenant=own)
    assert ("mine" in page, "theirs" in page) == (True, False)


def test_where_there_is_nothing_it_says_so(client: Client) -> None:
    assert "none" in shown(client, "viewer")


def test_it_takes_a_bounded_number_of_queries(
    client: Client, idc: Idc, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(30):
        taint_create(idc=idc, key=f"k-{number}")
        decided(request_id=f"order-{number}")
    shown(client, "operator")
    with django_assert_max_num_queries(10):
        client.get("/admin/")
