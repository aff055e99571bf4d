"""A client that a generator makes of the OpenAPI document schedules, reserves, and reads a refusal."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from idcsched.accounts.models import User
from idcsched.accounts.services import token_issue
from tests.api.conftest import Api

NAME = "generated_idcsched_client"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the client lies."""
    folder, document = tmp_path_factory.mktemp("generated"), StringIO()
    call_command("spectacular", "--format", "openapi-json", stdout=document)
    (folder / "schema.json").write_text(document.getvalue(), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"post_hooks": []}), encoding="utf-8")
    generator = ["openapi_python_client", "generate", "--meta", "none", "--path", str(folder / "schema.json")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            *generator,
            "--config",
            str(folder / "config.json"),
            "--output-path",
            str(folder / NAME),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout, done.stdout
    return folder


@pytest.fixture
def module(package: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(package))
    return lambda path: importlib.import_module(f"{NAME}.{path}")


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


def test_it_works(caller: object, module: Callable[[str], ModuleType]) -> None:
    body = module("models.request_request").RequestRequest(region="A", profile="seed-example")
    answer = module("api.schedule.schedule").sync(client=caller, body=body)

    assert (answer.result, answer.idc.code, answer.score) == ("scheduled", "d", 220.0)


def test_it_reserves_and_finds_what_it_reserved(caller: object, module: Callable[[str], ModuleType]) -> None:
    action = module("models.request_request_action_type_0").RequestRequestActionType0.RESERVE
    body = module("models.request_request").RequestRequest(region="A", profile="seed-example", action=action)
    schedule = module("api.schedule.schedule").sync_detailed
    first = schedule(client=caller, body=body, idempotency_key="order-1")
    again = schedule(client=caller, body=body, idempotency_key="order-1")
    state = module("models.placements_list_state_item").PlacementsListStateItem.RESERVED
    page = module("api.placements.placements_list").sync(client=caller, state=[state], limit=10)

    assert (first.status_code, first.parsed.state, first.parsed.idc) == (201, "reserved", "d")
    assert again.parsed == first.parsed
    assert [placement.id for placement in page.results] == [first.parsed.id]


def test_it_reads_a_refusal(caller: object, module: Callable[[str], ModuleType]) -> None:
    body = module("models.request_request").RequestRequest(region="nowhere")
    problem = module("api.schedule.schedule").sync(client=caller, body=body)

    assert (problem.status, problem.code, problem.errors[0].pointer) == (400, "unknown_region", "/region")
