"""`advice/`: which placements would be cheaper elsewhere, which commits are too high, which lines fill up."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.framework.rules import VERSION
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create, taint_create
from idcsched.ledger.models import Claim
from idcsched.placement.models import Placement
from idcsched.planning.models import StoredAdvice
from idcsched.planning.services import advice_run
from idcsched.planning.tasks import advise
from idcsched.scheduling.services import profile_create
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import Sample, history_store, rollups_refresh, samples_store
from tests.api.conftest import Api, speaking

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

BY_ROOM = {
    "plugins": [
        {"name": "available", "plugin": "available"},
        {"name": "taint", "plugin": "taint"},
        {"name": "flow", "plugin": "network_flow", "weight": 1},
    ]
}
PRICES = {"cheap": 10, "roomy": 30}


@pytest.fixture(autouse=True)
def fleet(portal: Api) -> None:
    """The profile `room` sends an order to `roomy` at 30 CNY per Mbps, although `cheap` would cost 10."""
    region_create(code="R")
    isp = isp_create(code="ct", aliases=["telecom"])
    for code, price in PRICES.items():
        purchased = 2000 if code == "cheap" else 9000
        idc_create(code=code, region="R", lines=[{"isp": isp, "purchased_mbps": purchased, "price_per_mbps": price}])
        measure(code, np.full(39 * 288, 400.0))
    profile_create(code="room", body=BY_ROOM)


def measure(idc: str, values: Any) -> None:
    line, now = Line.objects.select_related("idc").get(idc__code=idc), timezone.now()
    metric, start = Metric.objects.get(code="bandwidth_mbps"), slot_floor(now) - (len(values) - 1) * SLOT
    history_store(metric=metric, idc=line.idc, line=line, start=start, values=values.astype(np.float32))
    sample = Sample(idc=idc, line=line.code, metric="bandwidth_mbps", value=float(values[-1]), at=now)
    samples_store(samples=[sample], now=now)
    rollups_refresh(now=now)


def placed(portal: Api, mbps: float = 100.0, **fields: Any) -> dict[str, Any]:
    asked = {"region": "R", "profile": "room", "action": "reserve", "machines": [{"bandwidth_mbps": mbps}], **fields}
    made: dict[str, Any] = portal.call("POST", "/schedule/", asked, status=201)
    assert made["idc"] == "roomy"
    return made


def shown(api: Callable[..., Api]) -> dict[str, Any]:
    advice_run()
    found: dict[str, Any] = api("operator").get("/advice/")
    return found


def test_it_works(portal: Api, api: Callable[..., Api]) -> None:
    """100 Mbps that cost 3,000 a month would cost 1,000 on the other line. Nothing is moved."""
    made = placed(portal, request_id="o-1")
    before = Placement.objects.values().get(), list(Claim.objects.values())
    found = shown(api)
    assert (found["placements"], found["left_out"], found["status"], found["currency"]) == (1, 0, "optimal", "CNY")
    (move,) = found["moves"]
    assert move.pop("business") == ""
    assert move.pop("ordered_at")
    assert [(line["idc"], line["line"]) for line in move.pop("lines")] == [("roomy", "ct"), ("cheap", "ct")]
    assert move == {
        "placement": made["id"],
        "request_id": "o-1",
        "tenant": "live-cn",
        "from": {"idc": "roomy", "lines": ["ct"]},
        "to": {"idc": "cheap", "lines": ["ct"]},
        "saves": 2000.0,
        "expected": 1700.0,
        "weeks_saved": 4,
        "weeks_known": 4,
        "machines": 1,
        "bandwidth_mbps": 100.0,
    }
    assert found["saves"] == 2000.0
    inputs = found["inputs"]
    assert (inputs["rules"], inputs["profiles"]) == (VERSION, {"room": 1})
    assert UUID(inputs["snapshot"])
    assert datetime.fromisoformat(inputs["built_at"]) <= timezone.now()
    assert (found["expected_factor"], found["moves_learnt_from"]) == (0.85, 0)
    assert found["saves_at_most"] == pytest.approx(2000, abs=1)
    assert (Placement.objects.values().get(), list(Claim.objects.values())) == before


def test_what_monitoring_sees_already_counts_as_what_it_carries(portal: Api, api: Callable[..., Api]) -> None:
    placed(portal)
    Claim.objects.update(remaining=0.0)
    measure("roomy", np.full(8 * 288, 500.0))
    assert [move["saves"] for move in shown(api)["moves"]] == [2000.0]


def test_only_as_many_are_moved_as_there_is_room(portal: Api, api: Callable[..., Api]) -> None:
    """1,400 of the 1,800 Mbps that may be filled are free: of 900 and 700 the larger one moves, and saves 20 × 900."""
    for mbps in (900.0, 700.0):
        placed(portal, mbps)
    assert [(move["bandwidth_mbps"], move["saves"]) for move in shown(api)["moves"]] == [(900.0, 18_000.0)]


def test_where_nothing_is_cheaper_nothing_is_said(portal: Api, api: Callable[..., Api]) -> None:
    placed(portal)
    taint_create(idc="cheap", key="k")
    found = shown(api)
    assert (found["moves"], found["saves"], found["commits"], found["full_soon"]) == ([], 0.0, [], [])
    Placement.objects.all().delete()
    Claim.objects.all().delete()
    assert shown(api)["status"] == "nothing_to_move"


def test_a_commit_above_what_flows(api: Callable[..., Api]) -> None:
    """Of 900 committed Mbps at 30 CNY only 400 flow: a commit of 400 saves 500 × 30 a month."""
    Line.objects.filter(idc__code="roomy").update(commit_mbps=900)
    (commit,) = shown(api)["commits"]
    assert commit == {"idc": "roomy", "line": "ct", "commit_mbps": 900.0, "expected_mbps": 400.0, "saves": 15_000.0}


def test_a_commit_by_volume_is_a_mean(api: Callable[..., Api]) -> None:
    """The 500 Mbps that are committed and do not flow are 162,000 GB a month; at 0.1 CNY per GB they cost 16,200."""
    volume = {"charge_type": "volume", "price_per_gb": 0.1, "price_per_mbps": None}
    Line.objects.filter(idc__code="roomy").update(commit_mbps=900, **volume)
    assert [commit["saves"] for commit in shown(api)["commits"]] == [16_200.0]
    Line.objects.filter(idc__code="roomy").update(price_per_gb=None)
    assert [commit["saves"] for commit in shown(api)["commits"]] == [None]


def test_a_line_that_fills_up(api: Callable[..., Api]) -> None:
    """The traffic grows by 20 Mbps a day to 1,760, and 1,800 of the line's 2,000 Mbps may be filled."""
    measure("cheap", np.repeat(1000.0 + 20.0 * np.arange(39), 288))
    (line,) = shown(api)["full_soon"]
    assert (line["idc"], line["line"]) == ("cheap", "ct")
    assert 0 < line["days"] < 3
    assert line["mbps_needed"] == pytest.approx((1780 + 600 - 1800) / 0.9, rel=0.1)


def test_who_may_see_and_ask(portal: Api, api: Callable[..., Api]) -> None:
    assert api("operator").get("/advice/").items() >= {"status": "not_computed", "computed_at": None}.items()
    placed(portal)
    advice_run()
    own = portal.get("/advice/")
    assert (len(own["moves"]), own["saves"]) == (1, 2000.0), "its own placement"
    assert {own[name] for name in ("inputs", "placements", "left_out", "saves_at_most", "moves_learnt_from")} == {None}
    assert (own["expected_factor"], own["moves"][0]["expected"]) == (0.85, 1700.0)
    assert portal.refused("POST", "/advice/", status=403)[0] == "role_not_allowed"
    tenant_create(code="other")
    other = speaking(token_issue(user=user_create(username="olga", role="operator", tenant="other"), name="t").text)
    Line.objects.update(commit_mbps=900)
    advice_run()
    theirs = other.get("/advice/")
    assert (theirs["moves"], theirs["commits"], theirs["saves"]) == ([], [], 0.0)
    assert other.refused("POST", "/advice/", status=403)[0] == "tenant_not_allowed"
    api("operator").call("POST", "/advice/", status=202)


CHOSEN: dict[str, list[float]] = {
    "": [300, 200, 100],
    "?limit=2": [300, 200],
    "?floor=4000": [300, 200],
    "?region=R": [300, 200, 100],
    "?region=S": [],
    "?isp=ct": [300, 200, 100],
    "?isp=telecom": [300, 200, 100],
    "?isp=cu": [],
    "?tenant=live-cn": [300, 200, 100],
    "?days=7": [200],
    "?mbps=400": [300, 100],
    "?mbps=400&limit=1&floor=1": [300],
}
REFUSED = {
    "?region=X": "unknown_region",
    "?isp=X": "unknown_isp",
    "?tenant=X": "unknown_tenant",
    "?days=-1": "out_of_range",
    "?floor=nan": "out_of_range",
    "?mbps=-1": "out_of_range",
    "?limit=0": "out_of_range",
    "?limt=1": "unknown_parameter",
    "?isp=ct&isp=cu": "given_twice",
}


def test_what_is_chosen(portal: Api, api: Callable[..., Api]) -> None:
    """Parameters choose the moves by region, ISP, age and Mbps, how many there are, and how much they save at least."""
    region_create(code="S")
    isp_create(code="cu")
    for mbps in (100.0, 200.0, 300.0):
        placed(portal, mbps)
    week_ago = timezone.now() - timedelta(days=7)
    Placement.objects.filter(bandwidth_mbps=200).update(created_at=week_ago)
    advice_run()
    found = {query: api("operator").get(f"/advice/{query}") for query in CHOSEN}
    assert {query: [move["bandwidth_mbps"] for move in one["moves"]] for query, one in found.items()} == CHOSEN
    assert [found[query]["saves"] for query in ("", "?limit=2", "?region=S")] == [12_000.0, 10_000.0, 0.0]
    refused = {query: api("operator").refused("GET", f"/advice/{query}", status=400) for query in REFUSED}
    assert refused == {query: (code, [query.partition("=")[0]]) for query, code in REFUSED.items()}
    tenant_create(code="other")
    assert api("operator").get("/advice/?tenant=other")["moves"] == []
    assert portal.refused("GET", "/advice/?tenant=other", status=400)[0] == "unknown_tenant", "it is not theirs to know"


def test_the_latest_thirty_are_kept(portal: Api, capsys: pytest.CaptureFixture[str]) -> None:
    placed(portal)
    Line.objects.filter(idc__code="cheap").update(commit_mbps=700)
    for _ in range(31):
        advice_run()
    assert advise() == {"moves": 1}
    assert StoredAdvice.objects.count() == 30
    call_command("advise")
    told = capsys.readouterr().out
    assert told.startswith("1 placements hold bandwidth, 0 of them were left out.")
    assert "roomy/ct -> cheap/ct" in told
    assert "cheap/ct: a commit of 700 Mbps, 400 would do and save 3,000" in told


def advised(portal: Api, api: Callable[..., Api]) -> tuple[str, dict[str, Any]]:
    """Return the path of a placement that runs, and the body with which to ask for the move that is proposed for it."""
    made = placed(portal, request_id="o-1")
    portal.post(f"/placements/{made['id']}/confirm/", {}, status=200)
    (move,) = shown(api)["moves"]
    return f"/placements/{move['placement']}/", {**move["to"], "saves_at_least": move["saves"]}


def test_a_move_is_carried_out(portal: Api, api: Callable[..., Api]) -> None:
    """The new place is held beside the old one; when it is confirmed, the old one is given back."""
    old, asked = advised(portal, api)
    new = portal.post(f"{old}move/", asked, status=201)
    assert (new["state"], new["idc"], new["replaces"], new["request_id"]) == ("reserved", "cheap", old[12:-1], "o-1")
    assert portal.get(old)["state"] == "active"
    assert portal.get(f"/placements/?replaces={old[12:-1]}")["results"][0]["id"] == new["id"]
    assert portal.refused("GET", "/placements/?replaces=x", status=400) == ("wrong_type", ["?replaces"])
    assert portal.refused("POST", f"{old}move/", asked, status=409) == ("move_underway", [])
    assert portal.post(f"/placements/{new['id']}/confirm/", {}, status=200)["state"] == "active"
    assert portal.get(old)["state"] == "released"
    assert shown(api)["moves"] == []


def test_what_moves_have_kept_is_expected_of_the_next(portal: Api, api: Callable[..., Api]) -> None:
    """The move promised 2,000 and saves 1,000 since the price went up: (10 × 0.85 + 0.5) ÷ 11 are expected now."""
    old, asked = advised(portal, api)
    new = portal.post(f"{old}move/", asked, status=201)["id"]
    portal.post(f"/placements/{new}/confirm/", {}, status=200)
    assert portal.get(f"/placements/{new}/events/")["results"][0]["detail"]["promised"] == 2000.0
    placed(portal)
    assert shown(api)["moves_learnt_from"] == 0, "its traffic is not measured yet"
    Placement.objects.filter(pk=new).update(changed_at=timezone.now() - timedelta(days=6))
    line = Line.objects.get(idc__code="cheap")
    api().call("PATCH", f"/lines/{line.pk}/", {"price_per_mbps": 20}, status=200)
    found = shown(api)
    assert (found["expected_factor"], found["moves_learnt_from"]) == (0.8182, 1)
    (made,) = found["made"]
    assert made.pop("confirmed_at")
    assert made == {
        "placement": new,
        "request_id": "o-1",
        "tenant": "live-cn",
        "from": {"idc": "roomy", "lines": ["ct"]},
        "to": {"idc": "cheap", "lines": ["ct"]},
        "promised": 2000.0,
        "saves": 1000.0,
    }
    assert [move["placement"] for move in portal.get("/advice/")["made"]] == [new], "its own"
    stranger = user_create(username="stranger", role="portal", tenant=tenant_create(code="other"))
    assert speaking(token_issue(user=stranger, name="t").text).get("/advice/")["made"] == []
    assert [(move["saves"], move["expected"]) for move in found["moves"]] == [(1000.0, 818.2)]


@pytest.mark.parametrize("asked", [{"idc": "cheap"}, {"idc": "third", "lines": ["ct"]}])
def test_a_move_that_was_not_proposed_promises_nothing(
    portal: Api, api: Callable[..., Api], asked: dict[str, Any]
) -> None:
    """A move that names no line, or another IDC than the proposed one, has no `promised` saving in its events."""
    terms = {"isp": "ct", "purchased_mbps": 3000, "price_per_mbps": 20}
    idc_create(code="third", region="R", lines=[terms])
    measure("third", np.full(288, 400.0))
    old, _proposed = advised(portal, api)
    new = portal.post(f"{old}move/", asked, status=201)["id"]
    assert "promised" not in portal.get(f"/placements/{new}/events/")["results"][0]["detail"]


def test_what_changed_since_the_advice_refuses_the_move(portal: Api, api: Callable[..., Api]) -> None:
    old, asked = advised(portal, api)
    line = Line.objects.get(idc__code="cheap")
    api().call("PATCH", f"/lines/{line.pk}/", {"price_per_mbps": 25}, status=200)
    problem = portal.post(f"{old}move/", asked, status=409)
    assert (problem["code"], problem["detail"]) == ("saves_less", "it would save 500.00 a month, not 2,000.00")
    taint_create(idc="cheap", key="k")
    problem = portal.post(f"{old}move/", asked, status=409)
    assert (problem["code"], problem["detail"]) == (
        "saves_less",
        "what it would save is not known: it may not go there, or a bill is not known",
    )
    problem = portal.post(f"{old}move/", {"idc": "cheap"}, status=409)
    assert (problem["code"], problem["detail"]) == (
        "move_does_not_fit",
        "cheap does not fit: untolerated taint k:NoSchedule",
    )
    assert problem["decision"]["result"] == "unschedulable"


def test_who_may_move_what(portal: Api, api: Callable[..., Api]) -> None:
    old, asked = advised(portal, api)
    assert api("viewer").call("POST", f"{old}move/", asked, status=403)
    assert portal.call("POST", f"{old}move/", {"idc": "cheap", "where": 1}, status=400)
    stranger = user_create(username="stranger", role="portal", tenant=tenant_create(code="other"))
    assert speaking(token_issue(user=stranger, name="t").text).call("POST", f"{old}move/", asked, status=404)
