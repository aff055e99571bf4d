"""Room that is kept for orders which wait, so that whoever comes now and is no more urgent does not take it.

What is given back where somebody waits for it is kept at once, until those who wait were tried; who has waited for
long keeps what is needed until it is all there. Nothing is kept for ever: if nobody says so anew, it is free.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Round

from idcsched.audit.services import feed_extend
from idcsched.audit.writing import write
from idcsched.framework.normalize import DECIMALS
from idcsched.inventory.models import Idc, Line

from .models import Holding, Resource

__all__ = ["Keep", "Kept", "Place", "keep_returned", "kept_now", "kept_settle"]

Place = tuple[str, str | None, str]
"""IDC, line or None, resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """For orders of this priority, until then."""

    priority: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """So much of one thing is kept for orders that wait, of this priority or a higher one."""

    idc: str
    line: str | None
    resource: str
    amount: float
    priority: int
    until: datetime

    @property
    def place(self) -> Place:
        return self.idc, self.line, self.resource


def kept_now(*, at: datetime | None = None) -> tuple[Kept, ...]:
    """All that is kept or, without `at`, also what was and is not any more."""
    rows = Holding.objects.filter(kept__gt=0).order_by("id")
    if at is not None:
        rows = rows.filter(kept_until__gt=at)
    fields = ("idc__code", "line__code", "resource", "kept", "kept_for", "kept_until")
    return tuple(
        Kept(idc=idc, line=line, resource=resource, amount=amount, priority=priority or 0, until=until)
        for idc, line, resource, amount, priority, until in rows.values_list(*fields)
        if until is not None
    )


def keep_returned(holding: int, amount: float, keep: Keep, *, at: datetime) -> None:
    """That much more. The holding must be locked."""
    live = Q(kept__gt=0, kept_until__gt=at)
    Holding.objects.filter(pk=holding).update(
        kept=Case(When(live, then=Round(F("kept") + amount, DECIMALS)), default=Value(amount)),
        kept_for=Case(When(live, then=Greatest(F("kept_for"), Value(keep.priority))), default=Value(keep.priority)),
        kept_until=Case(When(live, then=Greatest(F("kept_until"), Value(keep.until))), default=Value(keep.until)),
    )


def kept_settle(*, seen: Iterable[Kept], wanted: Mapping[Place, tuple[float, Keep]]) -> int:
    """From now on `wanted` is kept instead of what was `seen`; says for how many things that is another amount.

    Of what somebody has given back since, as much as it was stays kept until the next time. Each thing is changed by
    itself, lest anybody who takes several of them waits for two others.
    """
    before = {kept.place: kept for kept in seen}
    moved = [place for place in sorted({*before, *wanted}, key=str) if _settled(place, before.get(place), wanted)]
    if moved:
        feed_extend(topic="kept_free", keys=(idc for idc, _, _ in moved))
    return len(moved)


@write()
def _settled(place: Place, before: Kept | None, wanted: Mapping[Place, tuple[float, Keep]]) -> bool:
    """Whether another amount is kept now, or for another priority."""
    amount, keep = wanted.get(place, (0.0, None))
    priority, until = (None, None) if keep is None else (keep.priority, keep.until)
    if before is None:
        _present(place)
    rows = _rows(place).filter(kept=before.amount if before else 0.0)
    changed = rows.update(kept=amount, kept_for=priority, kept_until=until)
    return bool(changed) and (before is None or (before.amount, before.priority) != (amount, priority))


def _rows(place: Place) -> QuerySet[Holding]:
    idc, line, resource = place
    of_line = Q(line__isnull=True) if line is None else Q(line__code=line)
    return Holding.objects.filter(of_line, idc__code=idc, resource=resource)


def _present(place: Place) -> None:
    """Of what nobody has ever taken there is no row yet; an IDC or line that is gone gets none."""
    idc, line, resource = place
    if _rows(place).exists():
        return
    stands = Line.objects.filter(idc__code=idc, code=line).values_list("idc_id", "id").first() if line else None
    if line is None:
        stands = Idc.objects.filter(code=idc).values_list("id", Value(None)).first()
    if stands is not None:
        row = Holding(idc_id=stands[0], line_id=stands[1], resource=Resource(resource))
        Holding.objects.bulk_create([row], ignore_conflicts=True)
