"""Whatever is sent, the answer is one that the OpenAPI document promises: Schemathesis against a live server.

By hand with more of it: `FUZZING_EXAMPLES=200 FUZZING_SHARE=1 pytest -m long tests/e2e/test_whatever_is_sent.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen

import psycopg2
import pytest

from tests.browser.serving import serving
from tests.e2e.installation import Installation
from tests.servers import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

EXAMPLES = os.environ.get("FUZZING_EXAMPLES", "10")
SHARE = float(os.environ.get("FUZZING_SHARE", "0.1"))
"""The share of the cases that Schemathesis derives from the schema systematically and that are sent."""
ROLES = ("admin", "operator", "portal", "viewer")
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
LISTS = {
    **dict.fromkeys(("regions", "isps", "idcs", "metrics", "sources", "providers", "profiles", "tenants"), "code"),
    **dict.fromkeys(
        ("lines", "taints", "affinities", "shapes", "region_scopes", "tokens", "changes", "placements", "backtests"),
        "id",
    ),
    "deliveries": "id",
    "decisions": "decision_id",
    "users": "username",
}
NEVER_REACHED = {
    "POST /api/v1/providers/{code}/outcomes/",  # signed with the provider's secret, which is not among what is sent
    "POST /api/v1/advice/moves/",  # about a move that was proposed: there is none
    "GET /api/v1/advice/moves/{placement}/",
}
MOST_MISSED = 6
"""How many operations may by chance succeed in no request."""
ORDER = {"region": "440000", "machines": [{"count": 1, "bandwidth_mbps": 1}], "callback_url": "https://portal.example/"}
SOURCE = {
    "code": "file",
    "kind": "csv",
    "schedule": 86_400,
    "config": {"file": "values.csv"},
    "mapping": {"idc": "idc", "metric": "metric", "value": "value"},
}


class Caller:
    """Speaks JSON with the server, with one token."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token

    def __call__(self, path: str, body: Any = None, method: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.address}{path}", data, headers, method=method), timeout=60) as answer:
            return json.load(answer)


@pytest.fixture
def site(postgresql_server: str, tmp_path: Path) -> Iterator[Installation]:
    """The demo on a PostgreSQL database of its own, throttling lifted."""
    with closing(psycopg2.connect(postgresql_server)) as server, server.cursor() as cursor:
        server.autocommit = True
        cursor.execute("DROP DATABASE IF EXISTS whatever_is_sent WITH (FORCE)")
        cursor.execute("CREATE DATABASE whatever_is_sent")
    url = urlunsplit(urlsplit(postgresql_server)._replace(path="/whatever_is_sent"))
    with serving(Installation(tmp_path, PORT=str(free_port()), THROTTLE="off", DATABASE_URL=url)) as found:
        yield found


def known(api: Caller) -> dict[str, list[Any]]:
    """Return the keys of existing objects: with random ones alone few operations would succeed."""
    tokens = [api("schedule/", ORDER)["commit_token"] for _ in range(5)]
    for _ in range(10):
        api("schedule/", {**ORDER, "action": "reserve"})
    api("sources/", SOURCE)
    api("region_scopes/", {"user": "operator", "region": "440000"})
    api("profiles/default/backtest/", {})
    found = {name: [row[key] for row in api(f"{name}/?limit=30")["results"]] for name, key in LISTS.items()}
    return {**{name: values for name, values in found.items() if values}, "commit_tokens": tokens}


def let_in(admin: Caller) -> dict[str, Any]:
    """A user of each role, with a token."""
    made = {}
    for role in ROLES:
        user = {"username": f"fuzzing-{role}", "role": role, "tenant": "demo" if role in {"portal", "viewer"} else None}
        admin("users/", user)
        made[role] = admin("tokens/", {"user": user["username"], "name": "fuzzing", "tenant": "demo"})
    return made


def operations(schema: Path) -> set[str]:
    paths = json.loads(schema.read_text(encoding="utf-8"))["paths"]
    return {f"{method.upper()} {path}" for path, item in paths.items() for method in item if method != "parameters"}


def test_it_works(site: Installation, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{site.environment['PORT']}/api/v1/"
    credentials = json.loads((site.var / "demo-credentials.json").read_text(encoding="utf-8"))
    admin = Caller(address, credentials["admin"]["token"])
    admin("tenants/demo/", {"callback_hosts": ["portal.example"]}, method="PATCH")
    made = let_in(admin)
    names = known(Caller(address, made["admin"]["token"]))
    assert set(LISTS) <= set(names), "each kind of thing is there, and asked for"
    configuration = tmp_path / "schemathesis.toml"
    words = "\n".join(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}" for name, values in names.items())
    configuration.write_text(f"{CONFIGURATION.read_text(encoding='utf-8')}\n{words}\n", encoding="utf-8")
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(admin("schema/?format=json")), encoding="utf-8")
    fuzzing = {
        "address": address,
        "tokens": {role: token["token"] for role, token in made.items()},
        "token_ids": [token["id"] for token in made.values()],
        "users": [token["user"] for token in made.values()],
        "share": SHARE,
        "spare_user": "viewer",
        "ids": {**LISTS, "schedule": "id"},
        "order": {**ORDER, "action": "reserve"},
        "source": SOURCE,
        "reached": str(tmp_path / "reached.txt"),
        "isp": names["isps"][0],
    }
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration)]
    done = subprocess.run(
        [*program, "run", str(schema), "--url", address.removesuffix("/api/v1/"), "--max-examples", EXAMPLES],
        env={**os.environ, "FUZZING": json.dumps(fuzzing), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    (tmp_path / "report.txt").write_text(done.stdout, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-20_000:]
    reached = (tmp_path / "reached.txt").read_text(encoding="utf-8").splitlines()
    missed = operations(schema) - {*reached} - NEVER_REACHED
    assert len(missed) <= MOST_MISSED, f"these were never about something that there is: {sorted(missed)}"
    for role, token in made.items():
        assert Caller(address, token["token"])("me/")["role"] == role, "they were let in to the end"
