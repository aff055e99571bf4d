"""What clients see of an extender: a profile that asks it, its reasons, and its failure."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from idcsched.feed.services import feed_append
from idcsched.scheduling.models import ProfileRevision
from tests.api.conftest import Api
from tests.outbound.peers import closed_port, json_reply, loopback_allowed, peer


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> Iterator[None]:
    with loopback_allowed(settings):
        yield


def asking(url: str, **entry: Any) -> dict[str, Any]:
    judge = {"name": "judge", "plugin": "extender", "weight": 1, "args": {"url": url, "timeout_seconds": 10}}
    return {"code": "asking", "plugins": [{**judge, **entry}]}


def test_it_works(seed: Api, portal: Api) -> None:
    with peer(json_reply({"rejected": {"b": "没有备件"}, "scores": {"a": 7, "c": 3, "d": 1}})) as server:
        seed.post("/profiles/", asking(server.url), status=201)
        answer = portal.schedule(region="A", profile="asking", explain="full")
    assert (answer["idc"]["code"], answer["score"], answer["degraded"]) == ("a", 7.0, False)
    (rejected,) = answer["rejected"]
    assert (rejected["idc"], rejected["code"]) == ("b", "extender_rejected")
    assert rejected["detail"] == {"extender": "judge", "reason": "没有备件"}
    assert rejected["reason"].endswith("没有备件")
    assert server.calls[0]["request"]["labels"] == {"tenant": "live-cn"}


def test_one_that_is_down_is_a_503(seed: Api, portal: Api) -> None:
    seed.post("/profiles/", asking(f"http://127.0.0.1:{closed_port()}/?site=secret"), status=201)
    problem = portal.post("/schedule/", {"region": "A", "profile": "asking"}, status=503)
    assert problem["code"] == "plugin_failed"
    assert "could not be reached" in problem["detail"]
    assert "secret" not in problem["detail"]


def test_one_that_may_be_skipped_leaves_a_degraded_answer(seed: Api, portal: Api) -> None:
    profile = asking(f"http://127.0.0.1:{closed_port()}/", on_error="skip_filter")
    seed.post("/profiles/", profile, status=201)
    answer = portal.schedule(region="A", profile="asking")
    assert (answer["result"], answer["degraded"]) == ("scheduled", True)
    assert {error["plugin"] for error in answer["plugin_errors"]} == {"judge"}


def test_a_wrong_argument_is_refused_when_the_profile_is_saved(seed: Api) -> None:
    refused = seed.refused("POST", "/profiles/", asking("judge.example.com"), status=400)
    assert refused == ("invalid_url", ["/plugins/0/args/url"])


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:8100/?key=attacksecret", "secret_in_config"),
        ("http://127.0.0.1:8100/idcs?site=1&access_token=attacksecret", "secret_in_config"),
        ("http://me:attacksecret@127.0.0.1:8100/", "invalid_url"),
        ("http://attacksecret@127.0.0.1:8100/", "invalid_url"),
    ],
)
def test_an_address_with_a_secret_is_refused_when_the_profile_is_saved(seed: Api, url: str, code: str) -> None:
    refused = (code, ["/plugins/0/args/url"])
    assert seed.refused("POST", "/profiles/", asking(url), status=400) == refused
    seed.post("/profiles/", asking("http://127.0.0.1:8100/"), status=201)
    plugins = {"plugins": asking(url)["plugins"]}
    assert seed.refused("PATCH", "/profiles/asking/", plugins, status=400) == refused
    assert seed.refused("PUT", "/profiles/asking/", asking(url), status=400) == refused
    assert seed.refused("POST", "/profiles/asking/revisions/", plugins, status=400) == refused
    assert "attacksecret" not in str(seed.get("/profiles/asking/revisions/"))


def test_an_older_revision_with_a_secret_stays_readable_and_usable(seed: Api, portal: Api) -> None:
    with peer(json_reply({"scores": {"a": 7}})) as server:
        address = f"{server.url}&key=attacksecret"
        seed.post("/profiles/", asking(server.url), status=201)
        ProfileRevision.objects.filter(profile__code="asking").update(body={"plugins": asking(address)["plugins"]})
        feed_append(topic="profiles", key="asking")
        assert portal.schedule(region="A", profile="asking")["idc"]["code"] == "a"
    assert seed.get("/profiles/asking/")["plugins"][0]["args"]["url"] == address
    seed.call("PATCH", "/profiles/asking/", {"name": "Asking"}, status=200)
    seed.post("/profiles/asking/revisions/1/activate/", {}, status=200)
