"""A secret is sent only to the hosts that its setting names, and only by the kind of row that the setting is for."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.errors import Unavailable
from idcsched.outbound.secrets import Recipients
from idcsched.placement.models import Provider
from idcsched.provisioning.driver import Call
from idcsched.provisioning.providers import driver_and_call
from metrics_ingest.models import Source
from tests.api.conftest import Api
from tests.outbound.peers import Peer, json_reply, loopback_allowed, peer, redirect

KINDS: dict[str, dict[str, Any]] = {
    "http_json": {"url": "http://{host}:{port}/"},
    "prometheus": {"url": "http://{host}:{port}", "query": "up"},
    "zabbix": {"url": "http://{host}:{port}/zabbix", "group": "Edge routers"},
    "csv": {"url": "http://{host}:{port}/t.csv"},
    "sql": {"host": "{host}", "port": 5432, "database": "d", "user": "u", "query": "SELECT 1"},
}
PROVIDERS: dict[str, dict[str, Any]] = {
    "webhook": {"url": "http://{host}:{port}/"},
    "libcloud": {"url": "http://{host}:{port}/", "access_key": "k"},
    "openstack": {"url": "http://{host}:{port}/identity", "username": "u", "project": "p"},
}
MAPPING = {"idc": "site", "values": {"cpu_load": "cpu"}}


@pytest.fixture(autouse=True)
def secrets(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOURCE_TOKEN", "PROVIDER_EDGE"):
        monkeypatch.setenv(name, "hunter2")
    settings.SOURCE_SECRETS = ["env:SOURCE_TOKEN@127.0.0.1"]
    settings.PROVIDER_SECRETS = ["env:PROVIDER_EDGE@127.0.0.1"]


@pytest.fixture
def server(settings: Any) -> Iterator[Peer]:
    with loopback_allowed(settings), peer(json_reply([])) as found:
        yield found


def config(shape: dict[str, Any], server: Peer, host: str) -> dict[str, Any]:
    filled = {"host": host, "port": server.server_address[1]}
    return {name: value.format(**filled) if isinstance(value, str) else value for name, value in shape.items()}


def source(kind: str, server: Peer, host: str = "127.0.0.1", ref: str = "env:SOURCE_TOKEN") -> dict[str, Any]:
    given = config(KINDS[kind], server, host)
    return {"code": "s", "kind": kind, "schedule": 60, "config": given, "mapping": MAPPING, "secret_ref": ref}


def provider(kind: str, server: Peer, host: str = "127.0.0.1", ref: str = "env:PROVIDER_EDGE") -> dict[str, Any]:
    return {"code": "p", "kind": kind, "config": config(PROVIDERS[kind], server, host), "secret_ref": ref}


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_has_no_secret_of_a_provider(api: Callable[..., Api], server: Peer, kind: str) -> None:
    operator, document = api("operator"), source(kind, server, ref="env:PROVIDER_EDGE")
    assert operator.refused("POST", "/sources/", document, status=400) == ("secret_not_allowed", ["/secret_ref"])
    problem = operator.post("/sources/", document, status=400)
    assert "SOURCE_SECRETS does not list env:PROVIDER_EDGE" in problem["errors"][0]["detail"]
    assert not Source.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_nor_sends_its_own_elsewhere(api: Callable[..., Api], server: Peer, kind: str) -> None:
    operator = api("operator")
    problem = operator.post("/sources/", source(kind, server, "localhost"), status=400)
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/secret_ref", "secret_not_allowed")]
    assert "SOURCE_SECRETS does not let env:SOURCE_TOKEN be sent to localhost" in problem["errors"][0]["detail"]
    operator.post("/sources/", source(kind, server), status=201)
    moved = {"config": config(KINDS[kind], server, "localhost")}
    assert operator.refused("PATCH", "/sources/s/", moved, status=400) == ("secret_not_allowed", ["/secret_ref"])


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_was_saved_before_sends_nothing(
    api: Callable[..., Api], server: Peer, settings: Any, kind: str
) -> None:
    operator = api("operator")
    operator.post("/sources/", source(kind, server), status=201)
    settings.SOURCE_SECRETS = ["env:SOURCE_TOKEN@prometheus.example.com"]
    tried = operator.post("/sources/s/test/", {}, status=200)
    assert tried["error"]["code"] == "secret_not_allowed"
    assert server.connections == 0


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_provider_neither(api: Callable[..., Api], server: Peer, settings: Any, kind: str) -> None:
    admin = api("admin")
    for document in (provider(kind, server, "localhost"), provider(kind, server, ref="env:SOURCE_TOKEN")):
        refused = admin.refused("POST", "/providers/", document, status=400)
        assert refused == ("secret_not_allowed", ["/secret_ref"])
    assert not Provider.objects.exists()
    admin.post("/providers/", provider(kind, server), status=201)
    settings.PROVIDER_SECRETS = ["env:PROVIDER_EDGE@cloud.example.com"]
    with pytest.raises(Unavailable, match="PROVIDER_SECRETS does not let env:PROVIDER_EDGE be sent to 127"):
        driver_and_call("p", now=timezone.now())


def test_a_redirect_carries_it_nowhere(api: Callable[..., Api], server: Peer) -> None:
    operator = api("operator")
    operator.post("/sources/", source("http_json", server), status=201)
    with peer(json_reply([])) as elsewhere:
        server.behave = redirect(elsewhere.url)
        tried = operator.post("/sources/s/test/", {}, status=200)
        assert tried["error"]["code"] == "bad_status"
        assert (server.connections, elsewhere.connections) == (1, 0)


def test_a_cloud_that_names_another_host_gets_nothing_sent_there(server: Peer) -> None:
    """Keystone says at which host Nova is.

    The token that the secret was exchanged for would go there, so that host must be listed, too.
    """
    recipients = Recipients(ref="env:PROVIDER_EDGE", setting="PROVIDER_SECRETS")
    call = Call(provider="p", now=timezone.now(), timeout=60, secret="hunter2", recipients=recipients)
    call.fetch(server.url)
    with pytest.raises(Unavailable, match="localhost"):
        call.fetch(server.url.replace("127.0.0.1", "localhost"))
    assert len(server.calls) == 1
