"""A change is in force for the next request to the same web process, and soon for those to the other one."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.stories.fleet import Fleet, chosen_by, new_fleet
from tests.stories.product import SOON, Caller, Product, name, until

Change = Callable[[Caller], Any]
ROUNDS = 8
"""The test is repeated, because a process that reads the feed too late might be in time once by chance."""


@pytest.fixture
def takes_effect(product: Product) -> Callable[..., None]:
    """A function that makes a change through one web process, and asserts what both choose before and after it."""

    def check(change: Change, question: dict[str, Any], *, before: str | None, after: str | None) -> None:
        first, other = product.first_and_other()
        assert [chosen_by(each, question) for each in (first, other)] == [before, before]
        change(first.as_(product.tokens["admin"]))
        assert chosen_by(first, question) == after
        until(lambda: chosen_by(other, question) == after, "the change in the other web process", seconds=SOON)

    return check


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def test_a_taint_keeps_orders_off(fleet: Fleet, takes_effect: Callable[..., None]) -> None:
    better, worse = fleet.idcs

    def taint(admin: Caller) -> None:
        admin.post("/taints/", {"idc": better, "key": "maintenance", "effect": "NoSchedule"}, status=201)

    takes_effect(taint, fleet.question, before=better, after=worse)


def test_a_shape_prices_the_orders_of_its_business(fleet: Fleet, product: Product) -> None:
    """The web process that stores a shape prices orders by it at once, the other one soon."""
    first, other = product.first_and_other()
    asked = {**fleet.order(), "action": "recommend", "tenant": fleet.tenant, "labels": {"business": "live"}}

    def priced_by(caller: Caller) -> str:
        return str(caller.as_(product.tokens["admin"]).schedule(**asked)["shape_from"])

    assert [priced_by(each) for each in (first, other)] == ["flat", "flat"]
    shape = {"tenant": fleet.tenant, "business": "live", "entered": [1] * 12 + [0] * 12}
    made = first.as_(product.tokens["admin"]).post("/shapes/", shape, status=201)
    assert priced_by(first) == "entered"
    until(lambda: priced_by(other) == "entered", "the shape in the other web process", seconds=SOON)
    first.as_(product.tokens["admin"]).call("DELETE", f"/shapes/{made['id']}/", status=204)
    assert priced_by(first) == "flat"


def test_a_taint_that_is_lifted_lets_orders_in_again(fleet: Fleet, takes_effect: Callable[..., None]) -> None:
    better, worse = fleet.idcs
    taints: list[int] = []

    def taint(admin: Caller) -> None:
        made = admin.post("/taints/", {"idc": better, "key": "maintenance", "effect": "NoSchedule"}, status=201)
        taints.append(made["id"])

    def lift(admin: Caller) -> None:
        admin.call("DELETE", f"/taints/{taints[0]}/", status=204)

    takes_effect(taint, fleet.question, before=better, after=worse)
    takes_effect(lift, fleet.question, before=worse, after=better)


def test_an_order_heeds_at_once_what_the_other_web_process_acknowledged(fleet: Fleet) -> None:
    better, worse = fleet.idcs
    taint = {"idc": better, "key": "maintenance", "effect": "NoSchedule"}
    for _ in range(ROUNDS):
        tainted = fleet.admin.post("/taints/", taint, status=201)
        assert fleet.other.post("/schedule/", fleet.order(1), status=201)["idc"] == worse
        fleet.admin.call("DELETE", f"/taints/{tainted['id']}/", status=204)
        assert fleet.other.post("/schedule/", fleet.order(1), status=201)["idc"] == better


def test_a_sample_moves_the_ranking(fleet: Fleet, takes_effect: Callable[..., None]) -> None:
    better, worse = fleet.idcs

    def measure(admin: Caller) -> None:
        sample = {"idc": worse, "metric": fleet.metric, "value": 3}
        assert admin.post("/samples/", [sample], status=200) == {"accepted": 1}

    takes_effect(measure, fleet.question, before=better, after=worse)


def test_a_new_idc_is_chosen(product: Product, takes_effect: Callable[..., None]) -> None:
    fleet, new = new_fleet(product, idcs=1), name("idc")
    question = fleet.question | {"exclude": fleet.idcs}

    def create(admin: Caller) -> None:
        admin.post("/idcs/", {"code": new, "region": fleet.region}, status=201)

    takes_effect(create, question, before=None, after=new)


def test_a_new_price_of_a_line_moves_the_bill(product: Product, takes_effect: Callable[..., None]) -> None:
    fleet = new_fleet(product)
    dear, cheap = fleet.idcs
    lines = {idc: fleet.admin.get(f"/lines/?idc={idc}")["results"][0]["id"] for idc in fleet.idcs}
    for idc, price in ((cheap, 20), (dear, 30)):
        fleet.admin.call("PATCH", f"/lines/{lines[idc]}/", {"price_per_mbps": price}, status=200)
    plugins = [{"name": "bill", "plugin": "billing_cost", "weight": 1}]
    fleet.admin.call("PATCH", f"/profiles/{fleet.profile}/", {"plugins": plugins}, status=200)
    question = fleet.order(action="recommend")
    until(
        lambda: {chosen_by(each, question) for each in fleet.callers} == {cheap},
        "the cheap IDC everywhere",
        seconds=SOON,
    )

    def raise_price(admin: Caller) -> None:
        admin.call("PATCH", f"/lines/{lines[cheap]}/", {"price_per_mbps": 40}, status=200)

    takes_effect(raise_price, question, before=cheap, after=dear)
