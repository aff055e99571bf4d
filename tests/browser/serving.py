"""The demo, served by one web process: what a browser needs of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from idcsched.demo.processes import stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, post, wait_for

__all__ = ["backtest_made", "moves_made", "names_made", "served", "serving", "sources_made"]

SOURCES = "from idcsched.demo.sources import sources_point_to; sources_point_to('http://127.0.0.1:{port}')"
NAMES = """
from django.utils import timezone
from idcsched.demo.sources import LINES, PATH
from metrics_ingest.models import Source
from metrics_ingest.services import source_create
from metrics_ingest.sources.collecting import source_collect
source = Source.objects.filter(code="other-names").first() or source_create(
    code="other-names",
    kind="http_json",
    schedule="86400",
    config={{"url": "http://127.0.0.1:{port}" + PATH, "items": "lines", "timeout_seconds": 120}},
    mapping={{**LINES, "idcs": {{"foshan-ct-01": "Foshan_CT 01"}}, "lines": {{"cm": "uplink-3"}}}},
)
source_collect(source_id=source.pk, clock=timezone.now, by_hand=True)
"""
DEAR = {"region": "440000", "action": "reserve", "planned": {"idc": "gz-bgp-01"}}
"""An order for the dearest IDC of all."""


@contextmanager
def serving(site: Installation) -> Iterator[Installation]:
    """Load the demo and serve it on the installation's port for as long as the block lasts."""
    site.migrate()
    site.manage("load_demo")
    with served(site):
        yield site


@contextmanager
def served(site: Installation) -> Iterator[Installation]:
    """Serve the installation, with whatever is in its database, for as long as the block lasts."""
    web = site.start("web", *web_command(port=int(site.environment["PORT"])))
    try:
        wait_for(lambda: not web.running or _answers(site), "the web server", seconds=120)
        assert web.running, web.last_words()
        yield site
    finally:
        stop(web, grace=20)


def _answers(site: Installation) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{site.environment['PORT']}/health/ready/", timeout=30) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def sources_made(site: Installation) -> None:
    """Have the demo's sources ask the installation itself, as `make run` does."""
    site.python(SOURCES.format(port=site.environment["PORT"]))


def names_made(site: Installation) -> str:
    """Have a source call an IDC and a line by names that nobody knows; return the source's code."""
    site.python(NAMES.format(port=site.environment["PORT"]))
    return "other-names"


def backtest_made(site: Installation) -> str:
    """Have the orders of the last month decided again under other profiles; return the backtest's id."""
    users = json.loads((site.var / "demo-credentials.json").read_text(encoding="utf-8"))
    asked = {"days": 30, "profiles": ["cost-first", "even"]}
    api = f"http://127.0.0.1:{site.environment['PORT']}/api/v1"
    made = str(post(f"{api}/profiles/default/backtest/", asked, users["operator"]["token"])["id"])
    site.python(f"from idcsched.planning.services import backtest_run; backtest_run(backtest_id='{made}')")
    return made


def moves_made(site: Installation) -> None:
    """Place orders in the dearest IDC and have advice made about them; one of its moves is done and one declined."""
    users = json.loads((site.var / "demo-credentials.json").read_text(encoding="utf-8"))
    api = f"http://127.0.0.1:{site.environment['PORT']}/api/v1"
    placed = []
    for count in (4, 2, 1):
        order = {**DEAR, "request_id": f"order-dear-{count}", "machines": [{"count": count, "bandwidth_mbps": 300}]}
        placed.append(post(f"{api}/schedule/", order, users["portal"]["token"])["id"])
    site.manage("advise")
    for placement, state in zip(placed, ("done", "declined"), strict=False):
        answer = {"placement": placement, "state": state, "reason": "the disks stay"}
        post(f"{api}/advice/moves/", answer, users["operator"]["token"])
