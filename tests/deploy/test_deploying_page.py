"""docs/deploying.md from its first command on: what Docker Compose would start runs as processes here."""

import json
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg2
import pytest
from psycopg2.extensions import ISOLATION_LEVEL_AUTOCOMMIT

from idcsched.config import checks
from idcsched.web import health
from tests.deploy.compose import OWN, Compose
from tests.docs.pages import blocks, page, section, tables
from tests.e2e.installation import Installation, wait_for
from tests.outbound.peers import Peer
from tests.placement.receiving import received, receiver
from tests.servers import nginx, postgresql

PAGE = page("deploying.md")
PASSWORD = "correct horse battery"
REDIS_DATABASE = 61
SEED = {"region": "A", "profile": "seed-example"}


@pytest.fixture
def installation(redis_server: str, tmp_path: Path) -> Iterator[Compose]:
    """A host with PostgreSQL and Redis, on which nothing of the product runs yet."""
    with postgresql.running() as url:
        with closing(psycopg2.connect(url)) as connection:
            connection.set_isolation_level(ISOLATION_LEVEL_AUTOCOMMIT)
            connection.cursor().execute("CREATE DATABASE idcsched")  # as the image of PostgreSQL does
        address = url.partition("@")[2].partition("/")[0]
        compose = Compose(tmp_path, postgresql=address, redis=f"{redis_server}/{REDIS_DATABASE}")
        yield compose
        compose.close()


def commands(heading: str, number: int = 0) -> str:
    return blocks(section(PAGE, heading), "bash")[number]


@pytest.mark.long
@pytest.mark.timeout(600)  # a dozen processes start, on a machine that others may keep busy
def test_it_works(installation: Compose) -> None:
    """One installation for the whole page, as a reader has it."""
    *first, probe = commands("With Docker Compose").splitlines()
    installation.shell("\n".join(first))
    wait_until_it_answers(installation)
    assert json.loads(installation.shell(probe))["status"] == "ok"

    token = administrator_and_token(installation)
    load_demo, _, ask = commands("The first answer").partition("\n")
    installation.shell(load_demo)
    wait_for(lambda: get(installation, "/api/v1/idcs/d/", token)[0] == 200, "the demo")
    answer = json.loads(installation.shell(ask, TOKEN=token))
    assert (answer["idc"]["code"], answer["score"]) == ("d", 220)

    processes_are_at_work(installation, token)
    static_files_are_compressed_and_kept(installation)
    assert get(installation, "/metrics")[0] == 404
    tls_ends_at_the_proxy(installation)
    with receiver() as portal:
        placed = ordered(installation, token, portal)
        restored_decisions_replay(installation, token, answer["decision_id"])
        the_order_goes_on(installation, token, portal, placed)


def test_the_signs_of_what_is_wrong_are_those_that_are_shown(tmp_path: Path) -> None:
    (table,) = tables(section(PAGE, "When it does not start"))
    shown = [part for row in table for part in row["what one sees"].split(" … ")]
    wrong = Installation(tmp_path, SECRET_KEY_FILE=str(tmp_path / "none"), WEB_WORKERS="many").tried("check")
    said = wrong.stderr + "".join(Path(str(each.__file__)).read_text(encoding="utf-8") for each in (checks, health))
    for sign in (
        "idcsched.E003",
        "idcsched.E001",
        "cannot be read: ",
        "does not start with wrong settings",
        "not migrated",
    ):
        assert any(sign in each for each in shown), sign
        assert sign in said


def administrator_and_token(installation: Compose) -> str:
    setup, scripted = (commands("Currency, time zone, administrator, token", number) for number in (0, 1))
    (installation.folder / ".env").write_text("CURRENCY=EUR\n", encoding="ascii")
    shown = installation.typed(
        setup,
        ("Currency of all prices [EUR]", ""),
        ("Time zone in which ISPs cut months and days [Asia/Shanghai]", ""),
        ("Regions, such as A,B/B-north (none if you import them)", ""),
        ("Name of the first administrator [admin]", "alice"),
        ("Password", PASSWORD),
        ("Password, again", PASSWORD),
    )
    assert "CURRENCY is EUR." in shown
    assert "Created the administrator alice." in shown
    (installation.folder / "password").write_text(PASSWORD, encoding="ascii")
    installation.shell(scripted.replace("CNY", "EUR"))
    assert (installation.folder / "token").read_text(encoding="ascii") == ""  # shown once
    return shown.partition("shown again:")[2].split()[0]


def processes_are_at_work(installation: Compose, token: str) -> None:
    """Assert that all processes run, and that `/status/` lists the workers and beat."""

    def names() -> set[str]:
        status = json.loads(get(installation, "/api/v1/status/", token)[2])
        return {process["name"].partition("@")[0] for process in status["background"]["processes"]}

    wait_for(lambda: names() == {*OWN} - {"web"}, "workers and beat", seconds=60)
    assert all(child.running for child in installation.children.values())


def static_files_are_compressed_and_kept(installation: Compose) -> None:
    _, _, body = get(installation, "/admin/login/")
    (sheet, *_) = [part for part in body.decode().split('"') if part.startswith("/static/") and part.endswith(".css")]
    answers = [get(installation, sheet, Accept_Encoding="gzip") for _ in range(2)]
    for status, headers, _ in answers:
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        assert "max-age=31536000" in headers["Cache-Control"]
    assert len({headers["X-Request-ID"] for _, headers, _ in answers}) == 1, "a web process was asked again"


def tls_ends_at_the_proxy(installation: Compose) -> None:
    secrets = installation.folder / "secrets"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", secrets / "tls-key", "-out", secrets / "tls-certificate"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names, *files], check=True, capture_output=True
    )
    trusted = ssl.create_default_context(cafile=secrets / "tls-certificate")
    with (
        nginx.in_front_of(installation.web, secrets=secrets) as port,
        urlopen(f"https://localhost:{port}/admin/login/", context=trusted, timeout=30) as response,
    ):
        assert response.status == 200


def ordered(installation: Compose, token: str, portal: Peer) -> str:
    """An active placement of the demo, whose callbacks have been received."""
    assert get(installation, "/api/v1/tenants/demo/", token, {"callback_hosts": ["127.0.0.1"]}, "PATCH")[0] == 200
    order = {
        "region": "440000", "tenant": "demo", "action": "reserve", "callback_url": portal.url,
        "machines": [{"count": 2, "bandwidth_mbps": 10}],
    }  # fmt: skip
    status, _, body = get(installation, "/api/v1/schedule/", token, order)
    assert status == 201, body
    placed: str = json.loads(body)["id"]
    assert get(installation, f"/api/v1/placements/{placed}/confirm/", token, {})[0] == 200
    wait_for(lambda: states(portal) == ["reserved", "active"], "the callbacks")
    delivered = "/api/v1/deliveries/?state=delivered"
    wait_for(lambda: len(json.loads(get(installation, delivered, token)[2])["results"]) == 2, "their receipts")
    return placed


def the_order_goes_on(installation: Compose, token: str, portal: Peer, placed: str) -> None:
    """Release the placement: the portal is called back for its end, and for nothing that it was told before."""
    status, _, body = get(installation, f"/api/v1/placements/{placed}/release/", token, {})
    assert (status, json.loads(body)["state"]) == (200, "released")
    wait_for(lambda: "released" in states(portal), "the callback of its end")
    assert states(portal) == ["reserved", "active", "releasing", "released"]


def states(portal: Peer) -> list[str]:
    return [message.state for message in received(portal)]


def ledger(installation: Compose) -> str:
    query = "SELECT * FROM ledger_claim ORDER BY 1"
    return installation.run(
        f"docker compose exec -T postgresql psql --username idcsched --csv --command '{query}' idcsched"
    )


def restored_decisions_replay(installation: Compose, token: str, decision: str) -> None:
    """Restore a dump into an empty database after an IDC was changed: decisions, ledger and IDC are as before."""

    def replayed() -> bytes:
        return get(installation, f"/api/v1/decisions/{decision}/replay/", token, {})[2]

    before, taken = replayed(), ledger(installation)
    assert taken.count("\n") > 1
    assert json.loads(before)["identical"]
    installation.shell(commands("Back up and restore"))
    assert get(installation, "/api/v1/idcs/a/", token, {"status": "draining"}, "PATCH")[0] == 200
    audited = installation.shell(commands("Back up and restore", 1))
    assert audited == "The ledger agrees with the placements.\n"
    assert ledger(installation) == taken
    wait_until_it_answers(installation)
    assert replayed() == before
    assert json.loads(get(installation, "/api/v1/idcs/a/", token)[2])["status"] == "online"
    assert json.loads(get(installation, "/api/v1/schedule/", token, SEED)[2])["idc"]["code"] == "d"
    upgrade = commands("Upgrade").splitlines()
    assert "No migrations to apply." in installation.run(upgrade[1])
    assert {upgrade[0], upgrade[2]} == {"docker compose build", "docker compose up -d"}


def wait_until_it_answers(installation: Compose) -> None:
    wait_for(lambda: get(installation, "/health/ready/")[0] == 200, "the web server", seconds=60)


def get(
    installation: Compose, path: str, token: str = "", body: Any = None, method: str | None = None, **headers: str
) -> tuple[int, Any, bytes]:
    """Status, headers and body of what the proxy answers."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Content-Type": "application/json"} if body is not None else {}
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"http://127.0.0.1:{installation.proxy}{path}", data, headers, method=method)
    try:
        with urlopen(request, timeout=30) as response:
            return response.status, response.headers, response.read()
    except HTTPError as error:
        return error.code, error.headers, error.read()
