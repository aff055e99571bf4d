"""`backtests/`: what the orders of the last days would have cost under other profiles, from their records."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.ledger.models import Claim
from idcsched.placement.models import Placement
from idcsched.planning import services
from idcsched.planning.models import Backtest
from idcsched.planning.tasks import backtests_sweep
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_create
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import Sample, history_store, rollups_refresh, samples_store
from tests.api.conftest import Api, speaking

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

FILTERS = [{"name": name, "plugin": name} for name in ("available", "network_flow")]
BY_BILL = {"plugins": [*FILTERS, {"name": "bill", "plugin": "billing_cost", "weight": 1}]}
BY_ROOM = {
    "plugins": [{"name": "available", "plugin": "available"}, {"name": "flow", "plugin": "network_flow", "weight": 1}]
}
PRICES = {"cheap": 10, "roomy": 30}
ORDERED = 100.0


@pytest.fixture(autouse=True)
def fleet(portal: Api) -> None:
    """The profile `room` sends an order to `roomy` at 30 CNY per Mbps, the profile `bill` to `cheap` at 10."""
    region_create(code="R")
    isp = isp_create(code="ct")
    for code, price in PRICES.items():
        purchased = 2000 if code == "cheap" else 9000
        idc_create(code=code, region="R", lines=[{"isp": isp, "purchased_mbps": purchased, "price_per_mbps": price}])
        measure(code, 400.0)
    profile_create(code="bill", body=BY_BILL)
    profile_create(code="room", body=BY_ROOM)


def measure(idc: str, mbps: float, *, days: float = 39) -> None:
    """Store `mbps` as the measured traffic of the IDC's line over the last `days`."""
    line, now = Line.objects.select_related("idc").get(idc__code=idc), timezone.now()
    slots = int(days * 288)
    history_store(
        metric=Metric.objects.get(code="bandwidth_mbps"),
        idc=line.idc,
        line=line,
        start=slot_floor(now) - (slots - 1) * SLOT,
        values=np.full(slots, mbps, dtype=np.float32),
    )
    sample = Sample(idc=idc, line=line.code, metric="bandwidth_mbps", value=mbps, at=now)
    samples_store(samples=[sample], now=now)
    rollups_refresh(now=now)


def placed(portal: Api, *, days_ago: float, **fields: Any) -> Placement:
    """Return a placement by the profile `room` as if it had been made `days_ago`, with its traffic flowing since."""
    asked = {
        "region": "R",
        "profile": "room",
        "action": "reserve",
        "machines": [{"bandwidth_mbps": ORDERED}],
        "shape": [1.0] * 24,
        **fields,
    }
    made = portal.call("POST", "/schedule/", asked, status=201)
    recorder.settle()
    found = Placement.objects.get(pk=made["id"])
    at = timezone.now() - timedelta(days=days_ago)
    Decision.objects.filter(pk=found.decision_id).update(created_at=at)
    Claim.objects.filter(placement=found.pk).update(created_at=at)
    measure("roomy", 400.0 + ORDERED, days=days_ago)
    return found


def finished(api: Api, job: dict[str, Any]) -> dict[str, Any]:
    services.backtest_run(backtest_id=Backtest.objects.get(pk=job["id"]).pk)
    found: dict[str, Any] = api.get(f"/backtests/{job['id']}/")
    assert found["state"] == "done", found["failure"]
    return found


def test_it_works(portal: Api, api: Callable[..., Api]) -> None:
    placed(portal, days_ago=25)
    operator = api("operator")
    job = operator.post("/profiles/room/backtest/", {"days": 20, "profiles": ["bill"]}, status=202)
    assert (job["state"], job["policies"], job["result"]) == ("queued", ["room", "bill"], None)


def test_the_bill_of_what_was_done_and_of_what_might_have_been(portal: Api, api: Callable[..., Api]) -> None:
    """100 Mbps on the line at 30 have cost 3,000 a month; at 10 they would have cost 1,000."""
    placed(portal, days_ago=15)
    operator = api("operator")
    found = finished(
        operator, operator.post("/profiles/room/backtest/", {"days": 20, "profiles": ["bill"]}, status=202)
    )
    result = found["result"]
    assert (result["orders"], result["days"], result["currency"]) == (1, 20, "CNY")
    assert result["without_orders"] == pytest.approx(400 * 10 + 400 * 30)
    assert {course["name"]: course["added"] for course in [result["done"], *result["courses"]]} == {
        "done": 3000.0,
        "room": 3000.0,
        "bill": 1000.0,
    }
    assert [course["moved"] for course in result["courses"]] == [0, 1]
    assert (found["done"], found["total"]) == (2, 2)
    assert result["seconds"] >= 0
    same, cheaper = result["courses"]
    assert (same["by_isp"], same["by_region"], same["ways"]) == ({"ct": 3000.0}, {"R": 3000.0}, [])
    assert (cheaper["by_isp"], cheaper["by_region"]) == ({"ct": 1000.0}, {"R": 1000.0})
    way = {"from": ["roomy"], "to": ["cheap"], "orders": 1, "mbps": ORDERED}
    assert (cheaper["ways"], cheaper["ways_from_first"], same["ways_from_first"]) == ([way], [way], [])
    assert (cheaper["moved_from_first"], same["moved_from_first"]) == (1, 0)
    assert result["decided_by"] == {"room": 1}


def test_a_draft_and_a_revision(portal: Api, api: Callable[..., Api]) -> None:
    placed(portal, days_ago=5)
    operator = api("operator")
    job = operator.post("/profiles/room/backtest/", {"days": 10, "body": BY_BILL}, status=202)
    courses = finished(operator, job)["result"]["courses"]
    assert [course["name"] for course in courses] == ["room", "draft"]
    assert courses[1]["moved"] == 1
    number = operator.post("/profiles/room/revisions/", BY_BILL, status=201)["revision"]
    job = operator.post("/profiles/room/backtest/", {"days": 10, "revision": number}, status=202)
    assert finished(operator, job)["result"]["courses"][1]["moved"] == 1


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        pytest.param({"days": 40}, "out_of_range", "/days", id="longer than measurements are kept"),
        pytest.param({"days": 0}, "out_of_range", "/days", id="no day"),
        pytest.param({"profiles": ["nobody"]}, "unknown", "/profiles/0", id="no such profile"),
        pytest.param({"revision": 77}, "unknown_revision", "/revision", id="no such revision"),
        pytest.param({"body": BY_BILL, "revision": 1}, "body_or_revision", "/body", id="both"),
        pytest.param(
            {"body": {"plugins": [{"name": "x", "plugin": "nobody"}]}}, "unknown_plugin", None, id="a bad draft"
        ),
        pytest.param({"day": 3}, "unknown_field", "/day", id="no such field"),
    ],
)
def test_refusals(body: dict[str, Any], code: str, pointer: str | None, api: Callable[..., Api]) -> None:
    found, pointers = api("operator").refused("POST", "/profiles/room/backtest/", body, status=400)
    assert found == code
    assert pointer is None or pointers == [pointer]
    assert not Backtest.objects.exists()


def test_days_without_an_order(api: Callable[..., Api]) -> None:
    operator = api("operator")
    job = operator.post("/profiles/room/backtest/", {"days": 3}, status=202)
    services.backtest_run(backtest_id=Backtest.objects.get().pk)
    found = operator.get(f"/backtests/{job['id']}/")
    assert (found["state"], found["failure"]) == ("failed", "no order of these days that was placed has a record")


def test_who_may_ask_and_see(portal: Api, api: Callable[..., Api]) -> None:
    """A tenant's operator can decide only that tenant's orders again, and sees only that tenant's backtests."""
    placed(portal, days_ago=5)
    assert portal.refused("POST", "/profiles/room/backtest/", {}, status=403)[0] == "role_not_allowed"
    tenant_create(code="other")
    other = user_create(username="operator-other", role="operator", tenant="other")
    others, everybodys = speaking(token_issue(user=other, name="test").text), api("operator")
    job = others.post("/profiles/room/backtest/", {"days": 10}, status=202)
    services.backtest_run(backtest_id=Backtest.objects.get().pk)
    assert others.get(f"/backtests/{job['id']}/")["state"] == "failed", "the order is not the tenant's"
    everybodys.post("/profiles/room/backtest/", {"days": 10}, status=202)
    assert [row["id"] for row in others.get("/backtests/")["results"]] == [job["id"]]
    assert len(everybodys.get("/backtests/")["results"]) == 2


def test_a_worker_that_is_gone_is_replaced(portal: Api, api: Callable[..., Api]) -> None:
    placed(portal, days_ago=5)
    operator = api("operator")
    operator.post("/profiles/room/backtest/", {"days": 10}, status=202)
    row = Backtest.objects.get()
    Backtest.objects.update(state="running", attempts=1, beat_at=timezone.now())
    assert services.backtest_run(backtest_id=row.pk) == {"decided": 0}, "another worker has it"
    Backtest.objects.update(
        beat_at=timezone.now() - timedelta(minutes=6), created_at=timezone.now() - timedelta(hours=1)
    )
    assert backtests_sweep()["resumed"] == 1
    assert services.backtest_run(backtest_id=row.pk) == {"decided": 1}
    assert Backtest.objects.get().state == "done"


def test_one_that_is_interrupted_too_often_ends(api: Callable[..., Api]) -> None:
    api("operator").post("/profiles/room/backtest/", {}, status=202)
    Backtest.objects.update(attempts=3)
    services.backtest_run(backtest_id=Backtest.objects.get().pk)
    assert (Backtest.objects.get().state, Backtest.objects.get().failure) == ("failed", "it was interrupted too often")


def test_one_that_is_given_up_is_gone(portal: Api, api: Callable[..., Api]) -> None:
    """An operator may delete a backtest, a viewer may not.

    A worker that computes it stops when it next reports progress.
    """
    placed(portal, days_ago=5)
    operator = api("operator")
    first, second = (operator.post("/profiles/room/backtest/", {"days": 10}, status=202)["id"] for _ in range(2))
    assert api("viewer").refused("DELETE", f"/backtests/{first}/", status=403)[0] == "role_not_allowed"
    operator.call("DELETE", f"/backtests/{first}/", status=204)
    assert services.backtest_run(backtest_id=first) == {"decided": 0}
    progress = services._Progress(Backtest.objects.get(pk=second), 2)
    operator.call("DELETE", f"/backtests/{second}/", status=204)
    with pytest.raises(services._GivenUp):
        progress()
    operator.refused("DELETE", f"/backtests/{second}/", status=404)


def test_old_ones_go(api: Callable[..., Api]) -> None:
    api("operator").post("/profiles/room/backtest/", {}, status=202)
    Backtest.objects.update(state="done", finished_at=timezone.now() - timedelta(days=91))
    assert backtests_sweep()["pruned"] == 1


def test_in_the_terminal(portal: Api, capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    placed(portal, days_ago=15)
    draft = tmp_path / "cheaper.json"
    draft.write_text('{"plugins": [{"name": "bill", "plugin": "billing_cost", "weight": 1}]}')
    call_command("backtest", "room", "--days", "20", "--draft", str(draft))
    told = capsys.readouterr().out
    assert told.startswith("1 orders in 20 days; without them the lines cost 16,000 CNY a month.")
    rows = {row.split()[0]: row.split()[1:3] for row in told.split("\n\n")[1].splitlines()[1:]}
    assert rows == {"done": ["3,000", "100%"], "room": ["3,000", "100%"], "cheaper.json": ["1,000", "33%"]}
    for wrong in (["--days", "50"], ["nobody"], ["--draft", "/nowhere.json"]):
        with pytest.raises(CommandError):
            call_command("backtest", *wrong)


def test_weights_fitted_in_the_terminal(portal: Api, capsys: pytest.CaptureFixture[str]) -> None:
    """`fit_weights` prints the draft or saves it as a revision that is not in force.

    Where no weights are better, it saves none.
    """
    placed(portal, days_ago=15)
    call_command("fit_weights", "room", "--days", "20", "--budget", "4")
    assert '"plugin": "network_flow"' in capsys.readouterr().out
    call_command("fit_weights", "room", "--days", "20", "--budget", "4", "--save")
    assert "Nothing better was found, so no draft was made." in capsys.readouterr().out
    both = [{"name": "flow", "plugin": "network_flow", "weight": 100}, {**BY_BILL["plugins"][2], "weight": 40}]
    profile_create(code="both", body={"plugins": both})
    call_command("fit_weights", "both", "--days", "20", "--save")
    said = capsys.readouterr().out
    profile = Profile.objects.get(code="both")
    assert "Revision 2 of both is a draft; it is not in force." in said
    assert profile.active is not None
    assert profile.active.number == 1
    assert profile.revisions.get(number=2).message.startswith("Weights fitted on 20 days")
    for wrong in (["nobody"], ["room", "--days", "99"]):
        with pytest.raises(CommandError):
            call_command("fit_weights", *wrong)
