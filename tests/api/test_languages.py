"""`Accept-Language` decides in which language sentences are; codes, names and numbers are the same in each."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api

CHINESE = {"accept_language": "zh-hans"}
ASKED = {"region": "A", "profile": "seed-example", "explain": "full"}
HAN = re.compile(r"[\u4e00-\u9fff]")


def asked(portal: Api, **headers: str) -> Any:
    return portal.call("POST", "/schedule/", {**ASKED, "request_id": "order-8812"}, status=200, **headers)


def without_sentences(document: Any) -> Any:
    """Return the document without sentences and without what differs between two answers: the same in all languages."""
    if isinstance(document, dict):
        changing = {
            "summary",
            "reason",
            "note",
            "snapshot",
            "decision_id",
            "http_request_id",
            "age_seconds",
            "commit_token",
        }
        kept = {name: value for name, value in document.items() if name not in {*changing, "elapsed_ms"}}
        return {name: without_sentences(value) for name, value in kept.items()}
    return [without_sentences(item) for item in document] if isinstance(document, list) else document


def test_it_works(seed: Api, portal: Api) -> None:
    english, chinese = asked(portal), asked(portal, **CHINESE)

    assert english["summary"] == "3/4 IDCs fit: 1 untolerated taint"
    assert chinese["summary"] == "4 个机房中 3 个符合：污点未被容忍 1 个"
    assert english["rejected"][0]["reason"] == "untolerated taint disabled=true:NoSchedule"
    assert chinese["rejected"][0]["reason"] == "污点 disabled=true:NoSchedule 未被容忍"
    assert without_sentences(english) == without_sentences(chinese)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        pytest.param("zh-hans", "zh-hans", id="simplified Chinese"),
        pytest.param("zh-CN,zh;q=0.9,en;q=0.8", "zh-hans", id="as browsers in China ask"),
        pytest.param("zh", "zh-hans", id="Chinese of any kind"),
        pytest.param("en-GB", "en", id="English of any kind"),
        pytest.param("fr", "en", id="a language that there is not"),
        pytest.param("tlh;q=nonsense", "en", id="nonsense"),
        pytest.param("", "en", id="none"),
        pytest.param("fr, zh-hans;q=0.5", "zh-hans", id="the best that there is"),
    ],
)
def test_the_language_is_negotiated(language: str, expected: str, seed: Api, portal: Api) -> None:
    for method, path in (("GET", "/plugins/"), ("GET", "/regions/Z/")):
        response: HttpResponse = portal.raw(method, path, accept_language=language)
        assert response["Content-Language"] == expected
        assert "Accept-Language" in {name.strip() for name in response["Vary"].split(",")}
        assert bool(HAN.search(response.content.decode())) == (expected == "zh-hans")


def test_several_reasons_are_counted(seed: Api, portal: Api) -> None:
    seed.call("PATCH", "/idcs/a/", {"status": "offline"}, status=200)
    seed.call("PATCH", "/idcs/b/", {"status": "offline"}, status=200)
    assert asked(portal)["summary"] == "1/4 IDCs fit: 2 offline, 1 untolerated taint"
    assert asked(portal, **CHINESE)["summary"] == "4 个机房中 1 个符合：离线 2 个，污点未被容忍 1 个"


@pytest.mark.parametrize(
    ("body", "status", "code", "detail"),
    [
        pytest.param({"region": "Z"}, 400, "unknown_region", "没有区域 Z", id="an unknown name"),
        pytest.param({"only": ["z"]}, 400, "unknown_idc", "没有机房 z", id="an unknown IDC"),
        pytest.param({}, 400, "region_required", "请指明位置：必须给出 `region` 或 `only`", id="a rule"),
        pytest.param({"region": 1}, 400, "wrong_type", None, id="a wrong type"),
        pytest.param({"region": "A", "top": 0}, 400, "out_of_range", "必须不小于 1", id="out of range"),
        pytest.param({"region": "A", "x": 1}, 400, "unknown_field", None, id="an unknown field"),
        pytest.param(
            {"region": "A", "tier": "x"}, 400, "invalid_choice", "必须是以下之一：center, edge", id="no such choice"
        ),
        pytest.param({"region": "A", "selector": []}, 400, "empty_selector", None, id="an ambiguity"),
        pytest.param({"region": "A", "tenant": "x"}, 403, "tenant_not_allowed", "您无权代表租户 x", id="forbidden"),
    ],
)
def test_refusals(body: dict[str, Any], status: int, code: str, detail: str | None, seed: Api, portal: Api) -> None:
    chinese = portal.call("POST", "/schedule/", body, status=status, **CHINESE)
    english = portal.call("POST", "/schedule/", body, status=status)

    assert chinese["code"] == english["code"] == code
    assert [error["pointer"] for error in chinese["errors"]] == [error["pointer"] for error in english["errors"]]
    assert HAN.search(chinese["detail"])
    assert not HAN.search(english["detail"])
    assert detail is None or chinese["detail"] == detail


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        pytest.param("GET", "/nowhere/", None, 404, id="no such path"),
        pytest.param("GET", "/idcs/z/", None, 404, id="no such object"),
        pytest.param("DELETE", "/schedule/", None, 405, id="a method that there is not"),
        pytest.param("POST", "/regions/", {"code": "-"}, 400, id="what a model's field refuses"),
        pytest.param("POST", "/regions/", {"code": "A"}, 409, id="what a constraint refuses"),
        pytest.param("DELETE", "/regions/A/", None, 409, id="what is in use"),
        pytest.param("GET", "/idcs/?x=1", None, 400, id="an unknown parameter"),
        pytest.param("POST", "/regions/", {"code": "n", "latitude": 91}, 400, id="a number out of its range"),
        pytest.param("POST", "/taints/", {"idc": "a", "key": "k", "effect": "x"}, 400, id="no such choice"),
        pytest.param(
            "POST", "/profiles/", {"code": "p", "plugins": [{"name": "c", "plugin": "metric"}]}, 400, id="in a plugin"
        ),
    ],
)
def test_refusals_of_all_kinds(method: str, path: str, body: Any, status: int, seed: Api) -> None:
    problem = seed.call(method, path, body, status=status, **CHINESE)
    assert HAN.search(problem["title"])
    assert HAN.search(problem["detail"])
    assert all(HAN.search(error["detail"]) for error in problem["errors"])


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        pytest.param("/regions/", {"code": "n", "latitude": -91}, "this must be at least -90", id="too small"),
        pytest.param("/regions/", {"code": "n", "longitude": 181}, "this must be at most 180", id="too large"),
        pytest.param(
            "/regions/", {"code": "n", "name": "n" * 201}, "the length of this must be at most 200", id="too long"
        ),
        pytest.param("/regions/", {}, "this is required", id="missing"),
        pytest.param("/regions/", {"code": None}, "this is required", id="null"),
        pytest.param("/idcs/", {"code": "n", "region": "A", "lines": {}}, "this must be a list", id="no list"),
        pytest.param("/regions/", "A", "this must be an object", id="no object"),
    ],
)
def test_fields_refuse_in_the_words_of_requests(seed: Api, path: str, body: Any, detail: str) -> None:
    """Refusals of fields use the product's own sentences, not those of Django or DRF."""
    assert [error["detail"] for error in seed.call("POST", path, body, status=400)["errors"]] == [detail]


def test_the_title_of_a_refusal(seed: Api) -> None:
    titles = [seed.call("GET", "/idcs/z/", status=404, **headers)["title"] for headers in ({}, CHINESE)]
    assert titles == ["Not Found", "未找到"]


def test_without_a_token(anonymous: Api) -> None:
    problem = anonymous.call("GET", "/idcs/", status=401, **CHINESE)
    assert (problem["code"], problem["detail"]) == ("token_missing", "请表明身份：Authorization: Bearer <token>")


@pytest.mark.parametrize(
    "headers", [pytest.param({}, id="asked in English"), pytest.param(CHINESE, id="asked in Chinese")]
)
def test_a_decision_is_read_in_the_language_of_the_reader(headers: dict[str, str], seed: Api, portal: Api) -> None:
    made = asked(portal, **headers)["decision_id"]

    english, chinese = portal.get(f"/decisions/{made}/"), portal.get(f"/decisions/{made}/", **CHINESE)

    assert english["summary"] == "3/4 IDCs fit: 1 untolerated taint"
    assert chinese["summary"] == "4 个机房中 3 个符合：污点未被容忍 1 个"
    assert chinese["rejected"][0]["reason"] == "污点 disabled=true:NoSchedule 未被容忍"
    assert without_sentences(english) == without_sentences(chinese)
    assert portal.get("/decisions/", **CHINESE)["results"][0]["summary"] == chinese["summary"]


@pytest.mark.parametrize("first", [{}, CHINESE], ids=["English", "Chinese"])
@pytest.mark.parametrize("then", [{}, CHINESE], ids=["read in English", "read in Chinese"])
def test_a_replay_is_identical_in_whichever_language(
    first: dict[str, str], then: dict[str, str], seed: Api, portal: Api
) -> None:
    made = asked(portal, **first)["decision_id"]

    again = portal.post(f"/decisions/{made}/replay/", {}, status=200, **then)

    assert again["identical"]
    assert again["then"]["summary"] == again["again"]["summary"]
    assert bool(HAN.search(again["again"]["summary"])) == (then == CHINESE)


def test_a_decision_without_its_sentences_stays_english(seed: Api, portal: Api) -> None:
    made = asked(portal)["decision_id"]
    recorder.settle()
    Decision.objects.filter(pk=made).update(sentences={})
    assert portal.get(f"/decisions/{made}/", **CHINESE)["summary"] == "3/4 IDCs fit: 1 untolerated taint"


def test_roles_are_refused_in_chinese(seed: Api, api: Callable[..., Api]) -> None:
    problem = api("viewer").call("POST", "/regions/", {"code": "x"}, status=403, **CHINESE)
    assert problem["detail"] == "角色 viewer 无权执行此操作"
