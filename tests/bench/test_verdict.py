"""What a run must achieve, over all of the time or only while it was undisturbed, and when it cannot be judged."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from bench.page import _steady
from bench.steady import Report, _lines
from bench.timeline import Timeline

CALM = Timeline(
    stretches=[], stolen=0.034, others=0.2, idle=0.5, disturbed=3, left=1, undisturbed_minutes=10.0,
    undisturbed_p50_ms=2.0, undisturbed_p99_ms=49.9, undisturbed_p999_ms=60.0, undisturbed_worst_ms=99.0,
)  # fmt: skip
MET = Report(
    wanted_minutes=10, minutes=10.7, maximum=100, maximum_measured="undisturbed", rate=50, answers=32100, unanswered=0,
    dropped=70, changes={"taints": 5}, failed=0, failures=[], p50_ms=3.0, p99_ms=900.0, p999_ms=950.0, worst_ms=2000.0,
    orders={"p50_ms": 11.0, "p99_ms": 25.0, "p999_ms": 40.0, "worst_ms": 80.0}, memory_mb=100,
    growth_mb_a_minute=0.99, replayed=50, replayed_otherwise=0, enough=True, timeline=CALM,
)  # fmt: skip
LATE = replace(CALM, undisturbed_p99_ms=50.0)
SHORT: dict[str, Any] = {"enough": False, "timeline": replace(LATE, undisturbed_minutes=9.5)}
UNTOLD = replace(CALM, stolen=None, others=None, idle=None, undisturbed_minutes=0.0, undisturbed_p99_ms=None)


def test_it_works() -> None:
    assert (MET.wrong(), MET.unjudged(), MET.status) == ([], [], 0)
    assert list(_lines(MET))[-1] == "as required"


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        pytest.param({"timeline": LATE}, "answers came late", id="late where nothing was taken away"),
        pytest.param({"timeline": replace(CALM, undisturbed_p99_ms=None)}, "answers came late", id="nothing was timed"),
        pytest.param({"failed": 1}, "there were failures", id="one failure, whenever it was"),
        pytest.param({"answers": 0}, "nothing was answered", id="nothing answered"),
        pytest.param({"growth_mb_a_minute": 1.0}, "memory grows", id="memory grows"),
        pytest.param({"growth_mb_a_minute": float("nan")}, "memory grows", id="nothing is known of memory"),
        pytest.param({"replayed_otherwise": 1}, "decisions do not replay", id="one replays otherwise"),
        pytest.param({"replayed": 0}, "decisions do not replay", id="none was replayed"),
    ],
)
@pytest.mark.parametrize("disturbed", [False, True])
def test_what_is_not_as_required(changed: dict[str, Any], wrong: str, disturbed: bool) -> None:
    """Being disturbed excuses nothing but late answers."""
    found = replace(MET, **(changed | {"enough": not disturbed}))
    excused = disturbed and "timeline" in changed
    assert (found.wrong(), found.status) == (([], 2) if excused else ([wrong], 1))
    assert any(line == f"NOT MET: {wrong}" for line in _lines(found)) is not excused


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        pytest.param(
            SHORT, "the host or other programs disturbed it: 9.5 of 10 minutes were undisturbed", id="too short"
        ),
        pytest.param(
            {"maximum_measured": "disturbed"}, "the maximum could not be measured undisturbed", id="half of what?"
        ),
        pytest.param(
            {"timeline": UNTOLD, "enough": False},
            "the machine does not tell what was taken away from it",
            id="nothing told",
        ),
    ],
)
def test_what_can_not_be_judged(changed: dict[str, Any], why: str) -> None:
    found = replace(MET, **changed)
    assert (found.wrong(), found.unjudged(), found.status) == ([], [why], 2)
    assert list(_lines(found))[-1] == f"NOT JUDGED whether answers come in time: {why}"


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        pytest.param(MET, "49.9 at the 99th percentile, 60 at the 99.9th, 99 at the worst (met)", id="met"),
        pytest.param(
            replace(MET, timeline=LATE), "50 at the 99th percentile, 60 at the 99.9th, 99 at the worst (**not met**)"
        ),
        pytest.param(replace(MET, **SHORT), "99 at the worst (**not judged**)", id="too short"),
        pytest.param(
            replace(MET, maximum_measured="disturbed"), "99 at the worst (**not judged**)", id="half of what?"
        ),
        pytest.param(
            replace(MET, timeline=UNTOLD, enough=False), "**not judged**: the machine does not tell", id="untold"
        ),
    ],
)
def test_the_page_says_the_same_with_all_of_the_time_beside_it(report: Report, verdict: str) -> None:
    told = "\n".join(_steady(asdict(report)))
    assert verdict in told
    assert (
        "in all of the time: 3 ms at the median, 900 at the 99th percentile, 950 at the 99.9th, 2000 at the worst"
        in told
    )
    assert (
        "released again before the next: 11 ms at the median, 25 at the 99th percentile, 40 at the 99.9th, 80" in told
    )
    assert "70 dropped behind disturbed stretches, 0 waiting when it was over" in told
