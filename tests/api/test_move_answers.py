"""`advice/moves/`: what people did with the moves that were proposed, and what that does to the next advice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.audit.models import Change
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.planning.models import MoveAnswer
from idcsched.planning.services import advice_run
from idcsched.scheduling.services import profile_create
from tests.api.conftest import Api, speaking
from tests.api.test_advice import BY_ROOM, PRICES, measure, placed

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]
ANSWERS = "/advice/moves/"


@pytest.fixture(autouse=True)
def fleet(portal: Api) -> None:
    """The profile `room` sends an order to `roomy` at 30 CNY per Mbps, although `cheap` would cost 10."""
    region_create(code="R")
    isp = isp_create(code="ct")
    for code, price in PRICES.items():
        purchased = 2000 if code == "cheap" else 9000
        idc_create(code=code, region="R", lines=[{"isp": isp, "purchased_mbps": purchased, "price_per_mbps": price}])
        measure(code, np.full(288, 400.0))
    profile_create(code="room", body=BY_ROOM)


@pytest.fixture
def moves(portal: Api) -> list[str]:
    """Two placements whose moves are proposed: they save 4,000 and 2,000 a month."""
    made = [placed(portal, mbps)["id"] for mbps in (200.0, 100.0)]
    advice_run()
    return made


def answer(placement: str, state: str, reason: str = "") -> dict[str, str]:
    return {"placement": placement, "state": state, **({"reason": reason} if reason else {})}


def proposed(api: Api) -> tuple[list[str], float]:
    found = api.get("/advice/")
    return [move["placement"] for move in found["moves"]], found["saves"]


def test_it_works(portal: Api, api: Callable[..., Api], moves: list[str]) -> None:
    """One is done, one is declined; neither is proposed any more, and what they promised is on record."""
    done = portal.call("POST", ANSWERS, answer(moves[0], "done"), status=200)
    assert (done["state"], done["reason"], done["actor"], done["tenant"]) == ("done", "", "portal", "live-cn")
    assert (done["move"]["saves"], done["move"]["to"]["idc"], done["currency"]) == (4000.0, "cheap", "CNY")
    operator = api("operator")
    assert proposed(operator) == ([moves[1]], 2000.0)
    operator.call("POST", ANSWERS, answer(moves[1], "declined", "its disks stay"), status=200)
    assert proposed(operator) == ([], 0.0)
    assert [row["state"] for row in operator.get(f"{ANSWERS}")["results"]] == ["declined", "done"]
    assert [row["placement"] for row in operator.get(f"{ANSWERS}?state=declined")["results"]] == [moves[1]]
    assert operator.get(f"{ANSWERS}{moves[1]}/")["reason"] == "its disks stay"


def test_the_next_advice_leaves_them_where_they_are(api: Callable[..., Api], moves: list[str]) -> None:
    operator = api("operator")
    operator.call("POST", ANSWERS, answer(moves[0], "declined", "no"), status=200)
    found = advice_run()
    assert ([str(move.placement) for move in found.moves], found.saves) == ([moves[1]], 2000.0)
    assert found.saves_at_most == pytest.approx(2000, abs=1), "what may not go can't save anything"
    assert (found.placements, found.left_out) == (2, 0)
    taken_back = operator.call("POST", ANSWERS, answer(moves[0], "open"), status=200)
    assert (taken_back["state"], taken_back["reason"]) == ("open", "no")
    assert len(advice_run().moves) == 2


def test_an_answer_may_be_another_one_later(api: Callable[..., Api], moves: list[str]) -> None:
    operator = api("operator")
    for state, reason in (("declined", "not in a holiday"), ("done", "")):
        operator.call("POST", ANSWERS, answer(moves[0], state, reason), status=200)
    assert MoveAnswer.objects.values_list("state", "reason").get() == ("done", "")
    operator.call("POST", ANSWERS, answer(moves[0], "open"), status=200)
    changes = Change.objects.filter(kind="move_answer", key=moves[0]).order_by("id")
    assert [change.action for change in changes] == ["create", "update", "delete"]
    assert {change.actor for change in changes} == {"operator"}
    assert changes[0].after == {
        "state": "declined",
        "reason": "not in a holiday",
        "from": "roomy ct",
        "to": "cheap ct",
        "saves": 4000.0,
    }


NOBODY = "0192f0c1-58a4-7c7e-8f5d-4a1b2c3d4e5f"
REFUSED: list[Any] = [
    pytest.param({"state": "declined"}, 400, "required", id="declined for no reason"),
    pytest.param({"state": "maybe"}, 400, "invalid_choice", id="no such state"),
    pytest.param({"state": "done", "reason": "x" * 501}, 400, "out_of_range", id="too long"),
    pytest.param({"state": "done", "why": "x"}, 400, "unknown_field", id="no such field"),
    pytest.param({"state": "done", "placement": NOBODY}, 404, "not_found", id="no move is proposed"),
    pytest.param({"state": "open"}, 404, "not_found", id="nothing to take back"),
]


@pytest.mark.parametrize(("body", "status", "code"), REFUSED)
def test_what_is_refused(
    api: Callable[..., Api], moves: list[str], body: dict[str, Any], status: int, code: str
) -> None:
    said, _pointers = api("operator").refused("POST", ANSWERS, {"placement": moves[0], **body}, status=status)
    assert said == code
    assert not MoveAnswer.objects.exists()


def test_those_of_a_tenant_answer_for_their_own_alone(portal: Api, api: Callable[..., Api], moves: list[str]) -> None:
    tenant_create(code="other")
    other = speaking(token_issue(user=user_create(username="olga", role="operator", tenant="other"), name="t").text)
    assert other.refused("POST", ANSWERS, answer(moves[0], "done"), status=404)[0] == "not_found"
    portal.call("POST", ANSWERS, answer(moves[0], "done"), status=200)
    assert other.get(ANSWERS)["results"] == []
    other.refused("GET", f"{ANSWERS}{moves[0]}/", status=404)
    assert other.refused("POST", ANSWERS, answer(moves[0], "open"), status=404)[0] == "not_found"
    assert portal.get(ANSWERS)["count"] == 1
