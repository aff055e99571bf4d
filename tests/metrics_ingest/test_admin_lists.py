"""Lists in the admin over 1,000 IDCs: a bounded number of queries, whatever is searched, filtered and ordered."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from metrics_ingest.models import Latest, Metric
from tests.database import Pristine

pytestmark = pytest.mark.usefixtures("db")

COUNT = 1_000
QUERIES = 16
PAGES = [
    "inventory/idc/",
    "inventory/idc/?q=i-99",
    "inventory/idc/?status__exact=online&tier__exact=edge&o=-2",
    "inventory/idc/?lines__isp={isp}",
    "inventory/idc/?p=5",
    "inventory/line/",
    "inventory/line/?q=i-99",
    "inventory/taint/",
    "inventory/taint/?state=in_force&effect__exact=NoSchedule",
    "inventory/affinity/",
    "inventory/region/",
    "metrics_ingest/latest/",
    "metrics_ingest/latest/?q=i-99",
    "audit/change/",
    "audit/change/?kind=taint&q=i-99",
]


@pytest.fixture(scope="module")
def many(pristine: Pristine, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """1,000 IDCs of 100 regions, each with a line, a taint, a value, and a change of each: for all tests here."""
    with django_db_blocker.unblock():
        _write_many()
        with pristine.extended():
            yield


def _write_many() -> None:
    regions = Region.objects.bulk_create(Region(code=f"r-{number}") for number in range(100))
    isp = Isp.objects.create(code="ct")
    idcs = Idc.objects.bulk_create(
        (Idc(code=f"i-{number}", region=regions[number % 100]) for number in range(COUNT)), batch_size=500
    )
    Line.objects.bulk_create((Line(idc=idc, code="ct", isp=isp, purchased_mbps=1) for idc in idcs), batch_size=500)
    Taint.objects.bulk_create((Taint(idc=idc, key="k") for idc in idcs), batch_size=500)
    Affinity.objects.bulk_create((Affinity(idc=idc, kind="forbid") for idc in idcs[:1000]), batch_size=500)
    cpu, now = Metric.objects.get(code="cpu_load"), timezone.now()
    Latest.objects.bulk_create((Latest(metric=cpu, idc=idc, value=0.5, at=now) for idc in idcs), batch_size=500)
    Change.objects.bulk_create(
        (
            Change(actor="x", via="api", action="create", kind="taint", key=f"{idc.code}/k:NoSchedule", after={})
            for idc in idcs
        ),
        batch_size=500,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # the planner would take the tables for empty as long as nobody has counted


@pytest.mark.no_cover
def test_it_works(many: None, client: Client, django_assert_max_num_queries: Callable[..., Any]) -> None:
    client.force_login(user_create(username="root", role="admin"))
    isp = Isp.objects.get(code="ct").pk
    for page in (page.format(isp=isp) for page in PAGES):
        with django_assert_max_num_queries(QUERIES, info=page):
            answer = client.get(f"/admin/{page}")
        assert answer.status_code == 200, page
        assert len(answer.context["cl"].result_list) > 0, page


@pytest.mark.no_cover
def test_an_idc_is_found_by_typing(
    many: None, client: Client, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    """The autocompletion of a form finds an IDC with at most eight queries."""
    client.force_login(user_create(username="olga", role="operator"))
    asked = {"app_label": "inventory", "model_name": "taint", "field_name": "idc", "term": "i-999"}
    with django_assert_max_num_queries(8):
        answer = client.get("/admin/autocomplete/", asked).json()
    assert "i-999" in {result["text"] for result in answer["results"]}
    assert not answer["pagination"]["more"]
