"""The demo's past orders: decided by the engine under the article's profile, each with its record."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from idcsched.accounts.roles import Principal, Role
from idcsched.demo.documents import article_profile
from idcsched.demo.past_orders import ORDERS
from idcsched.inventory.models import Line
from idcsched.ledger.models import Claim
from idcsched.placement.models import Placement
from idcsched.planning.backtest import backtest
from idcsched.planning.recorded import recorded_period
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.preview import preview
from idcsched.scheduling.profile_checks import profile_check
from idcsched.scheduling.replay import recorded_inputs, replay
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, slot_floor, slots_between, utc_midnight
from metrics_ingest.samples.storage import history_read

pytestmark = pytest.mark.usefixtures("db")

BANDWIDTH = "bandwidth_mbps"
EVERYTHING = Principal(user_id=1, username="operator", role=Role.OPERATOR, tenant="demo", all_tenants=True)


def in_force(code: str) -> Any:
    """The body of a profile's revision in force."""
    profile = Profile.objects.select_related("active").get(code=code)
    assert profile.active
    return profile.active.body


@pytest.mark.both
def test_it_works(loaded: datetime) -> None:
    placements = {placement.decision_id: placement for placement in Placement.objects.select_related("idc")}
    decisions = list(Decision.objects.all())

    assert len(decisions) == len(placements) == ORDERS
    for decision in decisions:
        placement = placements[decision.pk]
        assert placement.idc
        assert (decision.placement, decision.idc) == (placement.pk, placement.idc.code)
        assert (decision.profile, decision.profile_revision) == ("article", 1)
        assert decision.created_at == placement.created_at < loaded
        assert decision.request == placement.request
        assert decision.answer["shape_from"] == ("entered" if placement.business == "backup" else "learnt")
        assert placement.bill["per_month"] == decision.answer["bill"]["per_month"]
        assert decision.outcomes.get(chosen=True).idc == decision.idc


def test_their_profile_is_that_of_the_fixture(loaded: datetime) -> None:
    profile = Profile.objects.select_related("active").get(code="article")
    assert profile.active
    told = {"code": profile.code, "name": profile.name, "message": profile.active.message, **profile.active.body}
    assert told == article_profile()


def test_lists_have_them_in_the_sequence_in_which_they_came(loaded: datetime) -> None:
    for times in (Decision.objects.values_list("created_at", flat=True), Placement.objects.values_list("created_at")):
        newest_first = list(times.order_by("-id"))
        assert newest_first == sorted(newest_first, reverse=True)


def test_each_takes_what_its_decision_chose(loaded: datetime) -> None:
    for decision in Decision.objects.all():
        claim = Claim.objects.select_related("holding__idc", "holding__line").get(placement=decision.placement)
        (used,) = decision.answer["lines"]
        assert claim.holding.line
        assert (claim.holding.idc.code, claim.holding.line.code) == (decision.idc, used["line"])
        assert claim.amount == used["bandwidth_mbps"]


@pytest.mark.both
def test_each_record_replays_to_the_same_answer(loaded: datetime) -> None:
    for decision in Decision.objects.all():
        again = replay(decision=decision)
        assert again.same_idc
        assert again.identical, decision.request_id


def test_what_they_saw_of_the_lines_is_what_was_measured(loaded: datetime) -> None:
    """A backtest reads the measurements, so it decides the orders as they were decided."""
    metric = Metric.objects.values_list("pk", flat=True).get(code=BANDWIDTH)
    lines = list(Line.objects.select_related("idc").order_by("id"))
    first = utc_midnight((loaded - timedelta(days=32)).date())
    measured = history_read(metric, np.array([line.pk for line in lines]), first.date(), 33)
    for decision in Decision.objects.all():
        snapshot = recorded_inputs(decision).snapshot()
        before = slots_between(first, slot_floor(decision.created_at) - SLOT)
        seen = snapshot.metrics[BANDWIDTH].values.tolist()
        codes = [snapshot.idcs.codes[row] for row in snapshot.lines.idc.tolist()]
        known = dict(zip(zip(codes, snapshot.lines.codes, strict=True), seen, strict=True))
        for line, values in zip(lines, measured, strict=True):
            if (line.idc.code, line.code) in known:
                assert known[line.idc.code, line.code] == pytest.approx(values[before], abs=0.1)


@pytest.mark.both
def test_a_backtest_tells_what_another_profile_would_have_cost(loaded: datetime) -> None:
    policies = {code: profile_check(code, in_force(code)) for code in ("article", "default")}
    period = recorded_period(days=30, now=loaded, decisions=Decision.objects.all())
    result = backtest(period, policies)
    article, default = result.courses

    assert result.orders == ORDERS
    assert result.done
    assert (article.moved, article.unplaced, article.failed) == (0, 0, 0)
    assert article.added == pytest.approx(result.done.added, rel=1e-6)
    assert (default.unplaced, default.failed) == (0, 0)
    assert 0 < default.added < 0.9 * result.done.added


def test_a_preview_tells_which_of_them_a_draft_would_have_moved(loaded: datetime) -> None:
    profile = Profile.objects.get(code="article")
    told = preview(profile=profile, body=in_force("default"), last=2 * ORDERS, principal=EVERYTHING)

    assert (told.examined, told.without_inputs, told.failed) == (ORDERS, 0, 0)
    assert told.would_be_billed < told.billed
    assert 0 < len(told.changed) < ORDERS
