"""The ledger is what the placements say; whoever tampers with it is found out."""

from collections.abc import Callable

import pytest
from django.core.management import call_command

from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.moving import placement_confirm, placement_release
from idcsched.placement.tasks import ledger_audit

Order = Callable[..., Placement]


@pytest.fixture
def placements(order: Order) -> list[Placement]:
    """One of each kind: reserved, active, released."""
    found = [order(labels={"business": "live"}) for _ in range(3)]
    placement_confirm(placement=found[1])
    placement_release(placement=found[2])
    return found


def test_it_works(placements: list[Placement]) -> None:
    assert ledger_differences() == []


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        pytest.param(
            lambda: Holding.objects.filter(resource="bandwidth_mbps", idc__code="a").update(taken=299),
            ["a/ct bandwidth_mbps, taken: 299 in the ledger, 300 by the placements"],
            id="what is taken",
        ),
        pytest.param(
            lambda: Holding.objects.filter(resource="cpu", idc__code="a").update(ordered=13),
            ["a cpu, ordered: 13 in the ledger, 12 by the placements"],
            id="what is ordered",
        ),
        pytest.param(
            lambda: Headcount.objects.filter(idc__code="c").update(machines=1),
            ["machines of live-cn live in c: 1 in the ledger, 0 by the placements"],
            id="machines that are gone",
        ),
    ],
)
def test_what_was_tampered_with(placements: list[Placement], tamper: Callable[[], int], told: list[str]) -> None:
    assert tamper() == 1
    assert [str(difference) for difference in ledger_differences()] == told
    assert ledger_audit() == {"differences": len(told)}


def test_a_claim_of_nobody(placements: list[Placement]) -> None:
    Placement.objects.filter(pk=placements[0].pk).update(state="expired", expires_at=None)
    assert any("bandwidth of placement" in str(difference) for difference in ledger_differences())


def test_the_command(placements: list[Placement], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("ledger_audit")
    assert capsys.readouterr().out == "The ledger agrees with the placements.\n"
    Claim.objects.filter(placement=placements[0].pk).update(remaining=0)
    with pytest.raises(SystemExit):
        call_command("ledger_audit")
