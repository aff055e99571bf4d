"""The demo's past orders, and the shapes that the job of the night has learnt from their traffic."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from django.db.models import Case, Value, When
from django.utils import timezone

from idcsched.accounts.roles import Principal, Role
from idcsched.demo.measuring import measurements_store
from idcsched.demo.ordered_traffic import ordered_traffic
from idcsched.demo.showcase import ORDER
from idcsched.demo.source import slot_start
from idcsched.demo.traffic import SLOTS_A_DAY, slot_of, use_of_business
from idcsched.framework.decoding import convert
from idcsched.framework.request import Request
from idcsched.ledger.models import Claim
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.recommending import recommend as recommended
from idcsched.placement.services import placement_release, shapes_learn
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Shape, ShapeSource, ShapeVerdict

pytestmark = [pytest.mark.usefixtures("db"), pytest.mark.both]

PORTAL = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="demo")
MONDAY = 20_416 * SLOTS_A_DAY - 96
"""The slot of a Monday's midnight in China."""
BUSINESSES = ("live-streaming", "conference", "backup")


def truth(business: str) -> np.ndarray:
    """The shape by which the business's traffic was made, at the 168 hours of a week."""
    hours = use_of_business(business, first=MONDAY, count=7 * SLOTS_A_DAY).reshape(-1, 12).mean(axis=1)
    return hours / hours.max()


def error(shape: Shape, business: str) -> float:
    """The mean difference between what was learnt and that business's truth, as a share of the truth's mean."""
    return float(np.abs(np.array(shape.learnt) - truth(business)).mean() / truth(business).mean())


def asked(**fields: object) -> Scheduled:
    return recommended(request=convert({**ORDER, **fields}, Request), principal=PORTAL, http_request_id="test")


def test_it_works(loaded: datetime) -> None:
    shapes = {shape.business: shape for shape in Shape.objects.filter(tenant__code="demo")}

    assert shapes.keys() == set(BUSINESSES)
    for business, shape in shapes.items():
        assert shape.verdict == ShapeVerdict.TRUSTED
        assert error(shape, business) < 0.15
        assert shape.learnt_error < 0.15
        assert 39 <= shape.learnt_days < 41, "the whole billing days of 40 days, and the hours of today"
        assert shape.learnt_lines > 3
        assert shape.learnt_use == pytest.approx(0.8, rel=0.15)
        assert shape.learnt_at == loaded


def test_what_is_learnt_is_what_flowed(loaded: datetime) -> None:
    """If the orders of two businesses are swapped, each business is given the shape of the other."""
    one, other = "live-streaming", "conference"
    placements = Placement.objects.filter(business__in=[one, other])
    placements.update(business=Case(When(business=one, then=Value(other)), default=Value(one)))
    shapes_learn(now=loaded)

    assert error(Shape.objects.get(business=one), other) < 0.15
    assert error(Shape.objects.get(business=one), one) > 0.3


def test_of_one_business_a_shape_is_entered_beside_the_learnt_one(loaded: datetime) -> None:
    in_force = dict(Shape.objects.values_list("business", "pk"))
    assert {business: Shape.objects.get(pk=key).in_force for business, key in in_force.items()} == {
        "live-streaming": ShapeSource.LEARNT,
        "conference": ShapeSource.LEARNT,
        "backup": ShapeSource.ENTERED,
    }


def test_the_first_order_is_priced_by_what_was_learnt(loaded: datetime) -> None:
    answer = asked()

    assert answer.shape_from == "learnt"
    assert "by the shape of demo's live-streaming, learnt from " in str(answer.shape_note)
    assert answer.candidates
    assert answer.candidates[0].bill


@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ({"business": "gaming"}, "its traffic counts as flat: no shape is known for gaming"),
        ({}, "its traffic counts as flat: the request has neither a shape nor a label `business`"),
    ],
)
def test_an_order_of_an_unknown_business_is_flat(labels: dict[str, str], note: str, loaded: datetime) -> None:
    answer = asked(labels=labels)

    assert (answer.shape_from, answer.shape_note) == ("flat", note)


def test_the_ledger_agrees_with_the_placements(loaded: datetime) -> None:
    assert ledger_differences() == []
    assert set(Placement.objects.values_list("state", flat=True)) == {"active", "released"}
    assert max(Placement.objects.values_list("changed_at", flat=True)) < loaded


def test_the_traffic_of_an_order_goes_with_it(loaded: datetime) -> None:
    placement = Placement.objects.filter(state="active").first()
    assert placement is not None
    assert placement.idc is not None
    line = placement.idc.code, placement.lines[0]["line"]
    placement_release(placement=placement)
    now = timezone.now()
    first = slot_of(now.timestamp()) + 1
    others = Claim.objects.filter(holding__line__idc=placement.idc, holding__line__code=line[1], released_at=None)
    left = sum(
        claim.amount * use_of_business(Placement.objects.get(pk=claim.placement).business, first=first, count=1)[0]
        for claim in others
    )

    carried = ordered_traffic(first=first, until=first + 1).get(line, np.zeros(1))
    assert carried.tolist() == pytest.approx([left])
    before = ordered_traffic(first=first - 2 * SLOTS_A_DAY, until=first)[line]
    assert before[-SLOTS_A_DAY] > 0


def test_the_next_nights_learn_on(loaded: datetime) -> None:
    """Later measurements contain the orders' traffic, too, so that the shapes stay as good as they were."""
    later = slot_start(slot_of((loaded + timedelta(days=3)).timestamp()))
    measurements_store(at=later, now=later)
    shapes_learn(now=later)

    for shape in Shape.objects.all():
        assert (shape.verdict, shape.learnt_at) == (ShapeVerdict.TRUSTED, later)
        assert error(shape, shape.business) < 0.15
