"""A committed change is in the next decision, in this process and in every other."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from idcsched.accounts.services import tenant_create, tenant_update
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.models import Idc
from idcsched.inventory.services import (
    affinity_create,
    idc_create,
    idc_update,
    isp_create,
    region_create,
    taint_create,
    taint_delete,
)
from idcsched.scheduling.live import Live
from idcsched.scheduling.services import profile_create, profile_revise
from metrics_ingest.services import Sample, metric_create, samples_store

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def idc() -> Idc:
    isp_create(code="ct")
    region_create(code="A")
    return idc_create(code="a", region="A", lines=[{"isp": "ct", "purchased_mbps": 1000}])


@pytest.fixture
def live(idc: Idc) -> Live:
    found = Live()
    found.current()
    return found


def test_it_works(idc: Idc) -> None:
    snapshot = Live().current().snapshot

    assert snapshot.idcs.codes == ("a",)
    assert snapshot.lines.purchased.tolist() == [1000.0]
    assert snapshot.isps == {"ct": "ct"}


def test_words_that_come_again_are_kept_once(idc: Idc) -> None:
    again = idc_create(code="b", region="A", labels={"rack": "r1"}, lines=[{"isp": "ct", "purchased_mbps": 7}])
    idc_create(code="c", region="A", labels=again.labels)
    idcs, lines = Live().current().snapshot.idcs, Live().current().snapshot.lines

    assert idcs.codes == ("a", "b", "c")
    assert lines.isps[0] is lines.isps[1]
    assert idcs.regions[0] is idcs.regions[1]
    assert idcs.labels[1] is idcs.labels[2]
    assert idcs.labels[1] == {"rack": "r1"}


def test_nothing_moved_is_the_same_picture(live: Live, django_assert_num_queries: Callable[..., object]) -> None:
    before = live.current()

    with django_assert_num_queries(1):  # the question to the feed
        assert live.catch_up() is before
    with django_assert_num_queries(0):
        assert live.current() is before


def tainted(snapshot: Snapshot) -> list[str]:
    return [snapshot.idcs.codes[row] for row in snapshot.taints.idc]


def test_a_taint_and_its_lifting(live: Live, idc: Idc) -> None:
    (taint,) = taint_create(idc=idc, key="k")
    assert tainted(live.current().snapshot) == ["a"]

    taint_delete(taint=taint)
    assert tainted(live.current().snapshot) == []


def test_inventory(live: Live, idc: Idc) -> None:
    idc_update(idc=idc, changes={"status": "offline"})

    assert live.current().snapshot.idcs.statuses == ("offline",)


def test_an_affinity(live: Live, idc: Idc) -> None:
    affinity_create(idc=idc, kind="prefer", weight=5)

    assert [fact.weight for fact in live.current().snapshot.affinities] == [5]


def test_a_metric_and_its_values(live: Live, idc: Idc) -> None:
    metric_create(code="x", direction="higher", scope="idc")
    assert live.current().snapshot.metrics["x"].fact.direction == "higher"

    now = timezone.now()
    samples_store(samples=[Sample(idc="a", metric="x", value=7.0, at=now)], now=now)
    assert live.current().snapshot.metrics["x"].values.tolist() == [7.0]


def test_a_profile(live: Live) -> None:
    profile = profile_create(code="p", body={"plugins": []})
    assert live.current().profiles["p"].revision == 1

    snapshot = live.current().snapshot
    profile_revise(profile=profile, body={"plugins": [{"name": "taint", "plugin": "taint"}]})
    assert live.current().profiles["p"].revision == 2
    assert live.current().snapshot is snapshot, "a policy does not change what is known"


def test_a_tenants_default_profile(live: Live) -> None:
    tenant = tenant_create(code="t")
    assert live.current().default_profiles["t"] == ""

    tenant_update(tenant=tenant, changes={"default_profile": "default"})
    assert live.current().default_profiles["t"] == "default"


@pytest.mark.both
def test_another_process_sees_it_too(live: Live, idc: Idc) -> None:
    other = Live()
    other.current()

    taint_create(idc=idc, key="k")

    assert tainted(live.current().snapshot) == tainted(other.current().snapshot) == ["a"]
