"""The OpenAPI document is valid and complete, and it describes what the API really takes and answers."""

import json
from io import StringIO
from typing import Any

import msgspec
import pytest
from django.core.management import call_command
from jsonschema import Draft202012Validator

from idcsched.api.views.openapi_document import _document
from idcsched.placement.documents import PlacementDocument
from tests.api.conftest import Api


def test_it_works() -> None:
    """No warning, and valid by the OpenAPI meta-schema."""
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", stdout=out)

    schema = json.loads(out.getvalue())
    assert {"/api/v1/schedule/", "/api/v1/samples/", "/api/v1/idcs/{code}/"} <= set(schema["paths"])


def test_it_is_served_without_a_token(anonymous: Api) -> None:
    response = anonymous.raw("GET", "/schema/?format=json", Accept="application/json")

    schema = response.json()
    body = schema["paths"]["/api/v1/schedule/"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["$ref"].rpartition("/")[2] in schema["components"]["schemas"]


def test_it_is_made_once_for_each_language_and_format(anonymous: Api) -> None:
    """Anybody may ask for the document, and making it takes long: made-up parameters must not have it made again."""
    before = _document.cache_info().misses
    asked = [
        "",
        "?lang=en",
        "?lang=zh-hans",
        "?lang=en&format=json",
        "?format=json",
        "?lang=xx",
        "?version=2",
        "?lang=xy",
    ]
    said = [anonymous.raw("GET", f"/schema/{query}").content for query in asked]
    assert _document.cache_info().misses - before <= len(set(said)) == 3
    assert said[0] == said[1] == said[5] == said[6] == said[7]
    assert said[3] == said[4]


def test_every_operation_says_in_a_few_words_what_it_does(anonymous: Api) -> None:
    """Every operation has a summary that no other has, and the tags come in the order in which portals need them."""
    schema = anonymous.raw("GET", "/schema/?format=json&lang=en", Accept="application/json").json()
    operations = [each for methods in schema["paths"].values() for each in methods.values()]
    summaries = [each.get("summary") for each in operations]
    assert len(operations) > 130
    assert None not in summaries
    assert not {summary for summary in summaries if summaries.count(summary) > 1}
    names = [tag["name"] for tag in schema["tags"]]
    assert names[:3] == ["schedule", "placements", "decisions"]
    assert {tag for each in operations for tag in each["tags"]} == set(names)


EXEMPLARY = {
    "affinities", "idcs", "isps", "lines", "metrics", "placements", "profiles", "providers", "region_scopes", "regions",
    "samples", "schedule", "sources", "taints", "tenants", "tokens", "users",
}  # fmt: skip


@pytest.fixture
def document(anonymous: Api) -> dict[str, Any]:
    found: dict[str, Any] = anonymous.raw("GET", "/schema/?format=json", Accept="application/json").json()
    return found


@pytest.fixture
def paths(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"]
    return found


def test_its_examples_are_taken(seed: Api, portal: Api, paths: dict[str, Any]) -> None:
    """The document's example of each POST, sent unchanged to its address, is accepted."""
    seed.post("/regions/", {"code": "440000"}, status=201)
    seed.post("/isps/", {"code": "ct"}, status=201)
    advised = portal.schedule(region="A", profile="default")
    named = {"commit_token": advised["commit_token"]}
    shown = set()
    for path, methods in sorted(paths.items(), key=lambda item: "tokens" in item[0] or "region_scopes" in item[0]):
        address = path.removeprefix("/api/v1").replace("{code}", "default").replace("{id}", advised["decision_id"])
        for example in examples_of(methods.get("post", {})) if path not in ELSEWHERE else ():
            body = {**example, **named} if address == "/placements/" else example
            caller = portal if "/schedule/" in path or "/placements/" in path else seed
            answer = caller.raw("POST", address, json.dumps(body))
            assert answer.status_code in {200, 201, 202}, (path, answer.content)
            shown.add(path.split("/")[3])
    assert shown >= EXEMPLARY


ELSEWHERE = {
    "/api/v1/advice/moves/",
    "/api/v1/tokens/{id}/rotate/",
    "/api/v1/placements/{id}/give_up/",
    "/api/v1/placements/{id}/move/",
    "/api/v1/providers/{code}/outcomes/",
}
"""Their examples need an object in a certain state: the tests of that object send them."""


def examples_of(operation: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [example["value"] for example in content.get("examples", {}).values()]


@pytest.mark.parametrize("method", ["put", "patch"])
def test_its_examples_of_changes_are_taken(seed: Api, paths: dict[str, Any], method: str) -> None:
    """The document's examples of PUT and PATCH are accepted for the object that the example of a POST has made."""
    seed.post("/regions/", {"code": "440000"}, status=201)
    seed.post("/isps/", {"code": "ct"}, status=201)
    for path, methods in sorted(paths.items(), key=lambda item: "tokens" in item[0]):
        if method not in methods or not path.endswith(("{code}/", "{id}/", "{username}/")):
            continue
        collection = path.removeprefix("/api/v1").rpartition("{")[0]
        (new, *_), changes = examples_of(paths[f"/api/v1{collection}"]["post"]), examples_of(methods[method])
        made = seed.post(collection, new, status=201)
        key = path.rpartition("{")[2].rstrip("}/")
        for change in changes:
            answer = seed.raw(method.upper(), f"{collection}{made[key]}/", json.dumps(change))
            assert answer.status_code == 200, (path, answer.content)
        for members in examples_of(paths[f"/api/v1{collection}"].get(method, {})):
            named = [{**member, key: made[key]} if key == "id" else member for member in members]
            answer = seed.raw(method.upper(), collection, json.dumps(named))
            assert answer.status_code == 200, (path, answer.content)
        assert changes, path


def test_every_body_has_an_example(paths: dict[str, Any]) -> None:
    operations = {(path, method): operation for path, methods in paths.items() for method, operation in methods.items()}
    without = {key for key, each in operations.items() if "requestBody" in each and not examples_of(each)}
    assert not without


def test_its_answers_are_such_as_are_given(paths: dict[str, Any]) -> None:
    for path, method, status in (
        ("placements/", "post", "201"),
        ("placements/", "post", "200"),
        ("placements/{id}/", "get", "200"),
    ):
        answer = paths[f"/api/v1/{path}"][method]["responses"][status]["content"]["application/json"]
        (example,) = answer["examples"].values()
        document = msgspec.convert(example["value"], PlacementDocument)
    assert msgspec.json.decode(msgspec.json.encode(document)) == example["value"]


@pytest.mark.parametrize(
    ("kind", "field", "value", "taken"),
    [
        pytest.param("User", "email", "", True, id="no address"),
        pytest.param("User", "email", "a@example.com", True, id="an address"),
        pytest.param("Machine", "bandwidth_mbps", 0, True, id="no bandwidth"),
        pytest.param("Machine", "bandwidth_mbps", 1e-6, True, id="the least that is shown"),
        pytest.param("Machine", "bandwidth_mbps", 1e-7, False, id="less than that"),
        *(
            pytest.param("ShapeRequest", "entered", [1.0] * count, taken, id=f"{count} hours")
            for count, taken in ((23, False), (24, True), (25, False), (167, False), (168, True), (169, False))
        ),
    ],
)
def test_its_fields_take_what_the_api_takes(
    document: dict[str, Any], kind: str, field: str, value: Any, *, taken: bool
) -> None:
    schema = document["components"]["schemas"][kind]["properties"][field]
    assert Draft202012Validator(schema).is_valid(value) is taken


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("schedule/", True),
        ("schedule/batch/", True),
        ("samples/", True),
        ("placements/", True),
        ("profiles/{code}/preview/", True),
        ("taints/preview/", True),
        ("decisions/{id}/replay/", False),
    ],
)
def test_it_says_where_a_body_is_needed(seed: Api, paths: dict[str, Any], path: str, *, needed: bool) -> None:
    assert paths[f"/api/v1/{path}"]["post"]["requestBody"].get("required", False) is needed
    decision = seed.schedule(region="A", profile="default")["decision_id"]
    address = path.replace("{code}", "default").replace("{id}", decision)
    answered = seed.raw("POST", f"/{address}").status_code
    assert answered in {400, 415} if needed else answered == 200


@pytest.mark.parametrize("path", ["/docs/"])
def test_its_page_needs_nothing_from_elsewhere(anonymous: Api, path: str) -> None:
    page = anonymous.raw("GET", path).content.decode()

    assert "swagger-ui" in page
    assert "https://" not in page.replace("https://swagger.io", "").replace("https://www.openapis.org", "")


CONDITIONAL = {
    "deliveries/{id}/resend", "placements/{id}/confirm", "placements/{id}/give_up", "placements/{id}/move",
    "placements/{id}/provision",
    "placements/{id}/release", "placements/{id}/retry", "profiles/{code}/revisions",
    "profiles/{code}/revisions/{number}/activate", "sources/{code}/run", "tenants/{code}/callback_secret",
    "tokens/{id}/revoke", "tokens/{id}/rotate",
}  # fmt: skip


def test_who_posts_is_told_where_an_etag_is_compared(paths: dict[str, Any]) -> None:
    posts = {path.removeprefix("/api/v1/").rstrip("/"): item["post"] for path, item in paths.items() if "post" in item}
    taking = {path for path, post in posts.items() if "If-Match" in [each["name"] for each in post["parameters"]]}
    assert taking == {path for path, post in posts.items() if "412" in post["responses"]} == CONDITIONAL


def test_who_commits_is_told_that_there_may_be_no_such_recommendation(paths: dict[str, Any]) -> None:
    assert "404" in paths["/api/v1/placements/"]["post"]["responses"]
    assert "404" not in paths["/api/v1/schedule/"]["post"]["responses"]
