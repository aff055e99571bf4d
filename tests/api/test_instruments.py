"""What `/metrics` tells Prometheus about decisions, requests, samples and placements."""

import re
import time
from collections.abc import Callable

import pytest
from django.test import Client

from tests.api.conftest import Api


@pytest.fixture
def told() -> Callable[[str], float]:
    """The value of a sample, 0 where there is none."""

    def read(sample: str) -> float:
        response = Client(SERVER_NAME="localhost").get("/metrics")
        assert response.status_code == 200
        found = re.search(rf"^{re.escape(sample)} (\S+)$", response.content.decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    return read


def test_it_works(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    attempts = 'idcsched_schedule_attempts_total{profile="seed-example",result="scheduled"}'
    seconds = 'idcsched_scheduling_attempt_duration_seconds_count{profile="seed-example",result="scheduled"}'
    rejected = 'idcsched_rejections_total{code="untolerated_taint",plugin="taint"}'
    evaluated = 'idcsched_candidates_evaluated_sum{profile="seed-example"}'
    before = [told(sample) for sample in (attempts, seconds, rejected, evaluated)]

    portal.schedule(region="A", profile="seed-example")

    after = [told(sample) for sample in (attempts, seconds, rejected, evaluated)]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1.0, 1.0, 1.0, 4.0]


def test_some_decisions_are_timed_plugin_by_plugin(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    taint = 'idcsched_plugin_execution_duration_seconds_count{extension_point="filter",plugin="taint"}'
    point = 'idcsched_framework_extension_point_duration_seconds_count{extension_point="filter",profile="seed-example"}'
    before = told(taint), told(point)

    for number in range(10):  # each tolerates something else, so that no answer of a plugin's is remembered
        portal.schedule(region="A", profile="seed-example", tolerations=[{"key": f"k{number}", "operator": "Exists"}])

    assert (told(taint) - before[0], told(point) - before[1]) == (1.0, 1.0)


def test_what_cannot_be_answered_is_an_error(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    errors = 'idcsched_schedule_attempts_total{profile="seed-example",result="error"}'
    before = told(errors)

    portal.refused("POST", "/schedule/", {"region": "Z", "profile": "seed-example"}, status=400)

    assert told(errors) - before == 1.0


def test_requests_are_counted_by_route(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    found = 'idcsched_http_requests_total{method="GET",route="/api/v1/idcs/<code>/",status="%d"}'
    seconds = 'idcsched_http_request_duration_seconds_count{method="POST",route="/api/v1/schedule/"}'
    before = [told(sample) for sample in (found % 200, found % 404, seconds)]

    portal.get("/idcs/a/", status=200)
    portal.get("/idcs/b/", status=200)
    portal.get("/idcs/nowhere/", status=404)
    portal.schedule(region="A", profile="seed-example")

    after = [told(sample) for sample in (found % 200, found % 404, seconds)]
    assert [now - then for now, then in zip(after, before, strict=True)] == [2.0, 1.0, 1.0]


def test_old_values_of_online_idcs_are_counted(seed: Api, told: Callable[[str], float]) -> None:
    held, stale = 'idcsched_values{metric="x"}', 'idcsched_values_stale{metric="x"}'
    seed.call("PATCH", "/metrics/x/", {"max_age_seconds": 3600}, status=200)
    seed.schedule(region="A", profile="seed-example")
    assert (told(held), told(stale)) == (6.0, 0.0)

    seed.call("PATCH", "/metrics/x/", {"max_age_seconds": 1}, status=200)
    time.sleep(1.1)
    seed.schedule(region="A", profile="seed-example")
    assert (told(held), told(stale)) == (6.0, 6.0)

    seed.call("PATCH", "/idcs/a/", {"status": "offline"}, status=200)
    seed.schedule(region="A", profile="seed-example")
    assert (told(held), told(stale)) == (5.0, 5.0)


def test_placements_and_callbacks_are_counted(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["127.0.0.1"]}, status=200)
    order = {"region": "A", "profile": "seed-example", "action": "reserve", "callback_url": "http://127.0.0.1:9/"}
    portal.post("/schedule/", order, status=201)
    assert told('idcsched_placements{state="reserved"}') == 1.0
    assert told('idcsched_callbacks{state="pending"}') == 1.0
    assert told("idcsched_callbacks_longest_wait_seconds") > 0
    for none in ("idcsched_placements_stuck", "idcsched_placements_longest_wait_seconds"):
        assert told(none) == 0.0


def test_what_orders_hold_is_added_up(seed: Api, portal: Api, told: Callable[[str], float]) -> None:
    seed.call("PATCH", "/idcs/a/", {"stock": {"cpu": 100}}, status=200)
    taken, ordered = (f'idcsched_ledger_{which}{{resource="cpu"}}' for which in ("taken", "ordered"))
    assert (told(taken), told(ordered)) == (0.0, 0.0)
    machines = [{"count": 3, "cpu": 4}]
    order = {"region": "A", "only": ["a"], "profile": "seed-example", "action": "reserve", "machines": machines}

    placed = portal.post("/schedule/", order, status=201)
    assert (told(taken), told(ordered)) == (12.0, 12.0)
    portal.post(f"/placements/{placed['id']}/release/", None, status=200)
    assert (told(taken), told(ordered)) == (0.0, 0.0)


def test_pushed_samples_are_counted(seed: Api, told: Callable[[str], float]) -> None:
    stored, refused = (f'idcsched_samples_pushed_total{{result="{which}"}}' for which in ("stored", "refused"))
    before = told(stored), told(refused)
    good = {"idc": "a", "metric": "x", "value": 1.0}

    seed.post("/samples/", [good, {**good, "idc": "b"}], status=200)
    seed.refused("POST", "/samples/", [good, {**good, "idc": "b"}, {**good, "idc": "nowhere"}], status=400)

    assert (told(stored) - before[0], told(refused) - before[1]) == (2.0, 3.0)
