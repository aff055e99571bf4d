"""Shapes: how the traffic of a business is spread over a week, by which its orders are priced."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import QuerySet

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.accounts.selectors import tenant_named
from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.framework.facts import ShapeFact
from idcsched.framework.shape import hours_of_a_week

from .models import Shape

__all__ = [
    "shape_create",
    "shape_delete",
    "shape_is_of",
    "shape_update",
    "shapes_known",
    "shapes_naming",
    "shapes_visible",
]

FIELDS = frozenset({"entered"})


@write()
def shape_create(*, business: str, entered: Sequence[float], tenant: Tenant | str | None = None) -> Shape:
    """Enter the shape of a tenant's business or, without a tenant, of that business of all tenants.

    Raises Invalid, Conflict.
    """
    return row_create(Shape(business=business, tenant=tenant_named(tenant, "/tenant"), entered=entered))


@write()
def shape_update(*, shape: Shape, changes: Mapping[str, Any]) -> Shape:
    """Enter other numbers; raises Invalid, NotFound."""
    return row_update(shape, changes, allowed=FIELDS)


@write()
def shape_delete(*, shape: Shape) -> None:
    """Forget a shape; raises NotFound."""
    row_delete(shape)


def shapes_naming(kind: str, key: str) -> Iterator[str]:
    """Yield the shapes of a tenant: the live snapshot knows them by the tenant's code."""
    if kind == "tenant":
        for business in Shape.objects.filter(tenant__code=key).values_list("business", flat=True):
            yield f"{Shape._meta.verbose_name} {business}"


def shapes_visible(principal: Principal) -> QuerySet[Shape]:
    """Return the shapes that the principal may see: its tenant's, and those of all tenants."""
    shapes = Shape.objects.select_related("tenant")
    if principal.all_tenants:
        return shapes
    return shapes.filter(tenant__code=principal.tenant) | shapes.filter(tenant__isnull=True)


def shape_is_of(principal: Principal, shape: Shape) -> bool:
    """Return whether the principal may write the shape: one of its own tenant, or any if it acts for all tenants."""
    return principal.all_tenants or (shape.tenant is not None and shape.tenant.code == principal.tenant)


def shapes_known() -> Iterator[ShapeFact]:
    """Yield every shape as the engine takes it."""
    rows = Shape.objects.order_by("id").values_list("tenant__code", "business", "entered")
    for tenant, business, entered in rows:
        yield ShapeFact(tenant=tenant or "", business=business, hours=hours_of_a_week(entered).astype(np.float32))
