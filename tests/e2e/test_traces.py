"""A request and the tasks that it causes are one trace, which a collector is sent by OTLP."""

import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from json import dumps, loads
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for
from tests.outbound.peers import closed_port, mute
from tests.placement.receiving import received, receiver
from tests.servers import free_port
from tests.servers.otlp import collector
from tests.servers.postgresql import new_database

pytestmark = [pytest.mark.postgresql, pytest.mark.long]

WORKER = (sys.executable, "-m", "celery", "-A", "idcsched.celery", "worker", "--concurrency", "2")
WORLD = """
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling.services import profile_create
region_create(code="A")
idc_create(code="a", region="A")
profile_create(code="any", body={"plugins": []})
tenant = tenant_create(code="live", default_profile="any", callback_hosts=["127.0.0.1"])
print(token_issue(user=user_create(username="portal", role="portal", tenant=tenant), name="t").text)
"""
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SCHEDULE, DELIVER = "POST /api/v1/schedule/", "idcsched.placement.tasks.placement_deliver"
CANARY = "canary-4c1d"
RECORDED = "from idcsched.scheduling.models import Decision; print(Decision.objects.count())"
LOADED = "import sys; from idcsched import celery, wsgi; print('opentelemetry.exporter' in sys.modules)"


class Site:
    """A web process, and a worker where one is wanted."""

    def __init__(self, folder: Path, database: str, **variables: str) -> None:
        self.port = free_port()
        self.installation = Installation(folder, DATABASE_URL=database, **variables)
        self.installation.migrate()
        self.token = self.installation.python(WORLD)
        self.children: list[Child] = []

    def start(self, *, worker: bool = False) -> None:
        self.children.append(self.installation.start("web", *web_command(port=self.port)))
        if worker:
            self.children.append(self.installation.start("worker", *WORKER))
        wait_for(self._is_ready, "the web process", seconds=120)

    def stop(self) -> None:
        stop(*self.children, grace=120)
        self.children.clear()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and the document of an answer."""
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            connection.request(method, path, None if body is None else dumps(body), sent)
            response = connection.getresponse()
            text = response.read()
        return response.status, loads(text) if "json" in response.headers["Content-Type"] else text

    def _is_ready(self) -> bool:
        assert all(child.running for child in self.children), [child.last_words() for child in self.children]
        try:
            return self.ask("GET", "/health/ready/")[0] == 200
        except OSError:
            return False


@pytest.fixture
def database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        yield url


def test_it_works(database: str, tmp_path: Path) -> None:
    """The delay is so long that nothing is sent before the processes end: each must send what is left when it ends."""
    with collector() as collected, receiver() as portal:
        site = Site(tmp_path, database, OTEL_EXPORTER_OTLP_ENDPOINT=collected.url, OTEL_BSP_SCHEDULE_DELAY="600000")
        site.start(worker=True)
        try:
            asked = {"X_Request_ID": "order-1", "traceparent": f"00-{TRACE}-{CALLER}-01"}
            body = {"region": "A", "action": "reserve", "callback_url": portal.url}
            status, placed = site.ask("POST", "/api/v1/schedule/", body, **asked)
            assert status == 201, placed
            _, recommended = site.ask("POST", "/api/v1/schedule/", {"region": "A"})
            site.ask("GET", f"/api/v1/idcs/?token={CANARY}", Cookie=f"sessionid={CANARY}")
            assert site.ask("GET", "/metrics", Host="10.9.8.7")[0] == 200, "an address of its own, as Prometheus has it"
            wait_for(lambda: received(portal), "the callback", seconds=60)
            assert not collected.spans
        finally:
            site.stop()

        ids = {"idcsched.request_id": "order-1", "idcsched.placement_id": placed["id"]}
        (request,) = collected.of(TRACE, SCHEDULE)
        assert (request.service, request.kind, request.parent) == ("idcsched-web", "SERVER", CALLER)
        assert request.attributes.items() >= {**ids, "idcsched.decision_id": placed["decision_id"]}.items()
        assert request.attributes["http.response.status_code"] == 201
        (message,) = collected.of(TRACE, f"apply_async/{DELIVER}")
        assert (message.service, message.parent) == ("idcsched-web", request.id)
        (task,) = collected.of(TRACE, f"run/{DELIVER}")
        assert (task.service, task.kind, task.parent) == ("idcsched-worker", "CONSUMER", message.id)
        assert task.attributes.items() >= ids.items()

        queries = [span for span in collected.spans if span.trace == TRACE and span.kind == "CLIENT"]
        assert {span.service for span in queries} == {"idcsched-web", "idcsched-worker"}
        assert {span.attributes["db.system"] for span in queries} == {"postgresql"}
        assert not [span for span in collected.spans if span.kind == "CLIENT" and not span.parent]
        assert recommended["decision_id"] in [
            span.attributes.get("idcsched.decision_id") for span in collected.spans if span.name == SCHEDULE
        ]
        assert not [span for span in collected.spans if "metrics" in span.name or "health" in span.name]
        sent = b"".join(collected.bodies)
        assert not [secret for secret in (CANARY, site.token) if secret.encode() in sent]


@pytest.mark.long
@pytest.mark.parametrize("away", ["closed", "silent"])
def test_a_collector_that_does_not_answer_delays_nothing(database: str, tmp_path: Path, away: str) -> None:
    with mute() as silent:
        address = silent if away == "silent" else f"127.0.0.1:{closed_port()}"
        endpoint = f"http://{address}"
        site = Site(tmp_path, database, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_BSP_SCHEDULE_DELAY="100")
        site.start()
        try:
            for _ in range(5):
                began = monotonic()
                assert site.ask("POST", "/api/v1/schedule/", {"region": "A"})[0] == 200
                assert monotonic() - began < 1
        finally:
            site.stop()
        assert site.installation.python(RECORDED) == "5", "the end of the web process has stored them all"


def test_nobody_loads_it_without_an_endpoint(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.migrate()
    assert installation.python(LOADED) == "False"
    installation.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{closed_port()}"
    assert installation.python(LOADED) == "True"
