"""A picture that was updated step by step equals one that is built anew, column by column."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import OperationalError
from django.utils import timezone

from idcsched.accounts.services import tenant_create
from idcsched.feed.services import feed_append, feed_extend
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import (
    affinity_create,
    idc_create,
    idc_update,
    isp_create,
    region_create,
    taint_create,
    taint_delete,
)
from idcsched.ledger.models import Headcount, Holding
from idcsched.scheduling import refreshing
from idcsched.scheduling.live import Live
from metrics_ingest.models import Latest, Metric
from metrics_ingest.services import Sample, history_store, metric_create, rollups_refresh, samples_store

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

NOT_COMPARED = {"id", "built_at", "memory"}


@pytest.fixture
def fleet() -> list[Idc]:
    isp_create(code="ct")
    isp_create(code="cu")
    region_create(code="A")
    region_create(code="B", parent="A")
    metric_create(code="x", direction="higher", scope="idc")
    lines = [{"isp": "ct", "purchased_mbps": 1000}, {"isp": "cu", "purchased_mbps": 500}]
    found = [idc_create(code=code, region=region, lines=lines) for code, region in (("b", "B"), ("a", "A"), ("c", "A"))]
    measured("bandwidth_mbps", 100.0, line="ct")
    return found


@pytest.fixture
def live(fleet: list[Idc]) -> Live:
    found = Live()
    found.current()
    return found


def measured(metric: str, value: float, *, idc: str = "a", line: str | None = None) -> None:
    now = timezone.now()
    samples_store(samples=[Sample(idc=idc, line=line, metric=metric, value=value, at=now)], now=now)


def same(kept_up: Any, anew: Any, where: str = "snapshot") -> None:
    """Compare two pictures part by part; a failure names the part that differs."""
    if isinstance(anew, np.ndarray):
        np.testing.assert_array_equal(kept_up, anew, err_msg=where)
    elif isinstance(anew, tuple) and anew and isinstance(anew[0], np.ndarray):
        same(dict(enumerate(kept_up)), dict(enumerate(anew)), where)
    elif is_dataclass(anew):
        for name in {part.name for part in fields(anew)} - NOT_COMPARED:
            same(getattr(kept_up, name), getattr(anew, name), f"{where}.{name}")
    elif isinstance(anew, dict):
        assert kept_up.keys() == anew.keys(), where
        for key, value in anew.items():
            same(kept_up[key], value, f"{where}[{key}]")
    else:
        assert kept_up == anew, where


def compared(live: Live) -> Snapshot:
    """Return the live picture, after checking that it equals the one that a new process builds."""
    found = live.current().snapshot
    same(found, Live().current().snapshot)
    return found


CHANGES: dict[str, Callable[[list[Idc]], object]] = {
    "a taint": lambda fleet: taint_create(idc=fleet[0], key="k"),
    "a taint gone": lambda fleet: [
        taint_create(idc=fleet[1], key="k"),
        taint_delete(taint=Taint.objects.get(idc=fleet[1])),
    ],
    "an affinity": lambda fleet: affinity_create(idc=fleet[2], kind="prefer", weight=7),
    "an IDC's load": lambda fleet: measured("cpu_load", 0.5),
    "a line's use": lambda fleet: measured("bandwidth_mbps", 321.0, line="cu"),
    "a line's use again": lambda fleet: measured("bandwidth_mbps", 654.0, line="ct"),
    "an IDC's status": lambda fleet: idc_update(idc=fleet[0], changes={"status": "offline"}),
    "an IDC more": lambda fleet: idc_create(code="aa", region="A"),
    "a metric more": lambda fleet: [metric_create(code="y", direction="lower", scope="idc"), measured("y", 3.0)],
    "a new IDC that is measured at once": lambda fleet: [idc_create(code="z", region="B"), measured("x", 1, idc="z")],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_it_works(change: Callable[[list[Idc]], object], live: Live, fleet: list[Idc]) -> None:
    change(fleet)
    compared(live)


def test_all_of_it_one_after_the_other(live: Live, fleet: list[Idc]) -> None:
    for change in CHANGES.values():
        change(fleet)
        compared(live)


def test_all_of_it_at_once(live: Live, fleet: list[Idc]) -> None:
    for change in CHANGES.values():
        change(fleet)
    compared(live)


def test_what_a_lines_history_comes_to(live: Live, fleet: list[Idc]) -> None:
    line = fleet[1].lines.get(code="ct")
    now = timezone.now()
    start = (now - timedelta(days=2)).replace(minute=0, second=0, microsecond=0)
    metric = Latest.objects.filter(metric__code="bandwidth_mbps").first().metric  # type: ignore[union-attr]
    history_store(metric=metric, idc=fleet[1], line=line, start=start, values=np.linspace(1, 400, 500))
    compared(live)
    rollups_refresh(lines=[line], now=now)
    assert compared(live).lines.percentile[live.current().snapshot.lines.codes.index("ct")] > 300


@pytest.mark.usefixtures("in_shanghai")
def test_the_last_thirty_days(live: Live, fleet: list[Idc]) -> None:
    """The history of traffic is kept up like a new one, in a time zone where each day has 24 hours."""
    lines = [fleet[0].lines.get(code="cu"), fleet[1].lines.get(code="ct")]
    now = timezone.now()
    metric = Metric.objects.get(code="bandwidth_mbps")
    for number, line in enumerate(lines):
        start = (now - timedelta(days=3)).replace(minute=0, second=0, microsecond=0)
        history_store(metric=metric, idc=line.idc, line=line, start=start, values=np.full(500, 100.0 + number))
    rollups_refresh(lines=lines, now=now)
    history = compared(live).history
    assert history is not None
    assert np.nanmax(history.hours, axis=1, initial=-1).tolist() == [101.0, -1.0, -1.0, -1.0, -1.0, 100.0]
    before = history

    taint_create(idc=fleet[0], key="k")
    rollups_refresh(lines=lines, now=now)
    assert compared(live).history is before, "nothing new is known of the days"

    rollups_refresh(lines=lines[:1], now=now + timedelta(days=1))
    after = compared(live).history
    assert after is not None
    assert after.weekday == (before.weekday + 1) % 7
    assert np.isnan(after.hours[:, -24:]).sum() > 5 * 24, "the others know nothing of the last day"
    np.testing.assert_array_equal(after.hours[:, :-24], before.hours[:, 24:])


def test_no_history_of_more_lines_than_the_setting_allows(live: Live, fleet: list[Idc], settings: Any) -> None:
    settings.EXACT_BILL_LINES = 5
    isp_create(code="cm")  # the inventory has changed: the snapshot is built anew
    assert compared(live).history is None
    rollups_refresh(lines=[fleet[1].lines.get(code="ct")], now=timezone.now())
    assert compared(live).history is None
    settings.EXACT_BILL_LINES = 6
    isp_create(code="cb")
    assert compared(live).history is not None


def test_what_the_ledger_holds(live: Live, fleet: list[Idc]) -> None:
    line = fleet[0].lines.get(code="ct")
    Holding.objects.create(idc=fleet[0], line=line, resource="bandwidth_mbps", taken=50.0, ordered=60.0)
    Holding.objects.create(idc=fleet[0], resource="cpu", taken=4.0, ordered=4.0)
    Headcount.objects.create(idc=fleet[0], tenant=tenant_create(code="t"), business="live", machines=3)
    feed_append(topic="ledger", key="b")
    found = compared(live)
    assert found.lines.pending.max() == 50.0
    assert found.stock.taken["cpu"].tolist() == [0.0, 0.0, 4.0]

    Holding.objects.all().update(taken=0.0)
    Headcount.objects.all().update(machines=0)
    feed_append(topic="ledger", key="b")
    assert compared(live).headcounts.facts == ()


def test_values_that_are_gone_are_gone_where_everything_of_the_topic_may_have_moved(live: Live) -> None:
    Latest.objects.all().delete()
    feed_append(topic="metrics")
    assert np.isnan(compared(live).metrics["bandwidth_mbps"].values).all()


def test_what_has_not_moved_is_shared(live: Live, fleet: list[Idc]) -> None:
    before = live.current().snapshot
    taint_create(idc=fleet[0], key="k")
    after = live.current().snapshot
    assert after is not before
    assert after.idcs is before.idcs
    assert after.metrics is before.metrics
    assert after.lines is before.lines
    assert len(before.taints.idc) == 0, "the old picture is as it was"


def of_idcs(snapshot: Snapshot, metric: str) -> dict[str, float]:
    return dict(zip(snapshot.idcs.codes, snapshot.metrics[metric].values.tolist(), strict=True))


def test_only_of_the_idcs_named_something_is_read(live: Live) -> None:
    measured("x", 1.0, idc="b")
    compared(live)
    Latest.objects.filter(idc__code="b").update(value=9.0)  # by nobody who says so
    measured("x", 2.0, idc="a")
    found = of_idcs(live.current().snapshot, "x")
    assert (found["a"], found["b"]) == (2.0, 1.0)


def test_where_no_idc_is_named_any_may_have_moved(live: Live) -> None:
    measured("x", 1.0, idc="b")
    compared(live)
    Latest.objects.filter(idc__code="b").update(value=9.0)
    feed_append(topic="metrics", key="x")
    measured("x", 2.0, idc="a")
    found = of_idcs(compared(live), "x")
    assert (found["a"], found["b"]) == (2.0, 9.0)


def test_a_metric_that_the_picture_knows_nothing_of_moves_nothing(live: Live) -> None:
    before = live.current().snapshot
    feed_append(topic="metrics", key="no such metric")
    assert live.current().snapshot.metrics is before.metrics


@pytest.mark.parametrize("named", [None, ["a"]], ids=["of any IDC", "of one IDC"])
@pytest.mark.usefixtures("db")
def test_what_could_not_be_taken_in_is_taken_in_the_next_time(
    named: list[str] | None, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured("x", 1.0)
    compared(live)
    Latest.objects.filter(metric__code="x").update(value=7.0)
    keys = None if named is None else list(Idc.objects.filter(code__in=named).values_list("pk", flat=True))
    feed_extend(topic="metrics", keys=["x"], idcs=keys)
    feed_append(topic="ledger", key="a")
    with monkeypatch.context() as broken:
        broken.setattr(refreshing, "holdings_read", fails)
        before = live.current()
        assert live.current() is before, "who asks goes on with what there was"
    assert np.nanmax(compared(live).metrics["x"].values) == 7.0


def fails(*_: object, **__: object) -> None:
    raise OperationalError("the connection is lost")
