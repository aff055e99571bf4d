"""An operator previews a profile's draft, keeps it as a revision and activates it; then every web process uses it."""

from tests.stories.fleet import best_by, chosen_by, new_fleet
from tests.stories.product import SOON, Product, until


def test_it_works(product: Product) -> None:
    fleet = new_fleet(product)
    better, worse = fleet.idcs
    first, other = fleet.first, fleet.other
    operator = first.as_(product.tokens["operator"])
    profile, draft = f"/profiles/{fleet.profile}", {"plugins": best_by(fleet.metric, better="less")}
    made = first.schedule(**fleet.question, request_id="order-1")
    assert operator.get(f"/decisions/{made['decision_id']}/")["idc"]["code"] == better  # it is on record now

    previewed = operator.post(f"{profile}/preview/", {"body": draft}, status=200)
    (moved,) = [each for each in previewed["changed"] if each["decision_id"] == made["decision_id"]]
    assert (moved["request_id"], moved["idc"], moved["would_be_idc"]) == ("order-1", better, worse)

    revision = operator.post(f"{profile}/revisions/", {**draft, "message": "less is better"}, status=201)
    assert (revision["revision"], revision["active"]) == (2, False)
    assert [chosen_by(caller, fleet.question) for caller in (first, other)] == [better, better]

    operator.post(f"{profile}/revisions/2/activate/", status=200)
    assert chosen_by(first, fleet.question) == worse
    until(lambda: chosen_by(other, fleet.question) == worse, "the draft in the other web process", seconds=SOON)
    assert other.schedule(**fleet.question)["profile"] == {"code": fleet.profile, "revision": 2}

    operator.post(f"{profile}/revisions/1/activate/", status=200)
    assert chosen_by(first, fleet.question) == better
    until(lambda: chosen_by(other, fleet.question) == better, "the way back in the other process", seconds=SOON)
