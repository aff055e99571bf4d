"""What Prometheus is told of every question."""

import re
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
