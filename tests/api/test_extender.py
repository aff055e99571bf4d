"""What clients see of an extender: a profile that asks it, its reasons, and its failure."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from tests.api.conftest import Api
from tests.outbound.peers import closed_port, json_reply, loopback_allowed, peer


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> Iterator[None]:
    with loopback_allowed(settings):
        yield


def asking(url: str, **entry: Any) -> dict[str, Any]:
    judge = {"name": "judge", "plugin": "extender", "weight": 1, "args": {"url": url}}
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
