"""Prometheus asks any one web process, and is told the figures of all of them added up."""

import re

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Caller, Product


def recommendations(caller: Caller, fleet: Fleet) -> float:
    """Return how many recommendations under the fleet's profile `/metrics` of the caller's web process counts."""
    page = caller.ask("GET", "/metrics")
    assert page.status == 200
    (count,) = re.findall(
        rf'^idcsched_schedule_attempts_total\{{profile="{fleet.profile}",result="scheduled"\}} (\S+)$',
        page.body,
        re.MULTILINE,
    )
    return float(count)


def test_it_works(product: Product) -> None:
    fleet = new_fleet(product)
    callers = fleet.callers
    for caller in callers:
        caller.schedule(**fleet.question)
    before = recommendations(callers[0], fleet)
    for asked in range(1, 4):
        for caller in callers:
            caller.schedule(**fleet.question)
        expected = before + asked * len(callers)
        assert [recommendations(caller, fleet) for caller in callers] == [expected] * len(callers)
