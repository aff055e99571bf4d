"""A recommendation is on record as soon as somebody asks for it, and replays identically through every web process."""

from tests.stories.fleet import new_fleet
from tests.stories.product import Product


def test_it_works(product: Product) -> None:
    fleet = new_fleet(product)
    portal = fleet.first
    answer = portal.schedule(**fleet.question, request_id="order-1", explain="full")
    replayed = portal.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)
    assert (replayed["identical"], replayed["same_idc"]) == (True, True)
    assert replayed["again"]["candidates"] == answer["candidates"]
    record = portal.get(f"/decisions/{answer['decision_id']}/")
    assert (record["request_id"], record["idc"]["code"]) == ("order-1", fleet.idcs[0])


def test_the_other_web_process_replays_it_at_once(product: Product) -> None:
    fleet = new_fleet(product)
    for asked, replaying in ((fleet.first, fleet.other), (fleet.other, fleet.first)):
        made = asked.schedule(**fleet.question)["decision_id"]
        assert replaying.post(f"/decisions/{made}/replay/", {}, status=200)["identical"]
        made = asked.schedule(**fleet.question)["decision_id"]
        assert replaying.get(f"/decisions/{made}/")["idc"]["code"] == fleet.idcs[0]


def test_it_replays_the_data_of_then_after_a_change(product: Product) -> None:
    fleet = new_fleet(product)
    better, worse = fleet.idcs
    made = fleet.first.schedule(**fleet.question)["decision_id"]
    fleet.measure(worse, 3)
    for caller in fleet.callers:
        assert caller.post(f"/decisions/{made}/replay/", {"data": "then"}, status=200)["identical"]
    moved = fleet.first.post(f"/decisions/{made}/replay/", {"data": "now"}, status=200)
    assert (moved["then"]["idc"]["code"], moved["again"]["idc"]["code"]) == (better, worse)
