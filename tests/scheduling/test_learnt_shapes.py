"""What becomes of a learnt shape: which shape is in force, for how long, and who sees it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, tenant_update
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid
from idcsched.scheduling.models import Shape, ShapeSource
from idcsched.scheduling.shapes import (
    BusinessOfTenant,
    shape_create,
    shape_delete,
    shape_update,
    shapes_known,
    shapes_learnt_store,
    shapes_visible,
)
from metrics_ingest.billing.shape_evidence import LearnedShape, Verdict

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

NOW = datetime(2031, 5, 7, 20, 0, tzinfo=UTC)
DAY = timedelta(days=1)
EVENINGS, NIGHTS = ([0.0] * 16 + [1.0] * 8) * 7, ([1.0] * 8 + [0.0] * 16) * 7
FLAT = [1.0] * 24


@pytest.fixture
def cn(db: None) -> Tenant:
    return tenant_create(code="cn")


def found(verdict: Verdict = Verdict.TRUSTED, hours: list[float] = EVENINGS) -> LearnedShape:
    figures = {"use": 0.7, "days": 29.6, "lines": 14.3, "error": 0.08, "heterogeneity": 0.1}
    return LearnedShape(verdict=verdict, shape=tuple(hours), **figures)


def night(learned: dict[BusinessOfTenant, LearnedShape], *, after: timedelta = timedelta()) -> None:
    shapes_learnt_store(learned=learned, now=NOW + after)


def in_force() -> dict[tuple[str, str], tuple[list[float], int | None]]:
    """Return the hours of each shape that the engine knows, with the lines that it rests on."""
    return {(fact.tenant, fact.business): (fact.hours.tolist(), fact.lines) for fact in shapes_known()}


def test_it_works(cn: Tenant) -> None:
    night({(cn.pk, "live"): found(), (None, "live"): found(hours=NIGHTS), (cn.pk, "vod"): found(Verdict.MIXED)})
    assert in_force() == {("cn", "live"): (EVENINGS, 14), ("", "live"): (NIGHTS, 14)}
    (fact,) = [fact for fact in shapes_known() if fact.tenant]
    assert (fact.lines, fact.days, fact.learnt) == (14, 30, True)
    assert Shape.objects.get(business="vod").get_verdict_display().startswith("mixed")


@pytest.mark.parametrize("verdict", [Verdict.UNCERTAIN, Verdict.UNCHANGED, Verdict.FEW_LINES, Verdict.TOO_SHORT])
def test_a_night_that_trusts_nothing_new_leaves_the_shape_in_force_for_90_days(cn: Tenant, verdict: Verdict) -> None:
    night({(cn.pk, "live"): found()})
    night({(cn.pk, "live"): found(verdict, NIGHTS)}, after=DAY)
    row = Shape.objects.get()
    assert (row.learnt, row.learnt_at, row.in_force) == (EVENINGS, NOW, ShapeSource.LEARNT)
    assert (row.verdict, row.tried_at) == (verdict.value, NOW + DAY)
    night({(cn.pk, "live"): found(verdict)}, after=91 * DAY)
    row = Shape.objects.get()
    assert (row.learnt, row.learnt_at, row.learnt_lines, row.in_force) == (None, None, None, None)


def test_a_business_that_turns_out_to_be_mixed_loses_its_shape(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    night({(cn.pk, "live"): found(Verdict.MIXED)}, after=DAY)
    assert in_force() == {}


def test_a_business_without_orders_keeps_its_shape_for_90_days_and_goes(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    night({}, after=90 * DAY)
    assert in_force() == {("cn", "live"): (EVENINGS, 14)}
    night({}, after=91 * DAY)
    night({}, after=92 * DAY)
    assert not Shape.objects.exists()


def test_what_was_entered_stays_when_nothing_is_learnt_of_it(cn: Tenant) -> None:
    shape_create(business="live", tenant="cn", entered=FLAT)
    night({}, after=200 * DAY)
    assert Shape.objects.get().in_force == ShapeSource.ENTERED


def test_what_was_entered_for_all_tenants_comes_before_what_was_learnt_of_one(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    everybodys = shape_create(business="live", entered=FLAT)
    own = Shape.objects.get(tenant=cn)
    assert (own.overruled, own.in_force) == (True, None)
    shape_delete(shape=everybodys)
    own = Shape.objects.get(tenant=cn)
    assert (own.overruled, own.in_force) == (False, ShapeSource.LEARNT)


def test_none_leaves_the_learnt_one_alone_in_force(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    entered = shape_create(business="live", tenant="cn", entered=FLAT)
    assert shape_update(shape=entered, changes={"entered": None}).in_force == ShapeSource.LEARNT
    other = shape_create(business="vod", entered=FLAT)
    with pytest.raises(Invalid):
        shape_update(shape=other, changes={"entered": None})
    with pytest.raises(Invalid):
        shape_create(business="games", entered=None)


def test_a_row_without_what_was_entered_is_deleted(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    shape_delete(shape=Shape.objects.get())
    assert not Shape.objects.exists()
    shape = shape_create(business="vod", tenant="cn", entered=FLAT)
    night({(cn.pk, "vod"): found(Verdict.FEW_LINES)})
    shape_delete(shape=Shape.objects.get(pk=shape.pk))
    assert not Shape.objects.exists()


def test_a_caller_of_a_tenant_does_not_see_what_others_order(cn: Tenant) -> None:
    us = tenant_create(code="us")
    night({(cn.pk, "live"): found(), (us.pk, "secret"): found(), (None, "secret"): found()})
    shape_create(business="games", entered=FLAT)
    caller = Principal(user_id=1, username="cn", role=Role.PORTAL, tenant="cn")
    assert {str(shape) for shape in shapes_visible(caller)} == {"cn/live", "games"}


def test_a_tenant_with_learnt_shapes_may_get_another_code(cn: Tenant) -> None:
    night({(cn.pk, "live"): found()})
    FeedEntry.objects.all().delete()
    tenant_update(tenant=cn, changes={"code": "zh"})
    assert in_force() == {("zh", "live"): (EVENINGS, 14)}
    assert FeedEntry.objects.filter(topic="shapes").exists()
    shape_create(business="live", tenant="zh", entered=FLAT)
    with pytest.raises(Conflict):
        tenant_update(tenant=cn, changes={"code": "cn"})


def test_what_an_operator_enters_meanwhile_stays(cn: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nightly job finds no row for the shape, and an operator enters one before the job inserts its own: the
    entered one stays in force.
    """
    create = Shape.objects.bulk_create

    def entered_first(rows: list[Shape], **options: Any) -> Any:
        shape_create(business="live", tenant="cn", entered=FLAT)
        return create(rows, **options)

    monkeypatch.setattr(type(Shape.objects), "bulk_create", lambda _, rows, **options: entered_first(rows, **options))
    night({(cn.pk, "live"): found()})
    row = Shape.objects.get()
    assert (row.entered, row.learnt, row.in_force) == (FLAT, EVENINGS, ShapeSource.ENTERED)
