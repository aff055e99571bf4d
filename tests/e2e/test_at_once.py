"""Recommendations, and the sign of life, are answered while all that may wait does wait; by a whole web process."""

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from time import sleep
from typing import Any
from urllib.request import urlopen

import pytest

from tests.api.conftest import SEED
from tests.browser.serving import served
from tests.e2e.installation import DATABASE, Installation
from tests.servers import free_port

pytestmark = pytest.mark.long

USER = "from idcsched.accounts.services import user_create; user_create(username='root', role='admin')"
ASKED = {"request_id": "order-8812", "region": "A", "profile": "seed-example"}
ORDERED = {**ASKED, "machines": [{"count": 2}]}
THREADS = 2


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("at_once")
    found = Installation(folder, PORT=str(free_port()), WEB_THREADS=str(THREADS), THROTTLE="200/day")
    found.migrate()
    found.python(USER)
    with served(found):
        yield found
    log = "".join(file.read_text() for file in folder.rglob("*web*.log"))
    assert "granian" in log
    assert "SynchronousOnlyOperation" not in log


@pytest.fixture(scope="module")
def token(site: Installation) -> str:
    token = site.manage("token_create", "root", "test").strip()
    assert called(site, token, "POST", "/tenants/", {"code": "shop"})[0] == 201
    for resource in ("regions", "isps", "idcs", "metrics", "taints", "affinities", "profiles", "samples"):
        if SEED.get(resource):
            assert called(site, token, "POST", f"/{resource}/", SEED[resource])[0] in (200, 201)
    return token


def called(
    site: Installation, token: str, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """The status and the document; `body` is sent as it is where it is text."""
    connection = HTTPConnection("127.0.0.1", int(site.environment["PORT"]), timeout=60)
    sent = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if isinstance(body, str) else json.dumps(body)
    connection.request(method, path if "/health" in path else f"/api/v1{path}", text.encode(), sent)
    with closing(connection):
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_it_works(site: Installation, token: str) -> None:
    status, answer = called(site, token, "POST", "/schedule/", ASKED)
    assert (status, answer["idc"]["code"]) == (200, "d")


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param({**ASKED, "explain": "full"}, {}, 200, id="told in full"),
        pytest.param({**ASKED, "explain": "none"}, {}, 200, id="not told at all"),
        pytest.param({**ASKED, "top": 1000}, {}, 200, id="many told of"),
        pytest.param({**ORDERED, "spread": {"max_per_idc": 1}}, {}, 200, id="spread"),
        pytest.param({**ORDERED, "action": "reserve", "tenant": "shop"}, {}, 201, id="reserved"),
        pytest.param(ASKED, {"idempotency_key": "once"}, 200, id="once only"),
        pytest.param(ASKED, {"accept": "application/json, text/plain"}, 200, id="negotiated"),
        pytest.param(ASKED, {"accept_language": "zh-hans"}, 200, id="in Chinese"),
        pytest.param(ASKED, {"authorization": "Bearer idc_nobody"}, 401, id="an unknown token"),
        pytest.param(ASKED, {"authorization": "Basic YTpi"}, 401, id="another scheme"),
        pytest.param(ASKED, {"host": "elsewhere.example.com"}, 400, id="another host"),
        pytest.param({**ASKED, "tenant": "nobody"}, {}, 400, id="an unknown tenant"),
        pytest.param({**ASKED, "profile": "nothing"}, {}, 400, id="an unknown profile"),
        pytest.param({**ASKED, "regoin": 1}, {}, 400, id="an unknown field"),
        pytest.param("{", {}, 400, id="no JSON"),
        pytest.param("", {}, 400, id="nothing"),
        pytest.param(" " * 6_000_000, {}, 413, id="too much"),
        pytest.param(ASKED, {"content_type": "text/plain"}, 415, id="another media type"),
    ],
)
def test_whatever_is_asked_is_answered(
    body: Any, headers: dict[str, str], status: int, site: Installation, token: str
) -> None:
    answered = called(site, token, "POST", "/schedule/", body, **headers)
    assert answered[0] == status, answered[1]


def test_while_all_that_may_wait_does_others_are_answered(site: Installation, token: str) -> None:
    with ThreadPoolExecutor(2 * THREADS) as clients, closing(sqlite3.connect(site.var / DATABASE)) as database:
        database.execute("BEGIN IMMEDIATE")  # who writes waits for this
        regions = [{"code": f"R{number}"} for number in range(2 * THREADS)]
        waiting = [clients.submit(called, site, token, "POST", "/regions/", region) for region in regions]
        sleep(0.5)
        assert called(site, token, "POST", "/schedule/", ASKED)[0] == 200
        assert called(site, token, "GET", "/health/live/") == (200, {"status": "ok"})
        assert not any(each.done() for each in waiting)
        database.rollback()
        assert [each.result()[0] for each in waiting] == [201] * len(regions)


def test_those_in_threads_are_counted(site: Installation) -> None:
    """At the moment it is the one that asks for it."""
    with urlopen(f"http://127.0.0.1:{site.environment['PORT']}/metrics", timeout=60) as response:
        assert "\nidcsched_requests_in_threads 1.0\n" in response.read().decode()


def test_what_was_changed_just_now_is_known(site: Installation, token: str) -> None:
    """The next question takes a change of the inventory in, for which it needs the database."""
    for status in ("offline", "online"):
        assert called(site, token, "PATCH", "/idcs/d/", {"status": status})[0] == 200
        best = called(site, token, "POST", "/schedule/", ASKED)[1]["idc"]["code"]
        assert (best == "d") is (status == "online")


def test_each_request_is_counted_once(site: Installation, token: str) -> None:
    """Also one that is passed on to a thread that may wait."""
    limited = site.manage("token_create", "root", "limited").strip()
    asked = [{**ASKED, "explain": "full"}, ASKED] * 100
    assert {called(site, limited, "POST", "/schedule/", each)[0] for each in asked} == {200}
    assert called(site, limited, "POST", "/schedule/", ASKED)[0] == 429
