"""Looking at metrics and the ledger in the admin, and defining metrics there."""

import pytest
from django.test import Client

from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from idcsched.ledger.models import Holding
from metrics_ingest.models import Metric
from metrics_ingest.services import Sample, rollups_refresh, samples_store

pytestmark = pytest.mark.usefixtures("db")

READ_ONLY = [
    "audit/change",
    "ledger/holding",
    "ledger/claim",
    "ledger/headcount",
    "metrics_ingest/latest",
    "metrics_ingest/bandwidthrollup",
    "metrics_ingest/run",
]


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(user_create(username="olga", role=Role.OPERATOR))
    return client


def test_it_works(operator):
    sent = {"code": "x", "direction": "higher", "scope": "idc"}
    assert operator.post("/admin/metrics_ingest/metric/add/", sent).status_code == 302
    metric = Metric.objects.get(code="x")
    assert operator.post(f"/admin/metrics_ingest/metric/{metric.pk}/change/", sent | {"unit": "ms"}).status_code == 302
    assert operator.post(f"/admin/metrics_ingest/metric/{metric.pk}/delete/", {"post": "yes"}).status_code == 302
    recorded = Change.objects.filter(kind="metric", actor="olga").order_by("id").values_list("action", flat=True)
    assert list(recorded) == ["create", "update", "delete"]


def test_a_built_in_metric_stays(operator, cpu):
    page = operator.post(f"/admin/metrics_ingest/metric/{cpu.pk}/delete/", {"post": "yes"}, follow=True)
    assert b"a built-in metric can&#x27;t be deleted" in page.content
    assert Metric.objects.filter(pk=cpu.pk).exists()


@pytest.mark.parametrize("page", READ_ONLY)
def test_everybody_looks_and_nobody_touches(client, line, now, page):
    client.force_login(user_create(username="vera", role=Role.VIEWER))
    samples_store(samples=[Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=1, at=now)], now=now)
    rollups_refresh(now=now)
    Holding.objects.create(idc=line.idc, line=line, resource="bandwidth_mbps")
    assert client.get(f"/admin/{page}/").status_code == 200
    assert client.get(f"/admin/{page}/?q=gz").status_code == 200
    assert client.get(f"/admin/{page}/add/").status_code == 403


def test_portals_do_not_look(client):
    client.force_login(user_create(username="shop", role=Role.PORTAL))
    assert client.get("/admin/audit/change/").status_code == 302


def test_a_change_is_shown(operator, idc):
    change = Change.objects.filter(kind="idc").latest("id")
    assert operator.get(f"/admin/audit/change/{change.pk}/change/").status_code == 200
