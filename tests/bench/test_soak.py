"""Two minutes of the soak: nothing fails, nothing grows, what was decided replays."""

import pytest

from bench.soak import soak

pytestmark = [pytest.mark.long, pytest.mark.timeout(600), pytest.mark.sqlite]  # it brings a PostgreSQL of its own


def test_it_works() -> None:
    report = soak(120, settling=60, share=0.25)  # other tests run beside it

    assert report.failures == []
    assert report.answers > 0
    assert min(report.changes.values()) > 0
    stretches = report.timeline.stretches
    assert sum(stretch.answers for stretch in stretches) == report.answers + report.unanswered
    assert 8 <= len(stretches) <= 12, "a busy machine marks them late"
    assert (report.replayed > 0, report.replayed_otherwise) == (True, 0)
    assert report.growth_mb_a_minute < 10, "a minute tells only of coarse leaks"
