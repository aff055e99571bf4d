"""The ledger agrees with the placements, and the audit finds whatever was changed in either."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from time import sleep
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.db.models import F, Model, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.ledger.taking import claims_fade
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Placement
from idcsched.placement.tasks import ledger_audit
from idcsched.placement.transitions import placement_confirm, placement_release
from tests.keeping import Kept
from tests.placement.conftest import FLEET

Order = Callable[..., Placement]


ORDERED: Kept[list[UUID]] = Kept(upon=FLEET)


@pytest.fixture
def placements(order: Order) -> list[Placement]:
    """One of each kind: reserved, active, released."""
    return [Placement.objects.get(pk=pk) for pk in ORDERED.write(partial(_ordered, order))]


def _ordered(order: Order) -> list[UUID]:
    found = [order(labels={"business": "live"}) for _ in range(3)]
    placement_confirm(placement=found[1])
    placement_release(placement=found[2])
    return [placement.pk for placement in found]


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
    assert any("bandwidth_mbps of placement" in str(difference) for difference in ledger_differences())


def test_the_command(placements: list[Placement], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("ledger_audit")
    assert capsys.readouterr().out == "The ledger agrees with the placements.\n"
    Claim.objects.filter(placement=placements[0].pk).update(remaining=0)
    with pytest.raises(SystemExit):
        call_command("ledger_audit")


def other_holding() -> int:
    """The id of a holding on which no claim is in force."""
    return Holding.objects.get(resource="cpu", idc__code="c").pk


def other_idc() -> Idc:
    """An IDC in which no placement holds anything."""
    return idc_create(code="z", region="A", lines=[{"isp": "ct", "purchased_mbps": 1000}])


A_DAY = timedelta(days=1)
CLAIMS: dict[str, Callable[[], dict[str, Any]]] = {
    "placement": lambda: {"placement": uuid4()},
    "holding": lambda: {"holding": other_holding()},
    "amount": lambda: {"amount": F("amount") + 1},
    "remaining": lambda: {"remaining": 0},
    "taken_after": lambda: {"taken_after": 0},
    "ceiling": lambda: {"ceiling": F("ceiling") + 1000},
    "created_at": lambda: {"created_at": F("created_at") - A_DAY},
    "fading_since": lambda: {"fading_since": timezone.now() - A_DAY},
    "released_at": lambda: {"released_at": timezone.now(), "remaining": 0},
}
HOLDINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "idc": lambda: {"idc": other_idc()},
    "line": lambda: {"line": other_idc().lines.get()},
    "resource": lambda: {"resource": "gpu"},
    "taken": lambda: {"taken": F("taken") + 1},
    "ordered": lambda: {"ordered": F("ordered") + 1},
    "kept": lambda: {"kept": 5, "kept_for": 3, "kept_until": timezone.now() + A_DAY},
    "kept_for": lambda: {"kept": 5, "kept_for": 9, "kept_until": timezone.now() + A_DAY},
    "kept_until": lambda: {"kept": 5, "kept_for": 3, "kept_until": timezone.now() + A_DAY},
}


def columns(model: type[Model]) -> set[str]:
    return {field.name for field in model._meta.concrete_fields if not field.primary_key}


def tampered(rows: QuerySet[Any], changes: dict[str, Any]) -> None:
    """Change one row and adjust the sums of the holdings, so that only the placements show the change."""
    assert rows.update(**changes) == 1
    for holding in Holding.objects.all():
        if {"taken", "ordered"} & changes.keys():
            break
        live = Claim.objects.filter(holding=holding, released_at__isnull=True)
        sums = live.aggregate(taken=Coalesce(Sum("remaining"), 0.0), ordered=Coalesce(Sum("amount"), 0.0))
        Holding.objects.filter(pk=holding.pk).update(**sums)


@pytest.mark.parametrize("resource", ["cpu", "bandwidth_mbps"])
@pytest.mark.parametrize("column", CLAIMS)
@pytest.mark.parametrize("which", [0, 1], ids=["reserved", "active"])
def test_every_column_of_a_claim(placements: list[Placement], which: int, column: str, resource: str) -> None:
    rows = Claim.objects.filter(placement=placements[which].pk, holding__resource=resource)
    tampered(rows, CLAIMS[column]())
    assert ledger_differences()


@pytest.mark.parametrize("column", HOLDINGS)
def test_every_column_of_a_holding(placements: list[Placement], column: str) -> None:
    resource = "bandwidth_mbps" if column == "line" else "cpu"
    tampered(Holding.objects.filter(idc__code="a", resource=resource), HOLDINGS[column]())
    assert ledger_differences()


def test_what_fades_is_no_difference(placements: list[Placement], settings: Any) -> None:
    """A claim that has faded, in part or altogether, is no difference between ledger and placements."""
    claims = Claim.objects.filter(fading_since__isnull=False)
    for days in (3, 0):
        sleep(0.05)
        settings.BANDWIDTH_FADE = days * A_DAY
        claims_fade(now=timezone.now(), over_seconds=settings.BANDWIDTH_FADE.total_seconds())
        assert claims.get().remaining < claims.get().amount
        assert ledger_differences() == []
    assert claims.get().remaining == 0


def test_a_placement_of_before_events_told_of_claims(placements: list[Placement]) -> None:
    for event in Event.objects.all():
        Event.objects.filter(pk=event.pk).update(detail={})
    assert ledger_differences() == []
    Claim.objects.filter(placement=placements[0].pk, holding__resource="bandwidth_mbps").update(amount=F("amount") + 1)
    assert ledger_differences()


def test_there_is_no_other_column() -> None:
    assert (set(CLAIMS), set(HOLDINGS)) == (columns(Claim), columns(Holding))
