"""`POST /api/v1/schedule/` on the seed example answers as the contract prints it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Api, recorded

ASKED = {"request_id": "order-8812", "region": "A", "profile": "seed-example", "explain": "full"}
ANSWER_KEYS = [
    "decision_id", "request_id", "http_request_id", "result", "reason_code", "idc", "lines", "score", "score_mean",
    "candidates", "tie", "margin", "rejected", "rejected_counts", "near_misses", "summary", "evaluated", "feasible",
    "not_visited", "picked", "fallback_group", "stale", "plugin_errors", "degraded", "profile", "snapshot",
    "commit_token", "elapsed_ms", "bill", "bill_unknown", "worth",
]  # fmt: skip
TAINT_OF_C = {"taint": "disabled=true:NoSchedule", "reason": "The best room, and out of use."}


def score(raw: float, weight: float) -> dict[str, Any]:
    return {
        "raw": raw,
        "normalized": raw,
        "weight": weight,
        "nominal_weight": weight,
        "contribution": raw * weight,
        "missing": None,
    }


def without_age(scores: dict[str, Any]) -> dict[str, Any]:
    for entry in scores.values():
        assert entry.pop("age_seconds") >= 0
    return scores


def test_it_works(seed: Api, portal: Api) -> None:
    answer = portal.schedule(**ASKED)

    assert list(answer) == ANSWER_KEYS
    assert answer["request_id"] == "order-8812"
    assert (answer["result"], answer["reason_code"]) == ("scheduled", None)
    assert answer["idc"] == {"code": "d", "name": "d", "region": "A"}
    assert (answer["lines"], answer["score"], answer["score_mean"]) == ([], 220.0, 2.0)
    assert [(c["rank"], c["idc"], c["score"]) for c in answer["candidates"]] == [
        (1, "d", 220.0),
        (2, "b", 220.0),
        (3, "a", 110.0),
    ]
    assert without_age(answer["candidates"][0]["scores"]) == {"x": score(2.0, 10.0), "y": score(2.0, 100.0)}
    assert answer["tie"] == {"between": ["d", "b"], "broken_by": "affinity", "values": {"d": 1.0, "b": 0.0}}
    assert answer["margin"] == {
        "runner_up": "b",
        "score": 0.0,
        "flips": [{"scorer": "x", "weight": None}, {"scorer": "y", "weight": None}],
    }
    assert answer["rejected"] == [
        {
            "idc": "c",
            "plugin": "taint",
            "code": "untolerated_taint",
            "reason": "untolerated taint disabled=true:NoSchedule",
            "detail": TAINT_OF_C,
            "also": [],
        }
    ]
    assert answer["rejected_counts"] == [{"plugin": "taint", "code": "untolerated_taint", "count": 1}]
    assert answer["summary"] == "3/4 IDCs fit: 1 untolerated taint"
    assert (answer["evaluated"], answer["feasible"], answer["not_visited"]) == (4, 3, 0)
    assert (answer["picked"], answer["fallback_group"], answer["near_misses"], answer["stale"]) == (
        "best",
        None,
        [],
        [],
    )
    assert (answer["plugin_errors"], answer["degraded"]) == ([], False)
    assert answer["profile"] == {"code": "seed-example", "revision": 1}
    assert answer["worth"]["best"] == {"x": 20.0, "y": 200.0}
    assert answer["snapshot"]["age_seconds"] >= 0
    assert answer["commit_token"]


def test_the_answer_is_on_record(seed: Api, portal: Api) -> None:
    answer = portal.schedule(**ASKED)

    recorded = portal.get(f"/decisions/{answer['decision_id']}/")

    assert recorded["tenant"] == "live-cn"
    assert recorded["actor"] == "portal"
    assert recorded["request"] == ASKED
    assert recorded["commit_token"] is None, "a token is not kept where others may read it"
    assert {key: recorded[key] for key in ANSWER_KEYS if key != "commit_token"} == {
        key: answer[key] for key in ANSWER_KEYS if key != "commit_token"
    }


@pytest.mark.no_cover
def test_without_affinity_the_tie_is_fair_over_many_requests(seed: Api, portal: Api) -> None:
    (affinity,) = seed.get("/affinities/?idc=d")["results"]
    seed.call("DELETE", f"/affinities/{affinity['id']}/", status=204)

    winners = [portal.schedule(**{**ASKED, "request_id": f"order-{n}"})["idc"]["code"] for n in range(1000)]
    again = [portal.schedule(**{**ASKED, "request_id": f"order-{n}"})["idc"]["code"] for n in range(20)]

    assert winners[:20] == again, "stable for one request"
    assert 400 <= winners.count("b") <= 600
    assert winners.count("b") + winners.count("d") == 1000


def test_c_wins_once_its_taint_is_lifted(seed: Api, portal: Api) -> None:
    (taint,) = seed.get("/taints/?idc=c")["results"]
    seed.call("DELETE", f"/taints/{taint['id']}/", status=204)

    answer = portal.schedule(**ASKED)

    assert (answer["idc"]["code"], answer["score"]) == ("c", 330.0)


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param({"tolerations": [{"key": "disabled", "value": "true"}]}, id="equal"),
        pytest.param({"tolerations": [{"key": "disabled", "operator": "Exists"}]}, id="exists"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, id="every key"),
        pytest.param({"hypothetical": {"ignore_taints": [{"idc": "c", "key": "disabled"}]}}, id="hypothetically gone"),
    ],
)
def test_c_wins_where_its_taint_is_tolerated(seed: Api, portal: Api, extra: dict[str, Any]) -> None:
    answer = portal.schedule(**ASKED, **extra)

    assert (answer["idc"]["code"], answer["score"]) == ("c", 330.0)


def test_b_does_not_win_where_its_x_is_hypothetically_missing(seed: Api, portal: Api) -> None:
    (affinity,) = seed.get("/affinities/?idc=d")["results"]
    seed.call("DELETE", f"/affinities/{affinity['id']}/", status=204)
    missing = {"hypothetical": {"idcs": [{"code": "b", "metrics": {"x": None}}]}}

    answers = [portal.schedule(**{**ASKED, "request_id": f"order-{n}"}, **missing) for n in range(20)]

    assert {answer["idc"]["code"] for answer in answers} == {"d"}
    assert answers[0]["commit_token"] is None
    assert answers[0]["stale"] == [{"idc": "b", "line": None, "metric": "x", "age_seconds": None, "used_as": "neutral"}]


def test_b_does_not_win_where_its_x_was_never_reported(
    seed: Api, portal: Api, forget_latest: Callable[[str, str], None]
) -> None:
    forget_latest("b", "x")

    answer = portal.schedule(**ASKED)

    assert answer["idc"]["code"] == "d"
    assert answer["stale"][0]["idc"] == "b"


def test_hypothetical_leaves_no_trace(seed: Api, portal: Api) -> None:
    what_if = {"hypothetical": {"taints": [{"idc": "d", "key": "fire", "effect": "NoSchedule"}]}}

    supposed = portal.schedule(**ASKED, **what_if)
    real = portal.schedule(**ASKED)

    assert (supposed["idc"]["code"], real["idc"]["code"]) == ("b", "d")
    assert seed.get("/taints/?idc=d")["count"] == 0


def test_nothing_fits_is_an_answer(seed: Api, portal: Api) -> None:
    answer = portal.schedule(region="A", profile="seed-example", only=["c"])

    assert (answer["result"], answer["reason_code"]) == ("unschedulable", "none_feasible")
    assert (answer["idc"], answer["score"], answer["score_mean"], answer["commit_token"]) == (None, None, None, None)
    assert answer["summary"] == "0/4 IDCs fit: 3 excluded by the request, 1 untolerated taint"
    assert [miss["idc"] for miss in answer["near_misses"]] == ["c"]
    assert recorded(answer["decision_id"]).idc == ""


def test_a_region_without_idcs(seed: Api, portal: Api) -> None:
    seed.post("/regions/", {"code": "empty"}, status=201)

    answer = portal.schedule(region="empty", profile="seed-example")

    assert (answer["result"], answer["reason_code"], answer["evaluated"]) == ("unschedulable", "no_idc_in_region", 0)


def test_explain_governs_what_is_told(seed: Api, portal: Api) -> None:
    told = ("candidates", "tie", "margin", "rejected", "rejected_counts", "near_misses", "stale")

    nothing = portal.schedule(**{**ASKED, "explain": "none"})
    summary = portal.schedule(**{**ASKED, "explain": "summary", "top": 1})

    assert all(nothing[key] is None for key in told)
    assert nothing["summary"] == "3/4 IDCs fit: 1 untolerated taint"
    assert [candidate["idc"] for candidate in summary["candidates"]] == ["d"]
    assert summary["rejected"] is None
    assert summary["rejected_counts"]


def test_weights_may_be_overridden(seed: Api, portal: Api) -> None:
    answer = portal.schedule(**ASKED, weights={"x": 5, "y": 0})

    assert answer["score"] == 10.0
    assert list(answer["candidates"][0]["scores"]) == ["x"]


def test_a_change_is_in_force_for_the_next_request(seed: Api, portal: Api) -> None:
    seed.call("PATCH", "/idcs/d/", {"status": "draining"}, status=200)

    answer = portal.schedule(**ASKED)

    assert answer["idc"]["code"] == "b"
    assert answer["summary"] == "2/4 IDCs fit: 1 draining, 1 untolerated taint"


def test_a_new_profile_revision_is_in_force_and_named(seed: Api, portal: Api) -> None:
    before = portal.schedule(**ASKED)
    (profile,) = seed.get("/profiles/?code=seed-example")["results"]
    profile["plugins"][3]["weight"] = 20
    seed.call("PUT", "/profiles/seed-example/", {"code": "seed-example", "plugins": profile["plugins"]}, status=200)

    after = portal.schedule(**ASKED)

    assert (before["profile"]["revision"], after["profile"]["revision"]) == (1, 2)
    assert (before["score"], after["score"]) == (220.0, 240.0)


def test_the_operators_affinity_sees_the_tokens_tenant(seed: Api, portal: Api, api: Callable[..., Api]) -> None:
    seed.post(
        "/affinities/",
        {"idc": "d", "kind": "forbid", "request_selector": {"match_labels": {"tenant": "live-cn"}}},
        status=201,
    )

    assert portal.schedule(**ASKED)["idc"]["code"] == "b"
    assert api("operator").schedule(**ASKED)["idc"]["code"] == "d"


def test_the_http_request_id_comes_back(seed: Api, portal: Api) -> None:
    sane = portal.raw("POST", "/schedule/", b'{"region": "A", "profile": "seed-example"}', X_Request_ID="abc-1")
    wild = portal.raw("POST", "/schedule/", b'{"region": "A", "profile": "seed-example"}', X_Request_ID="a b\tc")

    assert sane["X-Request-ID"] == "abc-1"
    assert b'"http_request_id":"abc-1"' in sane.content
    assert wild["X-Request-ID"] not in ("a b\tc", "")


def test_queries_do_not_grow_with_the_answer(
    seed: Api, portal: Api, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for _ in range(2):  # the second reads, on PostgreSQL, what this still open transaction itself has written
        portal.schedule(**ASKED)

    with django_assert_max_num_queries(8):
        portal.schedule(**ASKED)
