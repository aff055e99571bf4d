"""A worker that is killed between sending a callback and writing that down loses nothing."""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from idcsched.demo.processes import Child, stop
from tests.e2e.installation import Installation, wait_for
from tests.outbound.peers import Exchange, Peer
from tests.placement.receiving import FINE, received, receiver

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

WORKER = (sys.executable, "-m", "celery", "-A", "idcsched.celery", "worker", "--concurrency", "2")
WORLD = """
from idcsched.accounts.services import tenant_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling.services import profile_create
region_create(code="A")
idc_create(code="a", region="A")
profile_create(code="any", body={"plugins": []})
tenant_create(code="live", default_profile="any", callback_hosts=["127.0.0.1"])
"""
ORDER_AND_RELEASE = """
from idcsched.accounts.roles import Principal, Role
from idcsched.framework.request import Request
from idcsched.placement.services import placement_order, placement_release
asked = Request(region=["A"], action="reserve", callback_url="{url}")
portal = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="live")
placement_release(placement=placement_order(request=asked, principal=portal, http_request_id="1"))
"""
A_MINUTE_LATER = """
from datetime import timedelta
from django.utils import timezone
from idcsched.placement.models import Delivery
from idcsched.placement.tasks import callbacks_sweep
past = timezone.now() - timedelta(minutes=2)
Delivery.objects.filter(claimed_until__isnull=False).update(claimed_until=past)
Delivery.objects.filter(state="pending").update(next_try_at=past)
callbacks_sweep()
"""


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    installed = Installation(tmp_path)
    installed.migrate()
    installed.python(WORLD)
    return installed


@pytest.fixture
def portal() -> Iterator[Peer]:
    with receiver() as server:
        yield server


def told(portal: Peer) -> list[str]:
    return [message.state for message in received(portal)]


def all_delivered(installation: Installation) -> Callable[[], bool]:
    return lambda: installation.count("placement_delivery", "state = 'delivered'") == 2


def test_it_works(installation: Installation, portal: Peer) -> None:
    doomed: list[Child] = []

    def kill(exchange: Exchange) -> None:
        exchange.server.behave = FINE
        stop(doomed[0], grace=0, by=signal.SIGKILL)
        FINE(exchange)

    installation.python(ORDER_AND_RELEASE.format(url=portal.url))
    portal.behave = kill
    doomed.append(installation.start("worker", *WORKER))
    wait_for(lambda: not doomed[0].running, "the worker to be killed in the middle", seconds=90)
    assert told(portal) == ["reserved"]
    assert installation.count("placement_delivery", "state = 'pending'") == 2

    worker = installation.start("worker", *WORKER)
    try:
        installation.python(A_MINUTE_LATER)
        wait_for(all_delivered(installation), "another worker to take it up", seconds=90)
    finally:
        stop(worker, grace=20)
    assert told(portal) == ["reserved", "reserved", "released"]
    first, again, _ = received(portal)
    assert (first.id, first.body) == (again.id, again.body)
