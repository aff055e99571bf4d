"""Capacity kept free for waiting orders: new orders of the same or a lower priority may not take it.

Capacity released in an IDC for which an order waits is kept at once, until the waiting orders have been tried. For an
order that has waited long, capacity is kept until enough of it has come together. Every keep has an end: unless it is
renewed, the capacity is free again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest, Round

from idcsched.audit.writing import write
from idcsched.feed.services import feed_extend
from idcsched.framework.normalize import DECIMALS
from idcsched.inventory.models import Idc, Line

from .models import Holding, Resource

__all__ = ["Keep", "Kept", "Place", "keep_returned", "kept_now", "kept_settle"]

Place = tuple[str, str | None, str]
"""The codes of an IDC and of a line (None: the IDC's stock), and the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """The orders for which capacity is kept, by priority, and until when."""

    priority: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An amount of one resource that is kept for waiting orders of this priority or a higher one."""

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
    """Return what is kept at the time `at`; without `at` also the keeps that have run out."""
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
    """Keep `amount` of the holding in addition to what is kept already. The holding must be locked."""
    live = Q(kept__gt=0, kept_until__gt=at)
    Holding.objects.filter(pk=holding).update(
        kept=Case(When(live, then=Round(F("kept") + amount, DECIMALS)), default=Value(amount)),
        kept_for=Case(When(live, then=Greatest(F("kept_for"), Value(keep.priority))), default=Value(keep.priority)),
        kept_until=Case(When(live, then=Greatest(F("kept_until"), Value(keep.until))), default=Value(keep.until)),
    )


def kept_settle(*, seen: Iterable[Kept], wanted: Mapping[Place, tuple[float, Keep]]) -> int:
    """Keep `wanted` instead of what was `seen`; return for how many places the amount or the priority has changed.

    A holding whose kept amount has changed since it was seen, because capacity was given back, is left as it is until
    the next call. Each holding is changed in a transaction of its own, so that only one is locked at a time.
    """
    before = {kept.place: kept for kept in seen}
    changed = [place for place in sorted({*before, *wanted}, key=str) if _settle(place, before.get(place), wanted)]
    if changed:
        feed_extend(topic="kept_free", keys=(idc for idc, _, _ in changed))
    return len(changed)


@write()
def _settle(place: Place, before: Kept | None, wanted: Mapping[Place, tuple[float, Keep]]) -> bool:
    """Keep what is wanted of one place; return whether the kept amount or its priority has changed."""
    amount, keep = wanted.get(place, (0.0, None))
    priority, until = (None, None) if keep is None else (keep.priority, keep.until)
    if before is None:
        _holding_ensure(place)
    rows = _holdings_at(place).filter(kept=before.amount if before else 0.0)
    changed = rows.update(kept=amount, kept_for=priority, kept_until=until)
    return bool(changed) and (before is None or (before.amount, before.priority) != (amount, priority))


def _holdings_at(place: Place) -> QuerySet[Holding]:
    idc, line, resource = place
    of_line = Q(line__isnull=True) if line is None else Q(line__code=line)
    return Holding.objects.filter(of_line, idc__code=idc, resource=resource)


def _holding_ensure(place: Place) -> None:
    """Insert the holding of `place` if nothing was ever taken of it; an IDC or line that is gone gets none."""
    idc, line, resource = place
    if _holdings_at(place).exists():
        return
    keys = Line.objects.filter(idc__code=idc, code=line).values_list("idc_id", "id").first() if line else None
    if line is None:
        keys = Idc.objects.filter(code=idc).values_list("id", Value(None)).first()
    if keys is not None:
        row = Holding(idc_id=keys[0], line_id=keys[1], resource=Resource(resource))
        Holding.objects.bulk_create([row], ignore_conflicts=True)
