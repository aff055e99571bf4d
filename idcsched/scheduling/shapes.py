"""Shapes: how the traffic of a business is spread over a week, by which its orders are priced."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from django.db.models import Q, QuerySet

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.accounts.selectors import tenant_named
from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.feed.models import Topic
from idcsched.feed.services import feed_append
from idcsched.framework.errors import Invalid
from idcsched.framework.facts import ShapeFact
from idcsched.framework.messages import _
from idcsched.framework.shape import hours_of_a_week
from metrics_ingest.billing.shape_evidence import LearnedShape, Verdict

from .models import Shape

__all__ = [
    "BusinessOfTenant",
    "shape_create",
    "shape_delete",
    "shape_is_of",
    "shape_update",
    "shapes_known",
    "shapes_learnt_store",
    "shapes_naming",
    "shapes_visible",
]

FIELDS = frozenset({"entered"})
LEARNT_KEPT: Final = timedelta(days=90)
"""How long a learnt shape stays in force if no later attempt gives one that is trusted."""
SHARE_DECIMALS: Final = 4

BusinessOfTenant = tuple[int | None, str]
"""The primary key of a tenant and one of its businesses; without a tenant, that business of all tenants."""


@write()
def shape_create(*, business: str, entered: Sequence[float] | None = None, tenant: Tenant | str | None = None) -> Shape:
    """Enter the shape of a tenant's business or, without a tenant, of that business of all tenants.

    Where a shape was learnt of it already, it is entered beside that one. Raises Invalid, Conflict.
    """
    owner = tenant_named(tenant, "/tenant")
    if entered is None:
        raise Invalid("required", _("this is required"), "/entered")
    learnt = Shape.objects.filter(business=business, tenant=owner, entered__isnull=True).first()
    if learnt is not None:
        return row_update(learnt, {"entered": entered}, allowed=FIELDS)
    return row_create(Shape(business=business, tenant=owner, entered=entered))


@write()
def shape_update(*, shape: Shape, changes: Mapping[str, Any]) -> Shape:
    """Enter other numbers, or with None let the learnt ones be in force; raises Invalid, NotFound."""
    if shape.learnt is None and changes.get("entered", ()) is None:
        raise Invalid("required", _("this is required"), "/entered")
    return row_update(shape, changes, allowed=FIELDS)


@write()
def shape_delete(*, shape: Shape) -> None:
    """Delete what was entered, which lets the learnt shape be in force; without one, the row. Raises NotFound."""
    if shape.learnt is not None and shape.entered is not None:
        row_update(shape, {"entered": None}, allowed=FIELDS)
    else:
        row_delete(shape)


@write()
def shapes_learnt_store(*, learned: Mapping[BusinessOfTenant, LearnedShape], now: datetime) -> None:
    """Store what was learnt of these businesses.

    A trusted shape takes the place of the one learnt before. Otherwise that one stays in force, for 90 days at most,
    and not if its business has turned out to be mixed. Rows that hold no shape and were not looked at are deleted. The
    history leaves all this out.
    """
    unknown = learned.keys() - set(Shape.objects.values_list("tenant_id", "business"))
    rows = [Shape(tenant_id=tenant, business=business) for tenant, business in learned if (tenant, business) in unknown]
    Shape.objects.bulk_create(rows, ignore_conflicts=True)  # conflicts with what an operator enters right now
    for row in Shape.objects.select_for_update().order_by("id"):
        result = learned.get((row.tenant_id, row.business))
        if result is None and row.entered is None and row.learnt is None:
            row.delete()
        elif _note(row, result, now):
            row.save(update_fields=Shape.unrecorded)
    feed_append(topic=Topic.SHAPES)


def _note(row: Shape, result: LearnedShape | None, now: datetime) -> bool:
    """Set the row's columns about learning; return whether any may have changed."""
    if result is not None:
        row.verdict, row.tried_at = result.verdict.value, now
        row.tried_days, row.tried_lines, row.tried_error = result.days, result.lines, result.error
    if result is not None and result.shape is not None and result.trusted:
        row.learnt, row.learnt_at = [round(share, SHARE_DECIMALS) for share in result.shape], now
        row.learnt_days, row.learnt_lines, row.learnt_error = result.days, result.lines, result.error
        row.learnt_use = result.use
    elif row.learnt_at is not None and (row.verdict == Verdict.MIXED or row.learnt_at < now - LEARNT_KEPT):
        row.learnt = row.learnt_at = row.learnt_days = row.learnt_lines = row.learnt_error = row.learnt_use = None
        return True
    return result is not None


def shapes_naming(kind: str, key: str) -> Iterator[str]:
    """Yield the shapes entered for a tenant: the live snapshot knows them by the tenant's code."""
    if kind == "tenant":
        entered = Shape.objects.filter(tenant__code=key, entered__isnull=False)
        for business in entered.values_list("business", flat=True):
            yield f"{Shape._meta.verbose_name} {business}"


def shapes_visible(principal: Principal) -> QuerySet[Shape]:
    """Return the shapes that the principal may see: its tenant's, and those entered for all tenants.

    What was learnt of all tenants alone would name the businesses of others to a caller who is bound to a tenant.
    """
    shapes = Shape.objects.select_related("tenant")
    if principal.all_tenants:
        return shapes
    return shapes.filter(Q(tenant__code=principal.tenant) | Q(tenant__isnull=True, entered__isnull=False))


def shape_is_of(principal: Principal, shape: Shape) -> bool:
    """Return whether the principal may write the shape: one of its own tenant, or any if it acts for all tenants."""
    return principal.all_tenants or (shape.tenant is not None and shape.tenant.code == principal.tenant)


def shapes_known() -> Iterator[ShapeFact]:
    """Yield the shape in force of each business as the engine takes it: the one entered, or else the learnt one."""
    columns = ("tenant__code", "business", "entered", "learnt", "learnt_lines", "learnt_days", "learnt_error")
    shapes = Shape.objects.filter(Q(entered__isnull=False) | Q(learnt__isnull=False))
    for tenant, business, entered, learnt, lines, days, error in shapes.order_by("id").values_list(*columns):
        evidence = {} if entered is not None else {"lines": round(lines), "days": round(days), "error": error}
        hours = hours_of_a_week(learnt if entered is None else entered).astype(np.float32)
        yield ShapeFact(tenant=tenant or "", business=business, hours=hours, **evidence)
