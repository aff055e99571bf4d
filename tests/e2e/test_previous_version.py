"""A rolling upgrade: processes of the previous version and of this one work on the new tables, side by side."""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from json import dumps, loads
from pathlib import Path
from typing import Any, Final

import pytest

from idcsched.demo.processes import stop
from idcsched.demo.supervisor import web_command
from tests.architecture.repository import ROOT
from tests.e2e.installation import Installation, wait_for
from tests.servers import free_port
from tests.servers.postgresql import new_database

pytestmark = [pytest.mark.long, pytest.mark.postgresql, pytest.mark.timeout(300)]

PREVIOUS: Final = "ded32f886478dfb3a61fc035274dcb91a7d9a64e"
"""The commit of the previous version, whose last migrations tests/db/test_migrations.py has."""
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
SETTINGS = {"SECRET_KEY": "k" * 50, "OUTBOUND_HOSTS": "127.0.0.0/8"}
SITE = """
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.placement.services import provider_create
from idcsched.scheduling.services import profile_create
profile_create(code="any", body={"plugins": [{"name": "taint", "plugin": "taint"}]})
tenant_create(code="shop", default_profile="any")
provider_create(code="vm", kind="simulated", config={"up_after_seconds": 0, "gone_after_seconds": 0})
region_create(code="A")
for code in ("a", "b"):
    idc_create(code=code, region="A", stock_cpu=100, provider="vm")
print(token_issue(user=user_create(username="root", role="admin"), name="test", tenant="shop").text)
"""
ASKED = {"region": "A", "machines": [{"count": 1, "cpu": 1}]}


class Web:
    """A web process of one of the versions."""

    def __init__(self, installation: Installation, token: str) -> None:
        self.port, self.token = free_port(), token
        self.child = installation.start("web", *web_command(port=self.port))
        wait_for(self._is_ready, "the web process", seconds=60)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, None if body is None else dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
        return response.status, loads(text) if text else None

    def api(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        found, document = self.ask(method, f"/api/v1{path}", body)
        assert found == status, document
        return document

    def schedule(self, *, status: int = 200, **more: Any) -> Any:
        return self.api("POST", "/schedule/", {**ASKED, **more}, status=status)

    def _is_ready(self) -> bool:
        assert self.child.running, self.child.last_words()
        with suppress(OSError, HTTPException):
            return self.ask("GET", "/health/ready/")[0] == 200
        return False


@pytest.fixture(scope="module")
def previous_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the previous version, out of the project's history."""
    archive = subprocess.run(["git", "archive", PREVIOUS], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the project's whole history is needed: {archive.stderr.decode()}")
    folder = tmp_path_factory.mktemp("previous")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def versions(
    postgresql_server: str, previous_code: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Web, Web]]:
    """The previous version's web process and this one's; the worker and beat are still those of the previous one."""
    folder = tmp_path_factory.mktemp("rolling")
    with new_database(postgresql_server) as database:
        before = Installation(folder, source=previous_code, DATABASE_URL=database, **SETTINGS)
        now = Installation(folder, DATABASE_URL=database, **SETTINGS)
        before.migrate()
        token = before.python(SITE)
        now.manage("upgrade")
        background = [
            before.start("worker", *CELERY, "worker", "--concurrency", "2"),
            before.start("beat", *CELERY, "beat", "--pidfile="),
        ]
        webs = [Web(before, token), Web(now, token)]
        try:
            yield webs[0], webs[1]
        finally:
            stop(*(web.child for web in webs), *background, grace=20)


def test_it_works(versions: tuple[Web, Web]) -> None:
    """An order goes through all its states, with each step taken by the version that did not take the one before."""
    for first, then in (versions, versions[::-1]):
        assert first.schedule()["idc"]["code"] in "ab"
        reserved = first.schedule(action="reserve", status=201)
        assert then.api("POST", f"/placements/{reserved['id']}/confirm/")["state"] == "active"
        assert first.api("POST", f"/placements/{reserved['id']}/release/")["state"] == "released"

        token = first.schedule()["commit_token"]
        committed = then.api("POST", "/placements/", {"commit_token": token}, status=201)
        assert first.api("GET", f"/placements/{committed['id']}/")["state"] == committed["state"]


def test_machines_are_started_by_workers_of_the_previous_version(versions: tuple[Web, Web]) -> None:
    for web in versions:
        placed = web.schedule(action="provision", status=202)["id"]

        def in_state(state: str, web: Web = web, placed: str = placed) -> bool:
            return bool(web.api("GET", f"/placements/{placed}/")["state"] == state)

        wait_for(lambda in_state=in_state: in_state("active"), "the machine", seconds=60)  # type: ignore[misc]
        web.api("POST", f"/placements/{placed}/release/")
        wait_for(lambda in_state=in_state: in_state("released"), "its end", seconds=60)  # type: ignore[misc]


def test_changes_made_through_one_version_take_effect_in_the_other(versions: tuple[Web, Web]) -> None:
    for first, then in (versions, versions[::-1]):
        taint = first.api("POST", "/taints/", {"idc": "a", "key": "k", "effect": "NoSchedule"}, status=201)
        wait_for(lambda then=then: then.schedule()["idc"]["code"] == "b", "the taint")  # type: ignore[misc]
        assert then.api("GET", f"/taints/{taint['id']}/")["key"] == "k"
        assert then.ask("DELETE", f"/api/v1/taints/{taint['id']}/")[0] == 204


def test_a_decision_of_one_version_is_replayed_by_the_other(versions: tuple[Web, Web]) -> None:
    for first, then in (versions, versions[::-1]):
        decided = first.schedule()

        def recorded(then: Web = then, key: str = decided["decision_id"]) -> bool:
            return then.ask("GET", f"/api/v1/decisions/{key}/")[0] == 200

        wait_for(recorded, "the decision's record")
        replayed = then.api("POST", f"/decisions/{decided['decision_id']}/replay/", {})
        assert replayed["identical"], replayed
