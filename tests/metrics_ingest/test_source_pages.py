"""A source's page in the admin: its latest runs, and one click that asks it and stores nothing."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.sources.collecting import source_collect
from tests.outbound.peers import closed_port, json_reply, peer, raw_reply

pytestmark = pytest.mark.usefixtures("db", "in_shanghai")

MakeSource = Callable[..., Source]
GOOD = [{"site": "gz-01", "cpu": 0.5}]
MIXED = [*GOOD, {"site": "gz-01", "cpu": "<b>x</b>"}, {"site": "moon", "cpu": 1}]


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(user_create(username="olga", role=Role.OPERATOR))
    return client


def change_page(client: Client, source: Source) -> str:
    return client.get(f"/admin/metrics_ingest/source/{source.pk}/change/").content.decode()


def tried(client: Client, source: Source) -> str:
    answer = client.post(f"/admin/metrics_ingest/source/{source.pk}/try/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_works(operator: Client, make_source: MakeSource) -> None:
    with peer(json_reply(MIXED)) as server:
        source = make_source(server.url)
        recorded = Change.objects.count()
        assert f'action="/admin/metrics_ingest/source/{source.pk}/try/"' in change_page(operator, source)
        page = tried(operator, source)
    assert "3 fetched, 1 would be stored, 1 refused, 1 under names that match no IDC or line" in page
    assert "<th>gz-01</th><td>–</td><td>cpu_load</td><td>0.5</td>" in page
    assert "this is no number: &lt;b&gt;x&lt;/b&gt;" in page
    assert "<strong>moon</strong>" in page
    assert not Latest.objects.exists()
    assert not Run.objects.exists()
    assert Change.objects.count() == recorded


def test_what_goes_wrong_is_said_on_the_page(operator: Client, make_source: MakeSource) -> None:
    with peer(raw_reply(b"<html>")) as server:
        assert "sent no JSON" in tried(operator, make_source(server.url))


def test_a_host_that_is_left_to_rest_is_tried_all_the_same_and_runs_tell_the_real_error(
    operator: Client, make_source: MakeSource
) -> None:
    source = make_source(f"http://127.0.0.1:{closed_port()}/")
    for number in range(4):
        later = timezone.now() + timedelta(hours=number)
        run = source_collect(source_id=source.pk, clock=partial(lambda at: at, later))
        assert run is not None
    said = change_page(operator, source)
    assert said.count("Connection refused") == 4
    assert "not asked again just now" in said
    page = tried(operator, source)
    assert "Connection refused" in page
    assert "not asked again" not in page


def test_a_run_is_called_by_its_time_in_the_admin_s_zone(operator: Client, make_source: MakeSource) -> None:
    source = make_source(f"http://127.0.0.1:{closed_port()}/")
    begun = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
    run = source_collect(source_id=source.pk, clock=lambda: begun)
    assert run is not None
    page = operator.get(f"/admin/metrics_ingest/run/{run.pk}/change/").content.decode()
    assert "loads 2031-05-07 20:02:30" in page
    assert str(run) == "loads 2031-05-07 12:02:30", "elsewhere times are in UTC"


@pytest.mark.parametrize("page", ["/admin/", "/admin/metrics_ingest/source/"])
def test_a_source_that_fails_is_red_with_its_error(operator: Client, make_source: MakeSource, page: str) -> None:
    def shown() -> str:
        return operator.get(page).content.decode()

    source = make_source(f"http://127.0.0.1:{closed_port()}/")
    assert "× in a row" not in shown()
    for number in range(3):
        source_collect(source_id=source.pk, clock=partial(lambda at: at, timezone.now() + timedelta(hours=number)))
    assert "failed 3 × in a row" in shown()
    assert "Connection refused" in shown()
    assert re.search(r"(mark-bad|bg-red-\d+)[^>]*>\s*failed 3", shown())


def test_a_source_whose_kind_is_gone_says_so(operator: Client, make_source: MakeSource) -> None:
    source = make_source()
    Source.objects.update(kind="carrier_pigeon")
    assert "there is no kind of source carrier_pigeon" in tried(operator, source)


def test_the_latest_runs_stand_on_the_page(operator: Client, make_source: MakeSource) -> None:
    with peer(json_reply([{"site": "moon", "cpu": 1}])) as server:
        source = make_source(server.url)
        assert "It has not been asked yet." in change_page(operator, source)
        source_collect(source_id=source.pk, clock=timezone.now)
    page = change_page(operator, source)
    assert "1 fetched, 0 stored, 1 under names that match no IDC or line" in page
    assert "0 refused" not in page
    assert "nothing of what was found can be stored" in page
    assert f"/admin/metrics_ingest/run/{Run.objects.get().pk}/change/" in page


def test_a_mapping_that_finds_no_idc_is_told_so(operator: Client, make_source: MakeSource) -> None:
    """The page says that the mapping found no IDC in four records, and shows the fifth record's unknown name."""
    nothing = "the mapping&#x27;s idc found nothing in the record"
    with peer(json_reply([{"place": "gz-01", "cpu": n} for n in range(4)] + [{"site": "moon", "cpu": 1}])) as server:
        source = make_source(server.url)
        page = tried(operator, source)
        source_collect(source_id=source.pk, clock=timezone.now)
    assert re.search(rf"<strong>{nothing}</strong>\s*<span[^>]*>4</span>", page)
    assert re.search(r"<strong>moon</strong>\s*<span[^>]*>1</span>", page)
    shown = operator.get(f"/admin/metrics_ingest/run/{Run.objects.get().pk}/change/").content.decode()
    assert f"<div>{nothing} : 4</div>" in shown
    assert "<div>moon : 1</div>" in shown


@pytest.mark.parametrize("role", [Role.VIEWER, Role.PORTAL])
def test_whoever_may_not_change_it_may_not_ask_it(client: Client, make_source: MakeSource, role: Role) -> None:
    source = make_source()
    client.force_login(user_create(username="vera", role=role))
    assert "/try/" not in change_page(client, source)
    assert client.post(f"/admin/metrics_ingest/source/{source.pk}/try/").status_code in {302, 403}


def test_a_link_asks_nobody(operator: Client, make_source: MakeSource) -> None:
    source = make_source()
    assert operator.get(f"/admin/metrics_ingest/source/{source.pk}/try/").status_code == 405
    assert operator.post("/admin/metrics_ingest/source/999/try/").status_code == 404


def test_a_forged_form_asks_nobody(make_source: MakeSource, loopback: Any) -> None:
    forger = Client(enforce_csrf_checks=True)
    forger.force_login(user_create(username="olga", role=Role.OPERATOR))
    assert forger.post(f"/admin/metrics_ingest/source/{make_source().pk}/try/").status_code == 403
