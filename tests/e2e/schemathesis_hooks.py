"""Schemathesis' hooks: no request takes away the access by which all the others are sent."""

import os
from typing import Any

import schemathesis

USER = os.environ["FUZZING_USER"]
TOKEN = int(os.environ["FUZZING_TOKEN_ID"])


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Whether to send it."""
    if case.method.upper() == "GET":
        return True
    path = case.path_parameters or {}
    if case.path.startswith("/api/v1/users/"):
        return path.get("username") != USER and not _names(case.body, "username", USER)
    if case.path.startswith("/api/v1/tokens/"):
        return str(path.get("id")) != str(TOKEN) and not _names(case.body, "id", TOKEN)
    return True


def _names(body: Any, key: str, value: object) -> bool:
    return isinstance(body, list) and any(isinstance(each, dict) and each.get(key) == value for each in body)
