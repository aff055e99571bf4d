"""The Python client in `clients/python` is what the generator makes; it schedules, reserves, and reads a refusal."""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from clients.generate import PACKAGE, document_of, generate
from idcsched.accounts.models import User
from idcsched.accounts.services import token_issue
from tests.api.conftest import Api


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has installed the client; it was copied before, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(PACKAGE.parent, folder / "source")
    given = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *given, "--target", folder / "installed", folder / "source"]
    subprocess.run(command, check=True)
    return folder / "installed"


@pytest.fixture
def module(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(installed))
    return lambda path: importlib.import_module(f"{PACKAGE.name}.{path}")


@pytest.fixture
def caller(seed: Api, module: Callable[[str], ModuleType], user: Callable[[str], User]) -> Iterator[object]:
    """The client, with a portal's token, talking to this process."""
    token = token_issue(user=user("portal"), name="generated").text
    transport = httpx.WSGITransport(app=get_wsgi_application())
    client = module("client").AuthenticatedClient
    for signal in (request_started, request_finished):  # the test's transaction goes on, as with Django's own client
        signal.disconnect(close_old_connections)
    yield client(base_url="http://localhost", token=token, httpx_args={"transport": transport})
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_it_works(caller: object, module: Callable[[str], ModuleType], installed: Path) -> None:
    body = module("models").RequestRequest(region="A", profile="seed-example")
    answer = module("api.schedule.schedule").sync(client=caller, body=body)

    assert (answer.result, answer.idc.code, answer.score) == ("scheduled", "d", 220.0)
    assert (installed / PACKAGE.name / "py.typed").exists()


def test_it_reserves_and_finds_what_it_reserved(caller: object, module: Callable[[str], ModuleType]) -> None:
    body = module("models").RequestRequest(region="A", profile="seed-example", action="reserve")
    schedule = partial(module("api.schedule.schedule").sync_detailed, client=caller, idempotency_key="order-1")
    first, again = schedule(body=body), schedule(body=body)
    page = module("api.placements.placements_list").sync(client=caller, state=["reserved"], limit=10)

    assert (first.status_code, first.parsed.state, first.parsed.idc) == (201, "reserved", "d")
    assert again.parsed == first.parsed
    assert [placement.id for placement in page.results] == [first.parsed.id]


def test_it_reads_a_refusal(caller: object, module: Callable[[str], ModuleType]) -> None:
    body = module("models").RequestRequest(region="nowhere")
    problem = module("api.schedule.schedule").sync(client=caller, body=body)

    assert (problem.status, problem.code, problem.errors[0].pointer) == (400, "unknown_region", "/region")


def test_the_committed_client_is_what_the_generator_makes(tmp_path: Path) -> None:
    generate(tmp_path / PACKAGE.name)
    assert _texts(tmp_path / PACKAGE.name) == _texts(PACKAGE), "run `make client`"


def test_a_client_can_be_generated_from_the_whole_document(tmp_path: Path) -> None:
    """A client of the whole document has the operations of all resources, and each of its files compiles."""
    generate(tmp_path / "whole", document_of(tags=None))
    made = {path.stem for path in (tmp_path / "whole" / "api").glob("*/*.py")}
    assert {"schedule", "idcs_partial_update", "source_test", "tokens_rotate"} <= made
    for path in (tmp_path / "whole").rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), path, "exec")


def _texts(package: Path) -> dict[str, str]:
    """Return the text of each file of a package by its path, without the compiled files."""
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in files}
