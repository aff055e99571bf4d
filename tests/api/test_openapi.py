"""The OpenAPI document is valid, and nothing in it is a guess."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

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


EXEMPLARY = {"affinities", "idcs", "samples", "schedule", "taints"}


def test_its_examples_are_taken(seed: Api, portal: Api, anonymous: Api) -> None:
    """Each is sent as it stands, to where it stands."""
    paths = anonymous.raw("GET", "/schema/?format=json", Accept="application/json").json()["paths"]
    seed.post("/regions/", {"code": "440000"}, status=201)
    seed.post("/isps/", {"code": "ct"}, status=201)
    shown = set()
    for path, methods in paths.items():
        media = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in media.get("examples", {}).values():
            caller = portal if "/schedule/" in path else seed
            answer = caller.raw("POST", path.removeprefix("/api/v1"), json.dumps(example["value"]))
            assert answer.status_code in {200, 201, 202}, (path, answer.content)
            shown.add(path.split("/")[3])
    assert shown >= EXEMPLARY


@pytest.mark.parametrize("path", ["/docs/"])
def test_its_page_needs_nothing_from_elsewhere(anonymous: Api, path: str) -> None:
    page = anonymous.raw("GET", path).content.decode()

    assert "swagger-ui" in page
    assert "https://" not in page.replace("https://swagger.io", "").replace("https://www.openapis.org", "")
