"""Two minutes of the steady run: nothing fails, memory does not grow, decisions replay, and answers come in time."""

import pytest

from bench.steady import LONGEST_P99, steady
from bench.timeline import STRETCH

pytestmark = [pytest.mark.long, pytest.mark.timeout(600), pytest.mark.sqlite]  # it brings a PostgreSQL of its own


def test_it_works() -> None:
    report = steady(120, longest=150, settling=60, share=0.25, tries=3)  # other tests run beside it

    assert report.failed == 0, "\n".join(report.failures)
    assert report.answers > 0
    assert min(report.changes.values()) > 0
    stretches = report.timeline.stretches
    assert sum(stretch.due for stretch in stretches) == report.answers + report.unanswered + report.dropped
    assert {stretch.state for stretch in stretches} <= {"undisturbed", "disturbed", "left"}
    assert 120 / STRETCH - 4 <= len(stretches) <= 150 / STRETCH + 1, "a busy machine marks them late"
    assert report.minutes >= 2
    assert report.enough is (sum(stretch.state == "undisturbed" for stretch in stretches) >= 120 / STRETCH)
    assert (report.replayed > 0, report.replayed_otherwise) == (True, 0)
    assert report.growth_mb_a_minute < 10, "a minute tells only of coarse leaks"
    if report.timeline.undisturbed_minutes >= 1:
        assert report.timeline.undisturbed_p99_ms is not None
        assert report.timeline.undisturbed_p99_ms < 5 * LONGEST_P99, "less tells only of coarse delays, too"
