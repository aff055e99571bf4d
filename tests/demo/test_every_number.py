"""Every number of every answer: no more digits than its unit deserves, and each sum is the sum of its parts."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.demo.showcase import ORDER
from idcsched.demo.sources import sources_point_to
from idcsched.ledger.models import Claim
from idcsched.placement.delivering import placement_deliver
from idcsched.planning.models import Backtest
from idcsched.planning.services import advice_run, backtest_run
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from metrics_ingest.models import Source
from metrics_ingest.sources.collecting import source_collect
from tests.api.conftest import Api, speaking
from tests.placement.receiving import receiver

pytestmark = pytest.mark.usefixtures("db")

MBPS, MONEY, SECONDS, ELSE = 3, 2, 3, 6
"""The decimals of each unit; scores, shares and what a client orders have ELSE."""
AMOUNTS = frozenset(
    {
        *("per_month", "before", "after", "counted", "amount", "low_amount", "high_amount", "added", "by_charge_type"),
        *(
            "without_orders",
            "saves",
            "expected",
            "promised",
            "saves_at_most",
            "billed",
            "would_be_billed",
            "bill",
            "bound",
            "greedy_bill",
        ),
    }
)
ORDERED = frozenset({"bandwidth_mbps", "quota_bandwidth_mbps", "need", "short_by"})
TAILS = (0.02821044921876, 1 / 3)
"""What floats have at their ends where somebody has calculated with them."""
NOT_WALKED = {
    "/advice/": "starts a job",
    "/placements/{id}/confirm/": "the placement, as walked",
    "/placements/{id}/give_up/": "the placement, as walked",
    "/placements/{id}/move/": "the placement, as walked",
    "/placements/{id}/provision/": "the placement, as walked",
    "/placements/{id}/release/": "the placement, as walked",
    "/placements/{id}/retry/": "the placement, as walked",
    "/deliveries/{id}/resend/": "the delivery, as walked",
    "/profiles/{code}/backtest/": "the backtest, as walked",
    "/profiles/{code}/revisions/": "the revision, as walked",
    "/profiles/{code}/revisions/{number}/activate/": "the profile, as walked",
    "/providers/{code}/outcomes/": "signed by a provider, and answered without a number",
    "/sources/{code}/run/": "starts a job",
    "/sources/{code}/test/": "what the source says, unchanged",
    "/tenants/{code}/callback_secret/": "a secret",
    "/tokens/{id}/revoke/": "the token, as walked",
    "/tokens/{id}/rotate/": "the token, as walked",
    "/samples/": "how many were stored",
}
"""Addresses that are not posted to, and why. Where a new object is made, a GET of it shows what the answer shows."""
KEYS = {
    "/decisions/": "decision_id",
    "/bandwidth/": "line",
    "/advice/moves/": "placement",
    "/users/": "username",
    "/profiles/default/revisions/": "revision",
}
"""What names a member in a list, where it is neither `code`, `id` nor `number`."""
ODD = {"bandwidth_mbps": 0.1}
"""Three times that is 0.30000000000000004."""
TOO_MUCH = {**ORDER, "machines": [{"bandwidth_mbps": 33_333.1}]}
POSTED: dict[str, Sequence[Mapping[str, Any]]] = {
    "/schedule/": [
        ORDER,
        TOO_MUCH,
        {**ORDER, "machines": [{**ODD, "count": 3}]},
        {**ORDER, "machines": [{"count": 3, "bandwidth_mbps": 300}], "spread": {"max_per_idc": 1}},
        {**ORDER, "profile": "bandwidth-first", "weights": {"network_flow": 2.5}},
    ],
    "/schedule/batch/": [{"requests": [ORDER, TOO_MUCH]}, {"requests": [ORDER] * 3, "objective": "bill"}],
    "/capacity/": [{"region": "huanan", "isp": "ct", "machine": {"bandwidth_mbps": 300}}],
    "/decisions/{id}/replay/": [{"data": "then"}, {"data": "now"}],
    "/profiles/{code}/preview/": [{"revision": 1}],
    "/taints/preview/": [{"idc": "sz-ct-cu-01", "key": "switch", "effect": "NoSchedule"}],
}


@pytest.fixture
def admin(loaded: datetime, loaded_var: Path) -> Api:
    """The demo with what happens in a day: odd measurements, orders, a callback, a run, jobs that have ended."""
    users = json.loads((loaded_var / "demo-credentials.json").read_text(encoding="utf-8"))
    admin, portal = speaking(users["admin"]["token"]), speaking(users["portal"]["token"])
    _measure_oddly(admin)
    with receiver() as portals_own:
        admin.call("PATCH", "/tenants/demo/", {"callback_hosts": ["127.0.0.1"]}, status=200)
        for machine in ({**ODD, "count": 3}, {"bandwidth_mbps": 33.3, "count": 3}, {"bandwidth_mbps": 300}):
            order = {**ORDER, "machines": [machine], "action": "reserve", "callback_url": portals_own.url}
            placement = portal.call("POST", "/schedule/", order, status=201)
        placement_deliver(placement_id=placement["id"])
    admin.call("POST", "/region_scopes/", {"user": "operator", "region": "huanan"}, status=201)
    sources_point_to("http://127.0.0.1:9")
    for source in Source.objects.all():
        source_collect(source_id=source.pk, clock=timezone.now)
    recorder.settle()
    for rows in (Decision, Claim):  # as a backtest decides again what was ordered on days that are over
        rows.objects.update(created_at=loaded - timedelta(days=2))
    admin.call("POST", "/profiles/default/backtest/", {"days": 3, "profiles": ["even"]}, status=202)
    backtest_run(backtest_id=Backtest.objects.get().pk)
    _answer_a_move(admin)
    return admin


def _answer_a_move(admin: Api) -> None:
    """Place an order in a dear IDC, and answer the move that is proposed for it."""
    order = {**ORDER, "planned": {"idc": "gz-bgp-01"}, "machines": [{"bandwidth_mbps": 1234.57}], "action": "reserve"}
    for field in ("isp", "isp_match"):
        order.pop(field, None)
    admin.call("POST", "/schedule/", {**order, "tenant": "demo"}, status=201)
    advice_run()
    moves = admin.get("/advice/")["moves"]
    admin.call("POST", "/advice/moves/", {"placement": moves[0]["placement"], "state": "done"}, status=200)


def _measure_oddly(admin: Api) -> None:
    lines = admin.get("/lines/?limit=1000")["results"]
    samples = [
        {"idc": line["idc"], "line": line["code"], "metric": "bandwidth_mbps", "value": line["purchased_mbps"] / 9}
        for line in lines
    ]
    loads = [
        {"idc": idc["code"], "metric": "cpu_load", "value": 0.1 + TAILS[number % 2]}
        for number, idc in enumerate(admin.get("/idcs/?limit=1000")["results"])
    ]
    admin.call("POST", "/samples/", samples + loads, status=200)


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(Client(SERVER_NAME="localhost").get("/api/v1/schema/?format=json").content)


def paths(schema: Any) -> dict[str, dict[str, Any]]:
    return {path.removeprefix("/api/v1"): operations for path, operations in schema["paths"].items()}


def walked(admin: Api, schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield every answer of the API, and what was asked: each list, one member of each, and what POSTED asks."""
    for path, operations in paths(schema).items():
        address = _address(admin, path)
        if "get" in operations:
            yield f"GET {path}", admin.get(address + QUERIES.get(path, ""))
        for body in POSTED.get(path, ()) if "post" in operations else ():
            yield f"POST {path}", admin.call("POST", address, body)


QUERIES = {
    "/samples/": "?idc=sz-ct-cu-01&line=ct&metric=bandwidth_mbps&step=1800",
    "/placements/": "?limit=100",
    "/placements/totals/": "?state=reserved&state=active",
    "/idcs/{code}/outcomes/": "",
    "/changes/": "?limit=100",
}


FILTERS = {"/profiles/": "&code=default", "/idcs/": "&code=sz-ct-cu-01"}
"""Which member of a list is walked, where the first has nothing to show."""


def _address(admin: Api, path: str) -> str:
    """Return the path with the first member of each list in the place of its parameters."""
    while found := re.search(r"\{(\w+)\}", path):
        above = path[: found.start()]
        rows = admin.get(f"{above}?limit=1{FILTERS.get(above, '')}")["results"]
        assert rows, f"nothing is in {above}"
        path = path.replace(found[0], str(rows[0][KEYS.get(above) or found[1]]), 1)
    return path


def numbers(document: Any, place: str = "", name: str = "") -> Iterator[tuple[str, str, float]]:
    """Yield each number that is not whole: its place, the name of its field, and itself."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from numbers(value, f"{place}/{key}", name if name == "by_charge_type" else key)
    elif isinstance(document, list):
        for value in document:
            yield from numbers(value, f"{place}/*", name)
    elif isinstance(document, float):
        yield place, name, document


def decimals(name: str) -> int:
    if name in AMOUNTS:
        return MONEY
    if name.endswith(("seconds", "_ms")):
        return SECONDS
    return MBPS if name.endswith("mbps") and name not in ORDERED else ELSE


def too_long(document: Any) -> Iterator[str]:
    for place, name, number in numbers(document):
        digits = -int(Decimal(repr(number)).as_tuple().exponent)
        if digits > decimals(name) and not number.is_integer():
            yield f"{place}: {number!r}"


def objects(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
    for value in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from objects(value)


TOTALS = ("placements", "machines", "bandwidth_mbps", "per_month", "without_bill")
BILLED = ("per_month", "before", "after")
PARTS: Sequence[tuple[frozenset[str], Callable[[Any], dict[str, list[float]]]]] = [
    (frozenset({"before", "after", "per_month"}), lambda of: {"per_month": [of["after"], -of["before"]]}),
    (frozenset({"counted", "lines"}), lambda of: {name: [part[name] for part in of["lines"]] for name in BILLED}),
    (frozenset({"score", "scores"}), lambda of: {"score": [each["contribution"] for each in of["scores"].values()]}),
    (frozenset({"without_bill", "idcs"}), lambda of: {name: [idc[name] for idc in of["idcs"]] for name in TOTALS}),
    (frozenset({"by_charge_type"}), lambda of: {"added": list(of["by_charge_type"].values())}),
    (frozenset({"moves", "saves"}), lambda of: {"saves": [move["saves"] for move in of["moves"]]}),
    (frozenset({"at_most", "idcs"}), lambda of: {"count": [idc["count"] for idc in of["idcs"]]}),
]
"""For objects with all of these fields: their sums by name, each with its parts."""


def sums(of: Mapping[str, Any]) -> Iterator[tuple[str, float, list[float]]]:
    """Yield each sum of the object, by its name, beside its parts."""
    for fields, parts in PARTS:
        if fields <= of.keys():
            yield from ((name, of[name], values) for name, values in parts(of).items())
    if of.get("idcs") and isinstance(of.get("bill"), dict):  # spread over several IDCs
        for name in BILLED:
            yield name, of["bill"][name], [share["bill"][name] for share in of["idcs"]]


def wrong_sums(document: Any) -> Iterator[str]:
    """Yield each sum that differs from its parts; a score may differ in its last digit, since scores are rounded at the
    end.
    """
    for each in objects(document):
        for name, total, parts in sums(each):
            if abs(total - fsum(parts)) > (1e-5 if name == "score" else 1e-9):
                yield f"{name}: {total} is not the sum of {parts}"


def test_it_works(admin: Api, schema: Any) -> None:
    faults, said = set[str](), dict[str, Any]()
    for question, answer in walked(admin, schema):
        faults |= {f"{question} {fault}" for fault in (*too_long(answer), *wrong_sums(answer))}
        said[question] = answer
    assert not faults, "\n".join(sorted(faults))
    ordered = [line["bandwidth_mbps"] for row in said["GET /placements/"]["results"] for line in row["lines"]]
    assert 0.3 in ordered, "three times a tenth"
    backtest = said["GET /backtests/{id}/"]
    assert (backtest["state"], backtest["failure"]) == ("done", None)
    assert said["GET /deliveries/{id}/"]["state"] == "delivered"
    assert said["GET /placements/totals/"]["bandwidth_mbps"] == said["GET /tenants/{code}/use/"]["bandwidth_mbps"]


def test_no_address_is_forgotten(schema: Any) -> None:
    """Each address that takes a POST is walked, is listed as not walked, or is a list, whose members a GET shows."""
    known = paths(schema)
    posted = {path for path, operations in known.items() if "post" in operations}
    lists = {path for path in posted if any(re.fullmatch(rf"{re.escape(path)}{{\w+}}/", other) for other in known)}
    assert posted - lists - {*POSTED} == NOT_WALKED.keys()


def test_numbers_of_the_examples(schema: Any) -> None:
    shown = [value for each in objects(schema) for name, value in each.items() if name in ("example", "examples")]
    assert shown
    assert not [fault for each in shown for fault in (*too_long(each), *wrong_sums(each))]
