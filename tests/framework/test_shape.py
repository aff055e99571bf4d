"""By which shape an order is priced: the request's, what is known of its business, or a flat one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET

from idcsched.framework.facts import ShapeFact
from idcsched.framework.testing import Outcome, decide_for, profile, world

BUSY_EVENINGS = ([100.0] * 18 + [900.0] * 6) * 7
MORNINGS, EVENINGS = [1.0] * 12 + [0.0] * 12, [0.0] * 12 + [1.0] * 12
FLEET = world({"a": {"lines": {"ct": {"used_mbps": 100, "price_per_mbps": 20, "hourly": BUSY_EVENINGS}}}})
BILL = profile(("bill", "billing_cost", {"weight": 1}))


def known_of(business: str, day: list[float], tenant: str = "") -> ShapeFact:
    return ShapeFact(tenant=tenant, business=business, hours=np.tile(day, 7).astype(np.float32))


def decided(*shapes: ShapeFact, need: float = 100, **fields: Any) -> Outcome:
    return decide_for(replace(FLEET, shapes=shapes), BILL, machines=[{"bandwidth_mbps": need}], **fields)


LIVE = known_of("live", MORNINGS, tenant="cn")


@pytest.mark.parametrize(
    ("fields", "shape_from", "price"),
    [
        pytest.param({}, "flat", 20.0, id="nothing is known"),
        pytest.param({"shape": MORNINGS}, "request", 0.0, id="the request says it"),
        pytest.param({"labels": {"business": "live"}, "tenant": "cn"}, "entered", 0.0, id="entered for its business"),
        pytest.param(
            {"labels": {"business": "live"}, "tenant": "cn", "shape": EVENINGS},
            "request",
            20.0,
            id="the request knows better",
        ),
        pytest.param({"labels": {"business": "live"}, "tenant": "us"}, "flat", 20.0, id="known of another's business"),
        pytest.param({"labels": {"business": "vod"}, "tenant": "cn"}, "flat", 20.0, id="another business"),
    ],
)
def test_it_works(fields: dict[str, Any], shape_from: str, price: float) -> None:
    answer = decided(LIVE, **fields).answer
    assert answer.shape_from == shape_from
    assert answer.candidates[0].scores["bill"].raw == price


def test_a_tenants_own_business_comes_before_that_of_all_tenants() -> None:
    everybodys = known_of("live", EVENINGS)
    asked = {"labels": {"business": "live"}}
    assert decided(LIVE, everybodys, tenant="cn", **asked).scores("bill")["a"].raw == 0.0
    assert decided(LIVE, everybodys, tenant="us", **asked).scores("bill")["a"].raw == 20.0


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        pytest.param({"shape": EVENINGS}, UNSET, id="the request's own"),
        pytest.param(
            {"labels": {"business": "games"}},
            "its traffic counts by the shape of games that an operator has entered for all tenants",
            id="entered",
        ),
        pytest.param(
            {"labels": {"business": "vod"}}, "its traffic counts as flat: no shape is known for vod", id="unknown"
        ),
        pytest.param(
            {}, "its traffic counts as flat: the request has neither a shape nor a label `business`", id="no business"
        ),
        pytest.param({"explain": "none"}, UNSET, id="nothing is explained"),
    ],
)
def test_the_answer_says_which(fields: dict[str, Any], note: Any) -> None:
    assert decided(LIVE, known_of("games", MORNINGS), **fields).answer.shape_note == note


def learnt_of(business: str, day: list[float], tenant: str = "") -> ShapeFact:
    return replace(known_of(business, day, tenant), lines=14, days=41, error=0.064)


@pytest.mark.parametrize(
    ("shapes", "shape_from", "note"),
    [
        pytest.param(
            [learnt_of("live", MORNINGS, "cn")],
            "learnt",
            "its traffic counts by the shape of cn's live, learnt from 14 lines over 41 days with an error of 6%",
            id="learnt",
        ),
        pytest.param(
            [learnt_of("live", MORNINGS, "cn"), known_of("live", MORNINGS)],
            "entered",
            "its traffic counts by the shape of live that an operator has entered for all tenants",
            id="entered for all tenants",
        ),
        pytest.param(
            [learnt_of("live", EVENINGS), learnt_of("live", MORNINGS, "cn")],
            "learnt",
            "its traffic counts by the shape of cn's live, learnt from 14 lines over 41 days with an error of 6%",
            id="of the tenant, and of all",
        ),
        pytest.param(
            [learnt_of("live", MORNINGS)],
            "learnt",
            "its traffic counts by the shape of all tenants' live, learnt from 14 lines over 41 days with an error of "
            "6%",
            id="learnt of all",
        ),
        pytest.param(
            [replace(learnt_of("live", MORNINGS, "cn"), error=None)],
            "learnt",
            "its traffic counts by the shape of cn's live, learnt from 14 lines over 41 days",
            id="learnt, as records of earlier versions have it",
        ),
        pytest.param(
            [known_of("live", EVENINGS), known_of("live", MORNINGS, "cn")],
            "entered",
            "its traffic counts by the shape of live that an operator has entered for cn",
            id="entered for the tenant, and for all",
        ),
    ],
)
def test_what_was_entered_comes_before_what_was_learnt(shapes: list[ShapeFact], shape_from: str, note: str) -> None:
    answer = decided(*shapes, labels={"business": "live"}, tenant="cn").answer
    assert (answer.shape_from, answer.shape_note) == (shape_from, note)
    assert answer.candidates[0].scores["bill"].raw == 0.0


def test_without_bandwidth_there_is_nothing_to_say() -> None:
    answer = decided(LIVE, need=0).answer
    assert (answer.shape_from, answer.shape_note) == (UNSET, UNSET)
