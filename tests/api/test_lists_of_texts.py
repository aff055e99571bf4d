"""A field that takes a list of texts refuses a number or a single text with a 400 that names the field."""

import pytest

from .conftest import Api

LISTS = {
    "/isps/": ("aliases", {"code": "acme"}),
    "/tenants/": ("callback_hosts", {"code": "acme"}),
    "/tokens/": ("allowed_networks", {"user": "admin", "name": "one"}),
}


@pytest.mark.parametrize("path", LISTS)
def test_it_works(admin: Api, path: str) -> None:
    field, others = LISTS[path]
    made = admin.call("POST", path, {**others, field: []}, status=201)
    assert made[field] == []


@pytest.mark.parametrize("wrong", [5, 668184616143241478144, 0, "a", "", {}, True, [1], None])
@pytest.mark.parametrize("path", LISTS)
def test_nothing_else_is_taken_for_one(admin: Api, path: str, wrong: object) -> None:
    field, others = LISTS[path]
    problem = admin.call("POST", path, {**others, field: wrong}, status=400)
    assert {error["pointer"].split("/")[1] for error in problem["errors"]} == {field}
