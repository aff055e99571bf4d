"""A client for each role, and the seed example to ask about."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from idcsched.accounts.models import Tenant, User
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.feed.services import feed_append
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from metrics_ingest.models import Latest
from tests.keeping import Kept

SEED = json.loads((Path(__file__).parents[2] / "fixtures" / "seed-example.json").read_text())
SEEDED: Kept[str] = Kept()
MEASURED: Kept[str] = Kept()
ROOMY: Kept[None] = Kept(upon=MEASURED)
LINE = {"isp": "ct", "purchased_mbps": 1000, "max_level": 0.9}


@cache
def documented() -> frozenset[str]:
    """The codes that docs/codes.md has."""
    page = Path(__file__).parents[2] / "docs" / "codes.md"
    return frozenset(re.findall(r"^\| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE))


@dataclass(frozen=True)
class Api:
    """Speaks JSON with `/api/v1/`."""

    client: Client

    def call(self, method: str, path: str, body: Any = None, *, status: int | None = None, **headers: str) -> Any:
        """The decoded answer; with `status` asserted."""
        response = self.raw(method, path, None if body is None else json.dumps(body), **headers)
        if status is not None:
            assert response.status_code == status, response.content.decode()
        return json.loads(response.content) if response.content else None

    def raw(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> HttpResponse:
        return self.client.generic(
            method,
            f"/api/v1{path}",
            body or b"",
            content_type=headers.pop("content_type", "application/json"),
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    def get(self, path: str, **options: Any) -> Any:
        return self.call("GET", path, **{"status": 200, **options})

    def post(self, path: str, body: Any, **options: Any) -> Any:
        return self.call("POST", path, body, **options)

    def schedule(self, **request: Any) -> Any:
        return self.call("POST", "/schedule/", request, status=200)

    def refused(self, method: str, path: str, body: Any = None, *, status: int) -> tuple[str, list[str]]:
        """The code and the pointers of a problem document."""
        problem = self.call(method, path, body, status=status)
        assert problem["status"] == status
        assert problem["detail"]
        said = {problem["code"], *(error["code"] for error in problem["errors"])}
        assert said <= documented(), "docs/codes.md lacks " + ", ".join(said - documented())
        return problem["code"], [error["pointer"] for error in problem["errors"]]


def recorded(decision_id: str) -> Decision:
    """The record of a decision that this process has made, once it is there."""
    recorder.settle()
    return Decision.objects.get(pk=decision_id)


def causes(api: Api) -> list[str]:
    """Return why `/status/` is degraded.

    In a web process a thread reads the feed; a test has none, so the picture is brought up to date first.
    """
    live.catch_up()
    status = api.get("/status/")
    found: list[str] = status["degraded_because"]
    assert status["degraded"] == bool(found)
    assert status["background"]["degraded"] == bool(status["background"]["degraded_because"])
    return found


def speaking(token: str) -> Api:
    return Api(Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {token}"}))


@pytest.fixture
def tenant(db: None) -> Tenant:
    return Tenant.objects.filter(code="live-cn").first() or tenant_create(code="live-cn")


@pytest.fixture
def user(tenant: Tenant) -> Callable[[str], User]:
    """Users by role: viewers and portals belong to the tenant, the others to all."""

    def make(role: str) -> User:
        own = tenant if role in {"viewer", "portal"} else None
        return User.objects.filter(username=role).first() or user_create(username=role, role=role, tenant=own)

    return make


@pytest.fixture
def api(user: Callable[[str], User]) -> Callable[..., Api]:
    """A function that returns a client for a user of the given role, as in `api("portal")`."""

    def make(role: str = "admin", **token: Any) -> Api:
        return speaking(token_issue(user=user(role), name="test", **token).text)

    return make


@pytest.fixture
def anonymous(db: None) -> Api:
    return Api(Client(SERVER_NAME="localhost"))


@pytest.fixture
def admin(request: pytest.FixtureRequest, api: Callable[..., Api]) -> Api:
    """An administrator: the one who wrote the seed example, where the test uses that."""
    return request.getfixturevalue("seeded") if "seed" in request.fixturenames else api("admin")


@pytest.fixture
def portal(api: Callable[..., Api]) -> Api:
    return api("portal")


@pytest.fixture
def seed(seeded: Api) -> Api:
    """The seed example, written through the API as a portal's administrator would; its samples are of now."""
    return seeded


@pytest.fixture
def lines(seed: Api) -> None:
    """Every IDC of region A has room for 900 Mbps and eight cores."""
    ROOMY.write(partial(_lines, seed))


def _lines(seed: Api) -> None:
    seed.post("/isps/", {"code": "ct"}, status=201)
    for code in "abcd":
        seed.call("PATCH", f"/idcs/{code}/", {"stock": {"cpu": 8}, "lines": [LINE]}, status=200)
        seed.post("/samples/", [{"idc": code, "line": "ct", "metric": "bandwidth_mbps", "value": 0}], status=200)
    plugins = seed.get("/profiles/seed-example/")["plugins"]
    more = [{"name": name, "plugin": name} for name in ("network_flow", "resource")]
    seed.call("PATCH", "/profiles/seed-example/", {"plugins": [*plugins, *more]}, status=200)


@pytest.fixture
def seeded(db: None, request: pytest.FixtureRequest) -> Api:
    """The seed example without its samples, unless the test wants them, too."""
    if "seed" in request.fixturenames:
        return speaking(MEASURED.write(partial(_seed, samples=True)))
    return speaking(SEEDED.write(_seed))


@pytest.fixture(autouse=True)
def seeded_first(request: pytest.FixtureRequest) -> None:
    for name in ("seeded", "lines"):
        if name in request.fixturenames:
            request.getfixturevalue(name)


def _seed(*, samples: bool = False) -> str:
    """Write the seed example and a tenant; return the token that it was written with."""
    tenant_create(code="live-cn")
    token = token_issue(user=user_create(username="admin", role="admin"), name="test").text
    for resource in ("regions", "isps", "idcs", "metrics", "taints", "affinities", "profiles"):
        if documents := SEED.get(resource):
            speaking(token).call("POST", f"/{resource}/", documents, status=201)
    if samples:
        speaking(token).call("POST", "/samples/", SEED["samples"], status=200)
    return token


@pytest.fixture
def django_assert_num_queries(django_assert_num_queries: Callable[..., Any]) -> Callable[..., Any]:
    """Counts the queries of a web process that already knows the live picture."""
    return partial(_counted, django_assert_num_queries)


@pytest.fixture
def django_assert_max_num_queries(django_assert_max_num_queries: Callable[..., Any]) -> Callable[..., Any]:
    return partial(_counted, django_assert_max_num_queries)


def _counted(counting: Callable[..., Any], number: int, **options: Any) -> Any:
    live.current()
    return counting(number, **options)


@pytest.fixture
def forget_latest() -> Callable[[str, str], None]:
    """Takes the latest value of a metric away, as if it had never been reported."""

    def forget(idc: str, metric: str) -> None:
        Latest.objects.filter(idc__code=idc, metric__code=metric).delete()
        feed_append(topic="metrics")

    return forget
