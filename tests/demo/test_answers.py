"""What the demo answers makes sense to somebody who knows the trade, at whatever hour it is asked."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from idcsched.accounts.roles import Principal, Role
from idcsched.demo.measuring import measurements_store
from idcsched.demo.showcase import ORDER
from idcsched.framework.answer import Answer
from idcsched.framework.building import build_snapshot
from idcsched.framework.cycle import decide
from idcsched.framework.decoding import convert
from idcsched.framework.explain import answer
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.inventory.models import Taint
from idcsched.placement.recommending import recommend as recommended
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.shipped import SHIPPED
from idcsched.scheduling.world import load_world

pytestmark = pytest.mark.usefixtures("db")

PORTAL = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="demo")
AREAS = ("huabei", "dongbei", "huadong", "huazhong", "huanan", "xinan", "xibei")

ALWAYS_OUT = {
    "gz-bgp-01": "no_isp_line",
    "sz-cm-01": "no_isp_line",
    "huizhou-ct-01": "untolerated_taint",
    "shantou-ct-01": "overloaded",
    "haikou-ct-cm-01": "draining",
}
"""The IDCs to which the first order never goes. Others may be full at some hours or tainted just then."""

Ask = Callable[..., Scheduled]


@pytest.fixture
def ask(loaded: datetime) -> Ask:
    """Asks for one machine of 100 Mbps unless told otherwise, fully explained."""

    def asked(**fields: Any) -> Scheduled:
        body = {"machines": [{"bandwidth_mbps": 100}], "explain": "full", **fields}
        return recommended(request=convert(body, Request), principal=PORTAL, http_request_id="test")

    return asked


def decided(body: Mapping[str, Any], at: datetime) -> Answer:
    """The answer at another time, on what is measured then."""
    measurements_store(at=at, now=at)
    snapshot = build_snapshot(load_world(), id="then", built_at=at.timestamp())
    decision = decide(
        Question(
            convert(dict(body), Request),
            snapshot,
            live.current().profiles["default"],
            now=at.timestamp(),
            labels={**body["labels"], "tenant": "demo"},
        )
    )
    return answer(decision, explain="full")


def rejections(scheduled: Scheduled | Answer) -> dict[str, str]:
    return {rejected.idc: rejected.code for rejected in scheduled.rejected or ()}


def test_it_works(ask: Ask) -> None:
    scheduled = ask(**ORDER)

    assert scheduled.idc is not None
    assert scheduled.idc.code == "sz-ct-cu-01"
    assert (scheduled.evaluated, scheduled.feasible) == (11, 5)
    assert rejections(scheduled) == {
        "dongguan-ct-cm-01": "not_enough_bandwidth",
        "gz-bgp-01": "no_isp_line",
        "haikou-ct-cm-01": "draining",
        "huizhou-ct-01": "untolerated_taint",
        "shantou-ct-01": "overloaded",
        "sz-cm-01": "no_isp_line",
    }


@pytest.mark.parametrize("hours", [0, 62, 124])
def test_the_first_order_goes_to_the_same_room_at_every_hour_of_the_week(hours: int, loaded: datetime) -> None:
    told = decided(ORDER, loaded + timedelta(hours=hours))

    assert told.idc is not None
    assert told.idc.code == "sz-ct-cu-01"
    assert told.margin is not None
    assert told.margin.runner_up == "foshan-ct-01"
    assert ALWAYS_OUT.items() <= rejections(told).items()


@pytest.mark.parametrize("profile", SHIPPED)
@pytest.mark.parametrize("isp", ["ct", "cu", "cm", "bgp"])
def test_answers_are_sound_for_every_carrier_under_every_profile(profile: str, isp: str, ask: Ask) -> None:
    scheduled = ask(region=list(AREAS), isp=isp, profile=profile, client={"region": "110000"})

    assert scheduled.result == "scheduled"
    assert scheduled.evaluated == 41 == scheduled.feasible + len(scheduled.rejected or ())
    assert not scheduled.plugin_errors
    assert not scheduled.stale
    assert [use.isp for use in scheduled.lines] == [isp]
    candidates = scheduled.candidates or ()
    assert [each.score for each in candidates] == sorted((each.score for each in candidates), reverse=True)
    for each in candidates:
        assert each.score == pytest.approx(sum(score.contribution for score in each.scores.values()))


@pytest.mark.parametrize(
    ("fields", "winners"),
    [
        pytest.param(
            {"region": "huadong", "isp": ["ct", "cu", "cm"], "isp_match": "all"},
            {"nanjing-ct-cu-cm-01", "wuxi-ct-cu-cm-01", "hz-ct-cu-cm-01"},
            id="all three carriers: a room with three lines",
        ),
        pytest.param(
            {"region": "huabei", "labels": {"business": "government"}},
            {"bj-ct-cu-cm-01", "bj-bgp-01", "langfang-cu-ct-01"},
            id="public services go to certified rooms only",
        ),
        pytest.param(
            {"region": "huanan", "tolerations": [{"key": "commissioning", "operator": "Exists"}], "profile": "even"},
            {"huizhou-ct-01"},
            id="the emptiest room for who tolerates its acceptance tests",
        ),
        pytest.param(
            {"region": "huadong", "machines": [{"cpu": 16, "gpu": 8}], "only": ["sh-bgp-01", "sh-ct-01"]},
            {"sh-bgp-01", "sh-ct-01"},
            id="GPUs where they are in stock, or where nobody counts",
        ),
        pytest.param(
            {"region": ["huanan", "huadong"], "client": {"region": "440300"}, "weights": {"locality": 10_000}},
            {"sz-ct-cu-01", "sz-cm-01"},
            id="nearness alone: Shenzhen for Shenzhen",
        ),
    ],
)
def test_a_person_would_have_said_the_same(fields: dict[str, Any], winners: set[str], ask: Ask) -> None:
    scheduled = ask(**fields)

    assert scheduled.idc is not None
    assert scheduled.idc.code in winners


def test_next_weeks_maintenance_counts_next_week(loaded: datetime) -> None:
    window = Taint.objects.get(idc__code="gz-ct-cu-cm-01", key="maintenance")
    assert window.starts_at is not None
    before, during = (decided(ORDER, window.starts_at + timedelta(minutes=minutes)) for minutes in (-5, 5))

    assert "gz-ct-cu-cm-01" not in rejections(before)
    assert rejections(during)["gz-ct-cu-cm-01"] == "untolerated_taint"


def test_the_seed_example_stands_beside_it_untouched(ask: Ask) -> None:
    scheduled = ask(region="A", profile="seed-example", machines=None)

    assert scheduled.summary == "3/4 IDCs fit: 1 untolerated taint"
    assert [(each.idc, each.score) for each in scheduled.candidates or ()] == [("d", 220), ("b", 220), ("a", 110)]
    assert scheduled.tie is not None
    assert scheduled.tie.broken_by == "affinity"
