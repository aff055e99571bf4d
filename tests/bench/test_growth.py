"""What grows in `bench.growth` really grows, and nothing else does."""

import pytest

from bench import growth
from bench.fleet import NOW, default_profile, world_of
from idcsched.framework.cycle import decide


@pytest.mark.parametrize("count", [3, 7])
def test_it_works(count: int) -> None:
    picture = growth.snapshot(growth.with_lines(count))
    assert len(picture.lines.codes) == count * growth.IDCS
    request = growth.requests(1)[0]
    assert decide(request, picture, default_profile(), now=NOW).feasible


def test_labels_that_grow_are_asked_for() -> None:
    picture = growth.snapshot(growth.with_labels(10))
    decision = decide(growth.about_labels(10)[0], picture, default_profile(), now=NOW)
    assert 0 < decision.feasible < growth.IDCS * 3 / 7


def test_taints_and_scorers_are_as_many_as_said() -> None:
    assert len(growth.with_taints(3).taints) == 3 * growth.IDCS
    assert len(growth.with_scorers(4).weighed or ()) == 4


def test_a_point_has_figures() -> None:
    point = growth.decided(world_of(100))
    assert point["warm"] > 0
    assert point["kb"] > 0
