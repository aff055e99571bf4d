"""The OpenAPI document is valid, and nothing in it is a guess."""

import json
from io import StringIO
from typing import Any

import msgspec
import pytest
from django.core.management import call_command

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


EXEMPLARY = {"affinities", "idcs", "placements", "profiles", "samples", "schedule", "taints"}


@pytest.fixture
def paths(anonymous: Api) -> dict[str, Any]:
    found: dict[str, Any] = anonymous.raw("GET", "/schema/?format=json", Accept="application/json").json()["paths"]
    return found


def test_its_examples_are_taken(seed: Api, portal: Api, paths: dict[str, Any]) -> None:
    """Each is sent as it stands, to where it stands."""
    seed.post("/regions/", {"code": "440000"}, status=201)
    seed.post("/isps/", {"code": "ct"}, status=201)
    advised = portal.schedule(region="A", profile="default")
    named = {"commit_token": advised["commit_token"]}
    shown = set()
    for path, methods in paths.items():
        address = path.removeprefix("/api/v1").replace("{code}", "default").replace("{id}", advised["decision_id"])
        media = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in media.get("examples", {}).values():
            body = {**example["value"], **named} if address == "/placements/" else example["value"]
            caller = portal if "/schedule/" in path or "/placements/" in path else seed
            answer = caller.raw("POST", address, json.dumps(body))
            assert answer.status_code in {200, 201, 202}, (path, answer.content)
            shown.add(path.split("/")[3])
    assert shown >= EXEMPLARY


def test_its_answers_are_such_as_are_given(paths: dict[str, Any]) -> None:
    for path, method, status in (
        ("placements/", "post", "201"),
        ("placements/", "post", "200"),
        ("placements/{id}/", "get", "200"),
    ):
        answer = paths[f"/api/v1/{path}"][method]["responses"][status]["content"]["application/json"]
        (example,) = answer["examples"].values()
        assert msgspec.to_builtins(msgspec.convert(example["value"], PlacementDocument)) == example["value"]


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("schedule/", True),
        ("schedule/batch/", True),
        ("samples/", True),
        ("placements/", True),
        ("profiles/{code}/preview/", True),
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
