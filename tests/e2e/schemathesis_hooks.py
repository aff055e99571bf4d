"""Hooks for Schemathesis: each request is sent by a user of a random role, and often names objects that exist.

No request takes away the access with which all the others are sent.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase

FUZZING = json.loads(os.environ["FUZZING"])
TOKENS: dict[str, str] = FUZZING["tokens"]
USERS: list[str] = FUZZING["users"]
TOKEN_IDS: list[int] = FUZZING["token_ids"]
IDS: dict[str, str] = FUZZING["ids"]

WEIGHTS = {"admin": 7, "operator": 1, "portal": 1, "viewer": 1}
ODD_HEADERS = 0.1
REAL = 0.9
WHOLE = 0.2
"""The share of edits and commits that are sent with a body which must be accepted."""
CONDITIONS = 0.1
"""The share of requests that keep their `If-Match` or their `Idempotency-Key`.

Schemathesis sends the same values in most cases, so all requests but the first would be refused because of them.
"""
FRESH_FOR = 3.0
"""Seconds for which a list of existing objects is used before it is asked for again."""
SPARED = 6
"""The number of objects of each kind that deletions leave."""
ODD = {
    "Idempotency-Key": ["", "a" * 256, "a b", "é", "[]", "\xff\xfe", "a,b"],
    "If-Match": ["", "*", '"', 'W/"x"', '"x", "y"', '""', "é", ",", '"' * 300, "\xff"],
    "Accept": ["", "*/*", "text/html", "application/*;q=0", "é", ";;;", "application/json; q=x", "a" * 5000, "\xff/*"],
    "Content-Type": [
        *("", "text/plain", "application/json; charset=utf-16", "application/json; charset=nope", "é", "\xff"),
        *("multipart/form-data", "multipart/form-data; boundary=é", "application/json;;", "application/problem+json"),
    ],
    "Accept-Language": ["", "zh-hans", "zh-TW,zh;q=0.x", "*", "é", "-" * 600, "en;q=9", "xx-\xff"],
    "Accept-Encoding": ["", "identity;q=0", "gzip;q=x", "é", "br," * 300],
    "If-None-Match": ["", "*", '"', "é", ",,", '"' * 300],
    "X-Request-ID": ["", "a b", "é", "\xff", "a" * 5000, "<b>"],
    "X-Change-Message": ["", "é", "\xff", "a" * 5000, "%00", "=?utf-8?q?x?="],
    "X-Forwarded-For": ["", "é", "1.1.1.1,,x", "::1%eth0", "a" * 3000],
    "Cookie": ["", "sessionid", "sessionid=é; csrftoken=x", ";;;=", "a=" + "b" * 3000],
    "Origin": ["", "null", "é", "http://["],
    "Range": ["", "bytes=9-1", "x"],
}
LINE = {"purchased_mbps": 10, "commit_mbps": 0}
SPARE: dict[str, Callable[[str], dict[str, Any]]] = {
    "regions": lambda name: {"code": name},
    "isps": lambda name: {"code": name},
    "idcs": lambda name: {"code": name, "region": "440000"},
    "metrics": lambda name: {"code": name, "direction": "higher", "scope": "idc"},
    "profiles": lambda name: {"code": name, "plugins": []},
    "tenants": lambda name: {"code": name},
    "users": lambda name: {"username": name, "role": "viewer"},
    "providers": lambda name: {"code": name, "kind": "simulated"},
    "sources": lambda name: {**FUZZING["source"], "code": name},
    "taints": lambda name: {"idc": chance.choice(_all("idcs")), "key": name, "effect": "NoSchedule"},
    "affinities": lambda name: {"idc": chance.choice(_all("idcs")), "kind": "prefer", "weight": 5, "reason": name},
    "shapes": lambda name: {"business": name, "entered": [1] * 24},
    "lines": lambda name: {**LINE, "idc": chance.choice(_all("idcs")), "code": name, "isp": FUZZING["isp"]},
    "tokens": lambda name: {"user": FUZZING["spare_user"], "name": name},
}
TAKES_AWAY = {"DELETE": "", "POST": "/revoke/"}

chance = random.Random(1)
_reached: set[str] = set()
_known: dict[str, tuple[float, list[Any]]] = {}


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Whether to send the case: a share of those from the schema, and none that takes away the access of the tests."""
    if case.meta is not None and case.meta.phase.name == TestPhase.COVERAGE and chance.random() > FUZZING["share"]:
        return False
    if case.method.upper() == "GET":
        return True
    path = case.path_parameters or {}
    if case.path.startswith("/api/v1/users/"):
        return path.get("username") not in USERS and not _names(case.body, "username", USERS)
    if case.path.startswith("/api/v1/tokens/"):
        return path.get("id") not in {*TOKEN_IDS, *map(str, TOKEN_IDS)} and not _names(case.body, "id", TOKEN_IDS)
    return True


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Send the case as a user of a random role, with a name that exists and now and then with an unexpected header."""
    documented = case.method.upper() == case.operation.method.upper()
    role = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0] if documented else "admin"
    case.headers["Authorization"] = f"Bearer {TOKENS[role]}"
    if documented:
        _set_headers(case)
        _send_what_is_taken(case)
        part = case.meta.components.get(ParameterLocation.PATH) if case.meta else None
        if (
            part is not None
            and part.mode == GenerationMode.POSITIVE
            and case.path_parameters
            and chance.random() < REAL
        ):
            _name_what_is_there(case)


def _set_headers(case: Any) -> None:
    for name in ("Idempotency-Key", "If-Match"):
        if name in case.headers and chance.random() > CONDITIONS:
            del case.headers[name]
    for name, values in ODD.items():
        if name not in case.headers and chance.random() < ODD_HEADERS:
            case.headers[name] = chance.choice(values)


def _send_what_is_taken(case: Any) -> None:
    """In a share of the cases replace the body by one that must be accepted: an edit of a row or a new commit token."""
    if case.path_parameters or chance.random() > WHOLE:
        return
    resource = case.path.split("/")[3]
    if case.method.upper() == "PATCH":
        case.body = [{IDS[resource]: one} for one in _all(resource)[:1]]
    elif case.method.upper() == "POST" and resource == "placements":
        case.body = {"commit_token": _made("schedule", {**FUZZING["order"], "action": "recommend"}, "commit_token")}


def _name_what_is_there(case: Any) -> None:
    case.path_parameters.update(_there(case))
    if case.method.upper() == "PUT" and chance.random() < WHOLE:
        whole = SPARE[case.path.split("/")[3]](str(*case.path_parameters.values()))
        case.body = {name: value for name, value in whole.items() if name != "idc"}  # which a mark keeps
    if case.path.endswith("/diff/") and chance.random() < REAL:
        case.query.clear()


def _names(body: Any, key: str, values: list[Any]) -> bool:
    return isinstance(body, list) and any(isinstance(each, dict) and each.get(key) in values for each in body)


def _there(case: Any) -> dict[str, Any]:
    """Return parameters of the path that name an object which exists."""
    resource, (name, *more) = case.path.split("/")[3], case.path_parameters
    ending = TAKES_AWAY.get(case.method.upper())
    takes_away = ending is not None and case.path.endswith(ending or "/")
    if resource == "placements" and case.method.upper() == "POST" and chance.random() < 0.5:
        return {name: _made("schedule", FUZZING["order"], "id")}
    if takes_away and resource in SPARE:
        return {name: _made(resource, SPARE[resource](f"spare-{chance.randrange(10**9)}"), IDS[resource])}
    found = _all({"bandwidth": "lines", "advice": "placements"}.get(resource, resource))
    if not found or (takes_away and len(found) <= SPARED):
        return {}
    return {name: chance.choice(found), **dict.fromkeys(more, 1)}


def _all(resource: str) -> list[Any]:
    """Return the keys of all objects of a kind, without the users and tokens with which the requests are sent."""
    at, found = _known.get(resource, (0.0, []))
    if monotonic() - at > FRESH_FOR:
        spared = {"users": USERS, "tokens": TOKEN_IDS}.get(resource, [])
        rows = _asked(f"{resource}/?limit=30")["results"]
        found = [row[IDS[resource]] for row in rows if row[IDS[resource]] not in spared]
        _known[resource] = (monotonic(), found)
    return found


def _made(resource: str, document: dict[str, Any], key: str) -> Any:
    try:
        return _asked(f"{resource}/", document)[key]
    except HTTPError:  # what was sent before has changed what it needs
        return "gone"


def _asked(path: str, document: dict[str, Any] | None = None) -> Any:
    body = None if document is None else json.dumps(document).encode()
    headers = {"Authorization": f"Bearer {TOKENS['admin']}", "Content-Type": "application/json"}
    with urlopen(Request(f"{FUZZING['address']}{path}", body, headers), timeout=60) as answer:
        return json.load(answer)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Note which operations have succeeded, or were refused with a 409."""
    reached = f"{case.method.upper()} {case.path}"
    if reached not in _reached and (response.status_code < 300 or response.status_code == 409):
        _reached.add(reached)
        with Path(FUZZING["reached"]).open("a", encoding="utf-8") as file:
            file.write(f"{reached}\n")
