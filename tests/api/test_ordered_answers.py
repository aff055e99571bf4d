"""The answer to an order is made from what was stored, and equals what a GET of the placement returns."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Api

ORDER = {"request_id": "order-1", "region": "A", "profile": "seed-example", "action": "reserve"}
PUTS_UP_WITH_ALL = [{"operator": "Exists"}]


def ordered(portal: Api, *, status: int = 201, **fields: Any) -> Any:
    """Order, and return the answer, which must be what a GET of the placement returns."""
    answer = portal.post("/schedule/", {**ORDER, **fields}, status=status)
    assert portal.get(f"/placements/{answer['id']}/") == answer
    return answer


def test_it_works(seed: Api, portal: Api) -> None:
    answer = ordered(portal)
    assert (answer["state"], answer["idc"], answer["machines"], answer["attempts"]) == ("reserved", "d", [], [])


def test_an_idc_that_is_to_be_left_is_said_to_be(seed: Api, portal: Api) -> None:
    for key, value in (("closing", "soon"), ("broken", "")):
        seed.post("/taints/", {"idc": "c", "key": key, "value": value, "effect": "NoExecute"}, status=201)
    seed.post("/taints/", {"idc": "c", "key": "zzz", "effect": "PreferNoSchedule"}, status=201)
    later = {"starts_at": "2199-01-01T00:00:00Z"}
    seed.post("/taints/", {"idc": "c", "key": "yyy", "effect": "NoExecute", **later}, status=201)

    answer = ordered(portal, tolerations=PUTS_UP_WITH_ALL)
    assert (answer["idc"], answer["due_to_leave"]) == ("c", "closing=soon")
    assert ordered(portal)["due_to_leave"] is None


def test_what_waits(seed: Api, portal: Api) -> None:
    answer = ordered(portal, status=202, selector={"match_labels": {"gpu": "a100"}}, wait_seconds=60)
    assert (answer["state"], answer["idc"], answer["lines"], answer["due_to_leave"]) == ("waiting", None, [], None)


def test_what_is_spread(seed: Api, portal: Api) -> None:
    answer = ordered(portal, machines=[{"count": 4}], spread={"max_per_idc": 2})
    assert answer["group_id"]


def test_what_is_committed(seed: Api, portal: Api) -> None:
    recommended = portal.schedule(**{**ORDER, "action": "recommend"})
    answer = portal.post("/placements/", {"commit_token": recommended["commit_token"]}, status=201)
    assert portal.get(f"/placements/{answer['id']}/") == answer
    assert answer["based_on"] == recommended["decision_id"]


@pytest.mark.postgresql
def test_it_looks_at_the_feed_once_and_writes_in_one_transaction(
    seed: Api, portal: Api, django_assert_num_queries: Callable[..., Any]
) -> None:
    """One query of the feed serves authentication and decision.

    The five statements of the transaction write the decision, its IDCs, the placement, its event, and ledger with feed.
    """
    portal.post("/schedule/", ORDER, status=201)
    with django_assert_num_queries(1 + len(("BEGIN", "COMMIT")) + 5):
        portal.post("/schedule/", ORDER, status=201)
