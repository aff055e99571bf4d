"""The demo's monitoring system, as collectors see it."""

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .ordered_traffic import ordered_traffic
from .source import measured_now
from .traffic import slot_of

__all__ = ["measurements"]


@require_safe
@never_cache
def measurements(request: HttpRequest) -> JsonResponse:
    """Answer the measurements of this moment."""
    now = timezone.now()
    slot = slot_of(now.timestamp())
    return JsonResponse(measured_now(now, ordered_traffic(first=slot, until=slot + 2)))
