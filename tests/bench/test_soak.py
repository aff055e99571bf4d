"""A short soak test meets the requirements; it excuses only what docs/faults.md names."""

from dataclasses import replace

import pytest

from bench.soak import NAMED, Answer, Fault, Report, soak
from tests.docs.pages import page

ROWS = {line.split("|")[1].strip(): line for line in page("faults.md").splitlines() if line.startswith("| ")}
GOOD = Report(
    minutes=1.0,
    faults=[Fault(what="Redis is stopped", began=1.0, mended=2.0, back=3.0)],
    answers={},
    p50_ms={},
    p99_ms={},
    degraded=0,
    accepted=1,
    lost=[],
    oversold=[],
    ledger="The ledger agrees with the placements.",
    fullest=1.0,
    never_settled=0,
    unexcused=[],
    causes=[],
)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.postgresql
def test_it_works() -> None:
    report = soak(60)
    assert report.wrong() == [], report
    assert len(report.faults) == 6
    assert report.accepted > 0
    assert {"recommend", "reserve", "release", "push", "taint", "lift"} == set(report.answers)


@pytest.mark.parametrize("what", NAMED)
def test_what_is_excused_is_named_on_the_page(what: str) -> None:
    for error in NAMED[what]:
        assert all(word in ROWS[what] for word in error.split()), error


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"faults": [Fault(what="Redis is stopped", began=1.0, mended=2.0)]}, "the service did not come back"),
        ({"causes": ["broker_away"]}, "the service did not come back"),
        ({"lost": ["one is None, not reserved"]}, "accepted reservations were lost"),
        ({"oversold": ["one took too much"]}, "something was oversold"),
        ({"ledger": "a cpu, taken: 1 in the ledger"}, "the ledger does not agree with the placements"),
        ({"unexcused": ["recommend: 500"]}, "there were errors outside of faults, or of other kinds"),
        ({"never_settled": 1}, "there were errors outside of faults, or of other kinds"),
        ({"fullest": 0.5}, "nothing was nearly full, so overselling was not tried"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], complaint: str) -> None:
    assert GOOD.wrong() == []
    assert replace(GOOD, **change).wrong() == [complaint]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "began", "status", "excused"),
    [
        ("PostgreSQL is stopped", 2.0, 503, True),
        ("PostgreSQL is stopped", 9.0, 503, False),
        ("PostgreSQL is stopped", 2.0, 500, False),
        ("Redis is stopped", 2.0, 503, False),
    ],
)
def test_a_fault_excuses_what_is_named_while_it_lasts(what: str, began: float, status: int, excused: bool) -> None:
    document = {"code": "database_unavailable"}
    answer = Answer(what="reserve", began=began, ended=began + 0.1, status=status, document=document, again=False)
    assert Fault(what=what, began=1.0, mended=3.0, back=5.0).excuses(answer) is excused
