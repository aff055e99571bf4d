"""What a placement took of its IDC goes back."""

from django.utils import timezone

from idcsched.ledger.taking import claims_release

from .models import Placement

__all__ = ["capacity_given_back"]


def capacity_given_back(placement: Placement, *, idc: str | None = None) -> None:
    """The ledger forgets the placement's claims in that IDC, else in its own. The placement must be held."""
    code = idc or (placement.idc.code if placement.idc else None)
    if code is None:
        return
    claims_release(
        placement=placement.pk,
        idc=code,
        tenant=placement.tenant.code,
        business=placement.business,
        machines=placement.machine_count,
        at=timezone.now(),
    )
