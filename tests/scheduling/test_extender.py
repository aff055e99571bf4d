"""Decisions with a real HTTP extender, working or failing: the answer follows the profile, names the failure, and can
be replayed.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Conflict, PluginFailed
from idcsched.framework.request import Request
from idcsched.inventory.services import idc_create, region_create
from idcsched.outbound.health import Health, Patience
from idcsched.scheduling.deciding import Scheduled, decide_request
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.preview import preview
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import Replayed, replay
from idcsched.scheduling.services import profile_create
from tests.outbound.peers import (
    Behaviour,
    Peer,
    closed_port,
    drip,
    hang_up,
    huge,
    in_turn,
    json_reply,
    loopback_allowed,
    peer,
    raw_reply,
    redirect,
    silent,
    zipped_bomb,
)

pytestmark = pytest.mark.usefixtures("db")

SOMEBODY = Principal(user_id=1, username="tester", role="admin", all_tenants=True)
FINE = json_reply({"rejected": {"a": "under repair"}, "scores": {"b": 10, "c": 90}})
QUICK = {"timeout_seconds": 0.3}

UNWELL = [
    pytest.param(silent, QUICK, "gave no whole reply in 0.3 s", id="slow"),
    pytest.param(drip, QUICK, "gave no whole reply in 0.3 s", id="a byte at a time"),
    pytest.param(hang_up, {}, "could not be reached", id="hanging up"),
    pytest.param(json_reply({"rejected": {}}, 500), {}, "answered 500", id="failing"),
    pytest.param(redirect("http://127.0.0.1:9/"), {}, "answered 307", id="pointing elsewhere"),
    pytest.param(raw_reply(b"<html>no</html>"), {}, "sent no JSON", id="no JSON"),
    pytest.param(json_reply(["a"]), {}, "Expected `object`, got `array`", id="another shape"),
    pytest.param(json_reply({"rejected": {"zz": "!"}}), {}, "'zz', about which it was not asked", id="making up IDCs"),
    pytest.param(json_reply({"scores": {"a": 1000}}), {}, "scores a 1000, not within 0..100", id="out of range"),
    pytest.param(raw_reply(b'{"scores": {"a": NaN}}'), {}, "sent no JSON", id="not a number"),
    pytest.param(huge, {}, "sent more than 4194304 bytes", id="huge"),
    pytest.param(zipped_bomb, {}, "sent a packed reply", id="a zipped bomb"),
]


@pytest.fixture(autouse=True)
def _world(settings: Settings) -> Iterator[None]:
    region_create(code="A")
    for code in ("a", "b", "c"):
        idc_create(code=code, region="A", lines=[], labels={"rank": code})
    with loopback_allowed(settings):
        yield


def body(url: str, entry: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
    judge = {"name": "judge", "plugin": "extender", "weight": 1, "args": {"url": url, "timeout_seconds": 10, **args}}
    return {"plugins": [{"name": "available", "plugin": "available"}, {**judge, **(entry or {})}]}


def scheduled(code: str = "asking") -> Scheduled:
    request = Request(region="A", profile=code, explain="full", request_id="order-1")
    return decide_request(request=request, tenant=None, actor="somebody", http_request_id="http-1").recorded()


def answered(server: Peer | str, entry: dict[str, Any] | None = None, **args: Any) -> Scheduled:
    """Make a profile that asks this server, and return a decision by it."""
    profile_create(code="asking", body=body(server if isinstance(server, str) else server.url, entry, **args))
    return scheduled()


def totals(answer: Scheduled) -> dict[str, float]:
    return {candidate.idc: candidate.score for candidate in answer.candidates or ()}


def replayed(answer: Scheduled, **how: Any) -> Replayed:
    recorder.settle()
    return replay(decision=Decision.objects.get(pk=answer.decision_id), **how)


def test_it_works() -> None:
    with peer(FINE) as server:
        answer = answered(server, attributes=["label/rank"])
    assert totals(answer) == {"c": 90.0, "b": 10.0}
    (rejected,) = answer.rejected or ()
    assert (rejected.idc, rejected.code, rejected.detail["reason"]) == ("a", "extender_rejected", "under repair")
    assert (answer.plugin_errors, answer.degraded) == ((), False)
    assert server.calls == [
        {
            "request": {"request_id": "order-1", "region": "A", "labels": {}},
            "candidates": [{"code": code, "label/rank": code} for code in ("a", "b", "c")],
        }
    ]


def test_nobody_is_asked_where_no_plugin_asks() -> None:
    profile_create(code="asking", body={"plugins": []})
    assert len(totals(scheduled())) == 3


@pytest.mark.parametrize(("behave", "args", "said"), UNWELL)
def test_by_default_no_answer_is_better_than_one_without_it(behave: Behaviour, args: dict[str, Any], said: str) -> None:
    with peer(behave) as server, pytest.raises(PluginFailed) as caught:
        answered(server, **args)
    assert caught.value.code == "plugin_failed"
    assert said in caught.value.detail
    assert "secret" not in caught.value.detail
    assert not Decision.objects.exists()


@pytest.mark.parametrize(("behave", "args", "said"), UNWELL)
def test_where_the_profile_says_so_its_filter_is_skipped(behave: Behaviour, args: dict[str, Any], said: str) -> None:
    with peer(behave) as server:
        answer = answered(server, {"on_error": "skip_filter"}, **args)
    assert totals(answer) == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert answer.degraded
    assert [(error.plugin, error.point) for error in answer.plugin_errors] == [("judge", "filter"), ("judge", "score")]
    assert all(said in error.error for error in answer.plugin_errors)
    assert replayed(answer).identical


@pytest.mark.parametrize(("behave", "args", "said"), UNWELL)
def test_one_that_only_scores_leaves_the_sum(behave: Behaviour, args: dict[str, Any], said: str) -> None:
    with peer(behave) as server:
        answer = answered(server, filter=False, **args)
    assert totals(answer) == {"a": 0.0, "b": 0.0, "c": 0.0}
    ((error,), degraded) = answer.plugin_errors, answer.degraded
    assert (error.plugin, error.point, degraded) == ("judge", "score", True)
    assert said in error.error


def test_nobody_listens() -> None:
    answer = answered(f"http://127.0.0.1:{closed_port()}/", {"on_error": "skip_filter"})
    assert "could not be reached" in answer.plugin_errors[0].error


def test_a_host_that_is_not_allowed(settings: Settings) -> None:
    settings.OUTBOUND_HOSTS = ["*"]
    with peer(FINE) as server:
        answer = answered(server, {"on_error": "skip_filter"})
    assert "OUTBOUND_HOSTS does not list it" in answer.plugin_errors[0].error
    assert server.connections == 0


def test_scores_that_are_missing_are_as_missing_as_any() -> None:
    with peer(json_reply({"scores": {"a": 40, "b": 20}})) as server:
        answer = answered(server, {"on_missing": "worst"})
    assert totals(answer) == {"a": 40.0, "b": 20.0, "c": 0.0}
    assert [(stale.idc, stale.used_as) for stale in answer.stale or ()] == [("c", "worst")]
    assert not answer.degraded


def test_a_failure_that_passes_is_not_noticed() -> None:
    with peer(in_turn(json_reply({}, 500), hang_up, FINE)) as server:
        answer = answered(server, retries=2)
    assert (totals(answer), answer.plugin_errors) == ({"c": 90.0, "b": 10.0}, ())
    assert len(server.calls) == 3


def test_one_that_keeps_failing_is_left_to_rest_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcsched.outbound.client.Patience", partial(Patience, failures=2, rest_seconds=10))
    now = 0.0
    monkeypatch.setattr("idcsched.outbound.client.Health", partial(Health, clock=lambda: now))
    with peer(in_turn(json_reply({}, 500), json_reply({}, 500), FINE)) as server:
        profile_create(code="asking", body=body(server.url, {"on_error": "skip_filter"}))
        errors = [scheduled().plugin_errors[0].error for _ in range(3)]
        assert ["answered 500" in error for error in errors] == [True, True, True]
        assert "not asked again just now" in errors[2]
        assert len(server.calls) == 2

        now = 11.0
        assert totals(scheduled()) == {"c": 90.0, "b": 10.0}


def test_a_replay_asks_nobody() -> None:
    with peer(FINE) as server:
        answer = answered(server)
    again = replayed(answer)
    assert (again.identical, again.again.plugin_errors) == (True, ())
    assert again.again.rejected == answer.rejected
    assert len(server.calls) == 1


def test_a_replay_with_other_weights_asks_nobody_either() -> None:
    with peer(FINE) as server:
        answer = answered(server)
    assert replayed(answer, weights={"judge": 3}).again.score == 270.0
    assert len(server.calls) == 1


def test_a_replay_on_the_data_of_now_asks_anew() -> None:
    with peer(in_turn(FINE, json_reply({"scores": {"a": 5, "b": 1, "c": 2}}))) as server:
        again = replayed(answered(server), data="now")
    assert (again.again.idc.code if again.again.idc else None, again.same_idc) == ("a", False)
    assert len(server.calls) == 2


def test_a_replay_on_the_data_of_now_says_that_nobody_answered() -> None:
    with peer(FINE) as server:
        answer = answered(server, filter=False)
    again = replayed(answer, data="now").again
    assert "could not be reached" in again.plugin_errors[0].error


def test_another_profile_finds_the_reply_where_it_asks_the_same() -> None:
    with peer(FINE) as server:
        answer = answered(server)
        profile_create(code="keener", body=body(server.url, {"weight": 2}, timeout_seconds=5))
        profile_create(code="curious", body=body(server.url, attributes=["idc/name"]))
    assert replayed(answer, profile="keener").again.score == 180.0
    with pytest.raises(Conflict, match="what judge would ask the outside was not asked then") as caught:
        replayed(answer, profile="curious")
    assert caught.value.code == "inputs_not_kept"
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("draft", "examined"),
    [
        pytest.param(body, True, id="the same"),
        pytest.param(partial(body, entry={"weight": 7}, retries=3), True, id="asks the same and makes more of it"),
        pytest.param(lambda url: {"plugins": []}, True, id="asks nobody"),
        pytest.param(partial(body, attributes=["idc/name"]), False, id="asks something else"),
        pytest.param(lambda url: body(f"{url}&x=1"), False, id="asks somebody else"),
        pytest.param(partial(body, entry={"name": "other"}), False, id="asks under another name"),
    ],
)
def test_a_preview_knows_the_replies_of_then_and_no_others(
    draft: Callable[[str], dict[str, Any]], *, examined: bool
) -> None:
    with peer(FINE) as server:
        answered(server)
    recorder.settle()
    shown = preview(profile=Profile.objects.get(code="asking"), body=draft(server.url), last=10, principal=SOMEBODY)
    assert (shown.examined, shown.failed) == ((1, 0) if examined else (0, 1))
    assert len(server.calls) == 1


def test_a_preview_shows_what_would_change() -> None:
    with peer(FINE) as server:
        answered(server)
    profile, draft = Profile.objects.get(code="asking"), body(server.url)
    recorder.settle()
    assert preview(profile=profile, body=draft, last=10, principal=SOMEBODY).changed == ()
    draft["plugins"].append({"name": "x", "plugin": "labels"})
    draft["fallback"] = [{"match_labels": {"rank": "b"}}, {"match_labels": {"rank": "c"}}]
    recorder.settle()
    shown = preview(profile=profile, body=draft, last=10, principal=SOMEBODY)
    assert shown.failed == 1, "the groups leave out a, about which it asked then"
