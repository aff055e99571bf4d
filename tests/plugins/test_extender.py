"""`extender`: what it sends about the request and the candidates, and what it makes of each reply. No server is asked
here.
"""

import json
from typing import Any

import pytest

from idcsched.framework.cycle import queries
from idcsched.framework.errors import Invalid, PluginFailed
from idcsched.framework.external import Query, Reply
from idcsched.framework.facts import MetricFact, World
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.testing import NOW, Outcome, decide_for, profile, request, snapshot, world

URL = "https://judge.example/idcs?key=1"
STALE = 601.0
KNOWN = world(
    {
        "a": {
            "name": "Alpha",
            "region": "north",
            "tier": "center",
            "partition": "own",
            "provider": "vm",
            "labels": {"rank": "1", "team/owner": "live"},
            "latitude": 39.9,
            "longitude": 116.4,
            "metrics": {"load": 0.5},
            "lines": {"ct-1": {"isp": "ct"}, "ct-2": {"isp": "ct"}, "cu": {}},
        },
        "b": {"region": "south", "metrics": {"load": (0.7, STALE)}},
        "c": {"region": "south"},
        "off": {"region": "south", "status": "offline"},
        "far": {"region": "abroad"},
    },
    regions={"here": None, "north": "here", "south": "here", "abroad": None},
    metrics=[MetricFact(code="load", max_age=600)],
)
HERE = {"region": "here"}


def policy(weight: float = 1.0, on_error: str | None = None, on_missing: Any = None, **args: Any) -> Profile:
    entry = {"args": {"url": URL, **args}, "weight": weight, "on_error": on_error, "on_missing": on_missing}
    return profile("available", ("judge", "extender", entry))


def asked(known: World = KNOWN, tenant: str | None = None, fields: dict[str, Any] | None = None, **args: Any) -> Query:
    labels = {"business": "live", **({"tenant": tenant} if tenant else {})}
    wanted = request(known, **HERE, **(fields or {}))
    (query,) = queries(Question(wanted, snapshot(known), policy(**args), now=NOW, labels=labels))
    return query


def decided(document: Any, error: str | None = None, **how: Any) -> Outcome:
    reply = Reply(plugin="judge", document=document, error=error)
    return decide_for(KNOWN, policy(**how), replies={"judge": reply}, **HERE)


def test_it_works() -> None:
    outcome = decided({"rejected": {"b": "no spare parts"}, "scores": {"a": 40, "c": 62.5}})
    assert outcome.totals == {"c": 62.5, "a": 40.0}
    (rejected,) = [told for told in outcome.answer.rejected or () if told.idc == "b"]
    assert (rejected.plugin, rejected.code) == ("judge", "extender_rejected")
    assert rejected.reason == "judge says: no spare parts"
    assert rejected.detail == {"extender": "judge", "reason": "no spare parts"}


def test_it_asks_about_the_survivors_of_the_others_and_nobody_else() -> None:
    query = asked(timeout_seconds=2, retries=3)
    assert (query.plugin, query.url, query.timeout_seconds, query.retries) == ("judge", URL, 2.0, 3)
    assert query.body["candidates"] == [{"code": "a"}, {"code": "b"}, {"code": "c"}]


def test_it_says_of_each_what_was_declared() -> None:
    attributes = ["idc/name", "idc/region", "idc/tier", "idc/partition", "idc/provider", "idc/status", "idc/isp"]
    attributes += ["idc/latitude", "idc/longitude", "label/rank", "label/team/owner", "metric/load", "metric/unheard"]
    first, *others = asked(attributes=attributes).body["candidates"]
    assert first == {
        "code": "a",
        "idc/name": "Alpha",
        "idc/region": "north",
        "idc/tier": "center",
        "idc/partition": "own",
        "idc/provider": "vm",
        "idc/status": "online",
        "idc/isp": ["ct", "cu"],
        "idc/latitude": 39.9,
        "idc/longitude": 116.4,
        "label/rank": "1",
        "label/team/owner": "live",
        "metric/load": 0.5,
        "metric/unheard": None,
    }
    unknown = ("idc/latitude", "label/rank", "metric/load")
    assert [[other[name] for name in unknown] for other in others] == [[None] * 3] * 2, "stale is not known either"


def test_it_says_of_the_request_what_must_fit() -> None:
    fields = {
        "request_id": "order-1",
        "isp": ["ct"],
        "machines": [{"count": 2, "bandwidth_mbps": 5, "spec": "s1", "params": {"root_password": "x"}}],
        "selector": {"match_labels": {"rank": "1"}},
        "callback_url": "https://portal.example/?token=x",
        "weights": {"judge": 3},
        "profile": "mine",
        "explain": "full",
    }
    assert asked(fields=fields, tenant="acme").body["request"] == {
        "request_id": "order-1",
        "region": "here",
        "isp": ["ct"],
        "machines": [{"count": 2, "bandwidth_mbps": 5.0, "spec": "s1"}],
        "selector": {"match_labels": {"rank": "1"}},
        "labels": {"business": "live", "tenant": "acme"},
    }


def test_what_it_asks_is_json_and_the_same_each_time() -> None:
    first, second = asked(attributes=["idc/isp", "metric/load"]), asked(attributes=["idc/isp", "metric/load"])
    assert json.loads(json.dumps(first.body)) == second.body
    assert first.fingerprint == second.fingerprint != asked().fingerprint


def test_nobody_is_asked_about_nobody() -> None:
    assert queries(Question(request(KNOWN, only=["off"]), snapshot(KNOWN), policy(), now=NOW)) == ()
    outcome = decide_for(KNOWN, policy(), only=["off"])
    assert (outcome.rejections, outcome.answer.plugin_errors) == ({"off": "not_online"}, ())


@pytest.mark.parametrize(
    ("args", "document", "totals"),
    [
        pytest.param(
            {}, {"scores": {"a": 1, "b": 2, "c": 3}}, {"c": 3, "b": 2, "a": 1}, id="on 0..100, more is better"
        ),
        pytest.param(
            {"low": -1, "high": 1},
            {"scores": {"a": -1, "b": 0, "c": 1}},
            {"c": 100, "b": 50, "a": 0},
            id="on its range",
        ),
        pytest.param(
            {"filter": False},
            {"rejected": {"a": "!"}, "scores": {"a": 1, "b": 2, "c": 3}},
            {"c": 3, "b": 2, "a": 1},
            id="one that may not filter rejects nobody",
        ),
        pytest.param(
            {"score": False}, {"rejected": {"a": "!"}, "scores": {"b": 1}}, {"b": 0, "c": 0}, id="… or may not score"
        ),
        pytest.param(
            {"weight": 0}, {"scores": {"a": 1, "b": 2, "c": 3}}, {"a": 0, "b": 0, "c": 0}, id="without weight"
        ),
        pytest.param({}, {}, {"a": 0, "b": 0, "c": 0}, id="nothing to say"),
        pytest.param({}, {"rejected": {"a": "1", "b": "2", "c": "3"}}, {}, id="everybody rejected"),
    ],
)
def test_what_an_answer_does(args: dict[str, Any], document: Any, totals: dict[str, float]) -> None:
    outcome = decided(document, **args)
    assert outcome.totals == totals
    assert outcome.answer.plugin_errors == ()


@pytest.mark.parametrize(
    ("on_missing", "score"), [(None, 30.0), ("neutral", 30.0), ("worst", 0.0), ("last", 0.0)], ids=str
)
def test_a_score_that_is_missing(on_missing: Any, score: float) -> None:
    outcome = decided({"scores": {"a": 20, "b": 40}}, on_missing=on_missing)
    assert outcome.totals["c"] == score
    assert [(stale.idc, stale.metric) for stale in outcome.answer.stale or ()] == [("c", "judge")]


WRONG = [
    pytest.param(None, "Expected `object`", id="no object"),
    pytest.param([], "Expected `object`", id="a list"),
    pytest.param({"score": {"a": 1}}, "unknown field `score`", id="an unknown part"),
    pytest.param({"zz\0" * 500: {}}, "unknown field `zz zz ", id="an unknown part that fills the log"),
    pytest.param({"scores": {"a": 10**400}}, "ValueError: ", id="a number beyond all bounds"),
    pytest.param({"rejected": ["a"]}, "Expected `object`", id="rejections without reasons"),
    pytest.param({"rejected": {"a": None}}, "Expected `str`", id="a reason that is no text"),
    pytest.param({"rejected": {"zz": "!"}}, "'zz', about which it was not asked", id="rejects who does not exist"),
    pytest.param({"rejected": {"far": "!"}}, "'far', about which it was not asked", id="rejects who is elsewhere"),
    pytest.param({"scores": {"zz": 1}}, "'zz', about which it was not asked", id="scores who does not exist"),
    pytest.param({"scores": {"far": 1}}, "'far', about which it was not asked", id="scores who is elsewhere"),
    pytest.param({"scores": {"a": "1"}}, "Expected `float`", id="a score that is text"),
    pytest.param({"scores": {"a": True}}, "Expected `float`", id="a score that is true"),
    pytest.param({"scores": {"a": None}}, "Expected `float`", id="a score that is null"),
    pytest.param({"scores": {"a": 101}}, "scores a 101, not within 0..100", id="a score too high"),
    pytest.param({"scores": {"a": -0.5}}, "scores a -0.5, not within 0..100", id="a score too low"),
    pytest.param({"scores": {"a": float("nan")}}, "scores a nan", id="NaN"),
    pytest.param({"scores": {"a": float("inf")}}, "scores a inf", id="infinity"),
    pytest.param({"scores": {"b": 1, "zz\0" * 99: 1}}, r"zz\x00", id="a code that fills the log"),
]


@pytest.mark.parametrize(("document", "said"), WRONG)
def test_a_wrong_answer_fails_the_decision(document: Any, said: str) -> None:
    with pytest.raises(PluginFailed) as caught:
        decided(document)
    assert said in str(caught.value)
    assert str(caught.value).startswith("plugin judge failed at filter: ")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(("document", "said"), WRONG)
def test_a_wrong_answer_is_left_out_where_the_profile_says_so(document: Any, said: str) -> None:
    outcome = decided(document, on_error="skip_filter")
    assert set(outcome.totals.values()) == {0.0}
    assert [(error.plugin, error.point) for error in outcome.answer.plugin_errors] == [
        ("judge", "filter"),
        ("judge", "score"),
    ]
    assert all(said in error.error for error in outcome.answer.plugin_errors)


@pytest.mark.parametrize(
    ("how", "errors"),
    [
        pytest.param({}, None, id="one that filters fails the decision"),
        pytest.param({"on_error": "fail"}, None, id="… also if that is said"),
        pytest.param({"on_error": "skip_filter"}, ["filter", "score"], id="… unless its filter is to be skipped"),
        pytest.param(
            {"score": False, "on_error": "skip_filter"}, ["filter"], id="… which is all where it only filters"
        ),
        pytest.param({"filter": False}, ["score"], id="one that only scores leaves the sum"),
        pytest.param({"filter": False, "on_error": "ignore"}, ["score"], id="… also if that is said"),
        pytest.param({"filter": False, "on_error": "fail"}, None, id="… unless it is to fail the decision"),
        pytest.param({"filter": False, "weight": 0}, [], id="one without weight matters to nobody"),
    ],
)
def test_no_answer_is_the_profiles_affair(how: dict[str, Any], errors: list[str] | None) -> None:
    if errors is None:
        with pytest.raises(PluginFailed, match="it was down"):
            decided(None, "it was down", **how)
        return
    outcome = decided(None, "it was down", **how)
    assert outcome.totals == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert [(error.point, error.error) for error in outcome.answer.plugin_errors] == [
        (point, "Unavailable: it was down") for point in errors
    ]


def test_a_scorer_that_was_not_asked_says_so() -> None:
    outcome = decide_for(KNOWN, policy(filter=False), **HERE)
    assert [error.error for error in outcome.answer.plugin_errors] == ["Unavailable: it was not asked"]


def test_two_of_them_keep_their_answers_apart() -> None:
    rules = profile(
        ("one", "extender", {"weight": 1, "args": {"url": URL}}),
        ("two", "extender", {"weight": 10, "args": {"url": URL, "high": 10}}),
    )
    replies = {
        "one": Reply(plugin="one", document={"scores": {"a": 1, "b": 2}}),
        "two": Reply(plugin="two", document={"rejected": {"b": "!"}, "scores": {"a": 1}}),
    }
    outcome = decide_for(KNOWN, rules, replies=replies, only=["a", "b"])
    assert (outcome.totals, outcome.rejections) == ({"a": 101.0}, {"b": "extender_rejected"})


def test_a_reason_is_one_readable_line() -> None:
    outcome = decided({"rejected": {"a": "no\n\0room" + "!" * 10_000}})
    (told,) = [told for told in outcome.answer.rejected or () if told.idc == "a"]
    assert told.reason.startswith("judge says: no  room!!!")
    assert len(told.detail["reason"]) == 500


@pytest.mark.parametrize(
    ("args", "code", "pointer"),
    [
        pytest.param({"url": None}, "wrong_type", "/url", id="no url"),
        pytest.param({"url": "judge.example"}, "invalid_url", "/url", id="a url without a scheme"),
        pytest.param({"url": "ftp://judge.example/"}, "invalid_url", "/url", id="another scheme"),
        pytest.param({"url": "https:///x"}, "invalid_url", "/url", id="no host"),
        pytest.param({"url": "https://me:pass@judge.example/"}, "invalid_url", "/url", id="a password in the url"),
        pytest.param({"url": "https://judge.example:x/"}, "invalid_url", "/url", id="a port that is none"),
        pytest.param({"url": "https://judge.example/a b"}, "invalid_url", "/url", id="a space in the url"),
        pytest.param({"timeout_seconds": 0}, "out_of_range", "/timeout_seconds", id="no time"),
        pytest.param({"timeout_seconds": 11}, "out_of_range", "/timeout_seconds", id="too much time"),
        pytest.param({"retries": 4}, "out_of_range", "/retries", id="too many retries"),
        pytest.param(
            {"attributes": ["idc/tier", "idc/stock"]}, "unknown_attribute", "/attributes/1", id="no such fact"
        ),
        pytest.param({"attributes": ["tier"]}, "unknown_attribute", "/attributes/0", id="no kind"),
        pytest.param({"attributes": ["metric/"]}, "unknown_attribute", "/attributes/0", id="no metric"),
        pytest.param({"low": 1, "high": 1}, "empty_range", "/high", id="an empty range"),
        pytest.param({"filter": False, "score": False}, "idle_plugin", "/filter", id="nothing to do"),
        pytest.param({"colour": 1}, "unknown_field", "/colour", id="an unknown argument"),
    ],
)
def test_refusals(args: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        policy(**args)
    (error,) = caught.value.errors
    assert (error.code, error.pointer) == (code, f"/plugins/1/args{pointer}")
    assert str(error).startswith(f"{error.pointer}: plugin extender: ")
