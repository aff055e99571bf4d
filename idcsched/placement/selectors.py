"""Placements and callbacks that a caller may see."""

from django.db.models import QuerySet

from idcsched.accounts.roles import Principal

from .models import Delivery, Placement

__all__ = ["deliveries_visible", "placements_visible"]


def placements_visible(principal: Principal) -> QuerySet[Placement]:
    """Return the placements that the caller may see: callers who are bound to a tenant see those of their tenant."""
    placements = Placement.objects.all()
    return placements if principal.all_tenants else placements.filter(tenant__code=principal.tenant)


def deliveries_visible(principal: Principal) -> QuerySet[Delivery]:
    """Return the callbacks of the placements that the caller may see."""
    deliveries = Delivery.objects.all()
    return deliveries if principal.all_tenants else deliveries.filter(placement__tenant__code=principal.tenant)
