"""The nightly job that learns traffic shapes, on a database with a month of traffic and orders."""

from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.jobs.models import Lease
from idcsched.jobs.services import lease_take
from idcsched.ledger.models import Claim
from idcsched.placement import shape_learning
from idcsched.placement.models import Placement
from idcsched.placement.shape_learning import shapes_learn
from idcsched.placement.tasks import shapes_learn as task
from idcsched.scheduling.models import Shape, ShapeSource, ShapeVerdict
from idcsched.scheduling.shapes import shape_create, shape_delete
from tests.keeping import Kept
from tests.placement.learning import history_make, week

NOW = datetime(2031, 5, 7, 20, 0, tzinfo=UTC)
ORDERS = {
    ("cn", "live"): ["evening"],
    ("us", "live"): ["evening"],
    ("cn", "backup"): ["night"],
    ("cn", "any"): ["evening", "night"],
}
HISTORY: Kept[None] = Kept()
FLAT = [1.0] * 24

pytestmark = pytest.mark.usefixtures("in_shanghai")


@pytest.fixture
def history(db: None) -> None:
    HISTORY.write(partial(history_make, ORDERS, now=NOW, lines=24, each=60, mbps=150))


def known(business: str, tenant: str | None = "cn") -> Shape:
    return Shape.objects.get(business=business, tenant__code=tenant)


def error(row: Shape, name: str) -> float:
    """Return the mean difference between what was learnt and the truth, as a share of the truth's mean."""
    return float(np.abs(np.array(row.learnt) - week(name)).mean() / week(name).mean())


def all_rows() -> list[dict[str, Any]]:
    return list(Shape.objects.order_by("tenant__code", "business").values())


@pytest.mark.usefixtures("history")
def test_it_works() -> None:
    night = shapes_learn(now=NOW)
    assert night is not None
    assert (night.lines, night.measured, night.left_out) == (24, 24, 0)
    for business, tenant, name in (
        ("live", "cn", "evening"),
        ("live", "us", "evening"),
        ("live", None, "evening"),
        ("backup", "cn", "night"),
    ):
        row = known(business, tenant)
        assert row.verdict == ShapeVerdict.TRUSTED
        assert row.in_force == ShapeSource.LEARNT
        assert error(row, name) < 0.15
        assert max(row.learnt) == 1.0
        assert row.learnt_use == pytest.approx(0.7, rel=0.25)
        assert row.learnt_days == row.tried_days == pytest.approx(30, abs=0.1)
        assert 3 < row.learnt_lines < 24
        assert row.learnt_error < 0.15
        assert (row.learnt_error, row.learnt_use) == (round(row.learnt_error, 4), round(row.learnt_use, 4))
        assert row.learnt_at == row.tried_at == NOW
    assert not Shape.objects.filter(tenant__isnull=True, business="backup").exists(), "one tenant is not all tenants"
    assert not Change.objects.filter(kind="shape").exists()
    assert FeedEntry.objects.filter(topic="shapes").exists()
    assert not Lease.objects.exists()


@pytest.mark.usefixtures("history")
def test_a_mixed_business_is_not_trusted_and_the_row_says_so() -> None:
    shapes_learn(now=NOW)
    mixed = known("any")
    assert mixed.verdict == ShapeVerdict.MIXED
    assert (mixed.learnt, mixed.learnt_at, mixed.in_force) == (None, None, None)
    assert mixed.tried_at == NOW
    assert mixed.tried_lines > 3


@pytest.mark.usefixtures("history")
def test_what_was_entered_comes_first_until_it_is_deleted() -> None:
    entered = shape_create(business="live", tenant="cn", entered=FLAT)
    shapes_learn(now=NOW)
    row = known("live")
    assert (row.pk, row.entered, row.in_force) == (entered.pk, FLAT, ShapeSource.ENTERED)
    shape_delete(shape=row)
    row = known("live")
    assert (row.pk, row.entered, row.in_force) == (entered.pk, None, ShapeSource.LEARNT)
    again = shape_create(business="live", tenant="cn", entered=FLAT)
    assert (again.pk, again.in_force) == (entered.pk, ShapeSource.ENTERED)


@pytest.mark.usefixtures("history")
def test_twice_is_once() -> None:
    shapes_learn(now=NOW)
    once = all_rows()
    shapes_learn(now=NOW)
    assert all_rows() == once


@pytest.mark.usefixtures("history")
def test_not_while_another_process_learns(capsys: pytest.CaptureFixture[str]) -> None:
    assert lease_take(name="shapes_learn", holder=UUID(int=1), now=timezone.now(), lasting=timedelta(minutes=10))
    assert shapes_learn(now=timezone.now()) is None
    with pytest.raises(CommandError, match="Another process"):
        call_command("learn_shapes")
    assert not Shape.objects.exists()


@pytest.mark.usefixtures("history")
def test_killed_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed stores nothing and leaves its lease behind. When the lease has run out, the next run
    does all of the work.
    """

    class Killed(BaseException):
        pass

    def killed(**_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(shape_learning, "shapes_learnt_store", killed)
        patch.setattr(shape_learning, "lease_give_up", lambda **_: None)
        with pytest.raises(Killed):
            shapes_learn(now=NOW)
    assert not Shape.objects.exists()
    assert shapes_learn(now=NOW + timedelta(minutes=9)) is None
    assert shapes_learn(now=NOW + timedelta(minutes=11)) is not None
    assert known("live").in_force == ShapeSource.LEARNT


@pytest.mark.usefixtures("history")
def test_reservations_that_never_became_active_carry_no_traffic() -> None:
    Claim.objects.update(fading_since=None)
    night = shapes_learn(now=NOW)
    assert night is not None
    assert night.learned == {}
    assert not Shape.objects.exists()


@pytest.mark.usefixtures("history")
def test_orders_that_never_change_teach_nothing() -> None:
    Claim.objects.update(fading_since=NOW - timedelta(days=60), released_at=None)
    shapes_learn(now=NOW)
    assert set(Shape.objects.values_list("verdict", flat=True)) == {ShapeVerdict.UNCHANGED}


@pytest.mark.usefixtures("history")
def test_orders_without_a_business_are_taken_into_account_and_not_learnt() -> None:
    Placement.objects.filter(business="backup").update(business="")
    shapes_learn(now=NOW)
    assert error(known("live"), "evening") < 0.15
    assert set(Shape.objects.values_list("business", flat=True)) == {"live", "any"}


@pytest.mark.usefixtures("history")
def test_more_businesses_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape_learning, "MOST_BUSINESSES", 3)
    Placement.objects.filter(tenant__code="us", business="live").update(business="rare")
    Claim.objects.filter(placement__in=Placement.objects.filter(business="rare").values("pk")).update(amount=1)
    night = shapes_learn(now=NOW)
    assert night is not None
    assert night.left_out == 1
    assert set(Shape.objects.values_list("business", flat=True)) == {"live", "any", "backup"}


@pytest.mark.usefixtures("history")
def test_more_orders_than_are_looked_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    orders = Claim.objects.filter(released_at__gt=NOW - timedelta(days=30)) | Claim.objects.filter(released_at=None)
    monkeypatch.setattr(shape_learning, "MOST_ORDERS", orders.count() // 2)
    night = shapes_learn(now=NOW)
    assert night is not None
    assert 6 < night.lines < 18
    assert known("live").tried_lines < 12


@pytest.mark.usefixtures("history")
def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    printed = StringIO()
    call_command("learn_shapes", stdout=printed)
    head, *rows = printed.getvalue().splitlines()
    assert head.split() == ["tenant", "business", "in", "force", "lines", "days", "error", "last", "attempt"]
    cells = {tuple(row.split()[:3]): row.split()[3:] for row in rows}
    assert cells.keys() == {
        ("cn", "any", "-"),
        ("cn", "backup", "learnt"),
        ("cn", "live", "learnt"),
        ("us", "live", "learnt"),
        ("-", "live", "learnt"),
    }
    assert cells["cn", "live", "learnt"][1:] == ["30", f"{known('live').tried_error:.0%}", "trusted"]
    assert " ".join(cells["cn", "any", "-"][3:]) == "mixed: the shapes of single orders differ too much"


@pytest.mark.usefixtures("db")
def test_the_command_where_there_is_nothing_to_learn_from(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("learn_shapes")
    assert capsys.readouterr().out == "No orders of a business to learn from.\n"


@pytest.mark.usefixtures("history")
def test_the_task(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    settings.LEARN_SHAPES = False
    assert task() == {}
    assert not Shape.objects.exists()
    settings.LEARN_SHAPES = True
    assert task() == {"businesses": 5, "left_out": 0}
    assert known("live").in_force == ShapeSource.LEARNT
