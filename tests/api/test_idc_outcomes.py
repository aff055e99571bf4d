"""`GET idcs/{code}/outcomes/` and `decisions/?considered=`: where the orders went for which an IDC was considered."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.scheduling.models import Decision, IdcOutcome
from idcsched.scheduling.outcomes import MOST
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import decisions_expire
from tests.api.conftest import Api, speaking

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

ASKED: dict[str, Any] = {"region": "A", "profile": "seed-example"}


def outcomes(api: Api, code: str, query: str = "") -> Any:
    return api.get(f"/idcs/{code}/outcomes/{query}")


def test_it_works(seed: Api, portal: Api) -> None:
    """Of the seed example d is chosen, b ranks second and c is tainted."""
    made = [portal.schedule(**ASKED, request_id=f"order-{number}")["decision_id"] for number in range(3)]

    chosen, passed, rejected = (outcomes(portal, code) for code in "dbc")

    assert (chosen["decisions"], chosen["chosen"], chosen["passed_over"], chosen["rejected"]) == (3, 3, [], [])
    assert (passed["decisions"], passed["chosen"], passed["cheaper"]) == (3, 0, 0)
    assert passed["passed_over"] == [{"rank": 2, "count": 3}]
    assert rejected["rejected"] == [{"plugin": "taint", "code": "untolerated_taint", "count": 3}]
    assert [entry["decision_id"] for entry in rejected["latest"]] == made[::-1]
    assert rejected["latest"][0] | {"created_at": "", "decision_id": ""} == {
        "decision_id": "",
        "created_at": "",
        "request_id": "order-2",
        "chosen": False,
        "rank": None,
        "plugin": "taint",
        "code": "untolerated_taint",
        "billed": None,
        "winner": "d",
        "winner_billed": None,
    }
    listed = portal.get("/decisions/?considered=c")["results"]
    assert [decision["decision_id"] for decision in listed] == made[::-1]
    assert portal.get("/decisions/?considered=e")["results"] == []


def test_no_more_than_was_asked_for_is_counted(seed: Api, portal: Api) -> None:
    for _ in range(3):
        portal.schedule(**ASKED)
    assert outcomes(portal, "d", "?last=2")["decisions"] == 2
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert outcomes(portal, "d", f"?since={later}")["decisions"] == 0


def test_whoever_is_bound_to_a_tenant_sees_its_own(seed: Api, portal: Api) -> None:
    portal.schedule(**ASKED)
    tenant_create(code="other")
    other = token_issue(user=user_create(username="olga", role="viewer", tenant="other"), name="test").text
    assert outcomes(speaking(other), "d")["decisions"] == 0
    assert outcomes(seed, "d")["decisions"] == 1


@pytest.mark.parametrize("extra", [{"explain": "none"}, {"explain": "summary", "top": 1}])
def test_how_much_is_explained_makes_no_difference(seed: Api, portal: Api, extra: dict[str, Any]) -> None:
    portal.schedule(**ASKED, **extra)
    assert outcomes(portal, "b")["passed_over"] == [{"rank": 2, "count": 1}]


def test_a_supposition_is_nobodys_order(seed: Api, portal: Api) -> None:
    portal.schedule(**ASKED, hypothetical={"ignore_taints": [{"idc": "c", "key": "disabled"}]})
    assert outcomes(portal, "c")["decisions"] == 0


def test_an_order_notes_it_too(seed: Api, portal: Api) -> None:
    portal.post("/schedule/", {**ASKED, "action": "reserve"}, status=201)
    assert outcomes(portal, "d")["chosen"] == 1


def test_they_go_with_their_decision(seed: Api, portal: Api) -> None:
    portal.schedule(**ASKED)
    recorder.settle()
    assert IdcOutcome.objects.count() == 4 <= 2 * MOST
    assert decisions_expire(before=datetime.now(UTC) + timedelta(hours=1)) == 1
    assert (Decision.objects.count(), IdcOutcome.objects.count()) == (0, 0)


def test_many_records_are_noted_in_one_statement_more(
    seed: Api, portal: Api, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    recorder.settle()
    for _ in range(20):
        portal.schedule(**ASKED)
    with django_assert_max_num_queries(8):
        recorder.settle()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?last=0", "out_of_range"),
        ("?since=yesterday", "wrong_type"),
        ("?since=2026-01-01T00:00:00", "zone_required"),
        ("?first=1", "unknown_parameter"),
    ],
)
def test_refusals(seed: Api, query: str, code: str) -> None:
    assert seed.refused("GET", f"/idcs/c/outcomes/{query}", status=400)[0] == code
