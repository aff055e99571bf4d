"""Secrets show up nowhere: not in logs, answers, metrics or the database, even where all that uses them fails."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.outbound.peers import Exchange, Peer, closed_port, peer
from tests.stories.fleet import new_fleet, new_provider
from tests.stories.product import Caller, Product, name, until
from tests.stories.test_sources import NEVER, run

NOT_JSON = {"/schema/", "/docs/"}


def failing(exchange: Exchange) -> None:
    """Answer 500 and repeat in head and body what came."""
    text = str(dict(exchange.headers)).encode() + exchange.path.encode()
    exchange.head(500, Content_Length=len(text), X_Echo=exchange.headers.get("Authorization", ""))
    exchange.wfile.write(text)


@pytest.fixture
def server() -> Iterator[Peer]:
    with peer(failing) as running:
        yield running


def kept_secret(product: Product, word: str) -> tuple[str, str]:
    """A file with a secret, and the reference to it."""
    file = product.installation.var / "secrets" / name(word)
    file.parent.mkdir(exist_ok=True)
    file.write_text(secret := f"canary-{file.name}-52c9e1", encoding="utf-8")
    return secret, f"file:{file}"


def fail_source(product: Product, url: str, auth: str) -> str:
    """Have a source fail, in its test and in a run; return its secret."""
    operator = product.caller("operator")
    secret, ref = kept_secret(product, "source-secret")
    document = {
        "code": name("source"),
        "kind": "http_json",
        "schedule": NEVER,
        "config": {"url": url, "timeout_seconds": 30, "auth": {"kind": auth, "name": "X-Api-Key", "username": "u"}},
        "mapping": {"idc": "site", "values": {"cpu_load": "value"}},
        "secret_ref": ref,
    }
    operator.post("/sources/", document, status=201)
    assert secret not in str(operator.post(f"/sources/{document['code']}/test/", {}, status=200))
    assert run(operator, str(document["code"]))["state"] == "failed"
    return secret


def fail_order(product: Product, server: Peer) -> list[str]:
    """Place an order for which the calls of provider and portal fail; return their secrets."""
    secret, ref = kept_secret(product, "provider-secret")
    own = new_provider(product, "webhook", config={"url": server.url}, secret_ref=ref)
    fleet = new_fleet(product, providers=[own], tenant={"callback_hosts": ["127.0.0.1"]})
    signing = fleet.admin.post(f"/tenants/{fleet.tenant}/callback_secret/", status=201)["secret"]
    before = len(server.bodies)
    fleet.provision(callback_url=server.url)

    def both_called() -> bool:
        return {b"machine." in body for body in server.bodies[before:]} == {True, False}

    until(both_called, "a call of the provider, and a callback", seconds=60)
    return [secret, signing, signing.removeprefix("whsec_")]


def show_token(product: Product) -> str:
    """Send a token in places where it does not belong, and revoke it; return it."""
    made = product.new_token()
    token = str(made["token"])
    admin = product.caller("admin")
    caller = admin.as_(token)
    answers = [
        caller.ask("GET", f"/idcs/?token={token}"),
        caller.ask("POST", "/schedule/", f'{{"region": "A", "token": "{token}", '.encode()),
        caller.ask("POST", "/schedule/", {"region": "A", "toke": token, "labels": {token: [token]}}),
        caller.as_(f"{token}x").ask("GET", "/me/"),
        caller.ask("GET", "/idcs/nowhere/", X_Request_ID=f"<{token}>"),
    ]
    admin.post(f"/tokens/{made['id']}/revoke/", status=200)
    answers.append(caller.ask("GET", "/me/"))
    assert [answer.status for answer in answers] == [400, 400, 400, 401, 404, 401]
    return token


def mistype_password(product: Product) -> str:
    visitor = Caller(product.address, None)
    cookie = visitor.ask("GET", "/admin/login/").headers["Set-Cookie"].partition(";")[0]
    password = f"canary-{name('password')}"
    form = {"username": "admin", "password": password, "csrfmiddlewaretoken": cookie.partition("=")[2]}
    headers = {"Cookie": cookie, "Content_Type": "application/x-www-form-urlencoded"}
    answer = visitor.ask("POST", "/admin/login/", urlencode(form).encode(), **headers)
    assert answer.status == 200, "the form again"
    assert password not in answer.body
    visitor.close()
    return password


def everything_shown(product: Product) -> Iterator[tuple[str, str]]:
    """All that the installation tells anybody, and all that its database holds, by where it stands."""
    for log in (product.installation.var / "log").iterdir():
        yield log.name, log.read_text(encoding="utf-8")
    admin = product.caller("admin")
    yield "metrics", admin.ask("GET", "/metrics").body
    yield "database", product.command("dumpdata")
    paths = admin.get("/schema/?format=json")["paths"]
    lists = [path.removeprefix("/api/v1") for path, methods in paths.items() if "get" in methods and "{" not in path]
    for path in set(lists) - NOT_JSON:
        answer = admin.ask("GET", f"{path}?limit=200")
        yield path, str((admin.ask("GET", path) if answer.status == 400 else answer).body)


def test_it_works(product: Product, server: Peer) -> None:
    secrets = [
        (product.installation.var / "secret-key").read_text(encoding="ascii").strip(),
        fail_source(product, server.url, "bearer"),
        fail_source(product, server.url, "parameter"),
        fail_source(product, f"http://127.0.0.1:{closed_port()}/", "parameter"),
        *fail_order(product, server),
        show_token(product),
        mistype_password(product),
        *product.tokens.values(),
    ]
    asked = str(server.seen_headers) + str(server.calls)
    assert [secret in asked for secret in secrets[1:3]] == [True, True], "they were sent where they belong"
    shown = dict(everything_shown(product))
    assert {"web.log", "worker.log", "metrics", "database", "/changes/", "/sources/", "/deliveries/"} <= set(shown)
    assert "/source-secret-" in shown["database"], "the reference to a secret is no secret"
    assert not [(where, secret) for where, text in shown.items() for secret in secrets if secret in text]
