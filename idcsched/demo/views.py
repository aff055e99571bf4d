"""The demo's monitoring system, as collectors see it."""

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .source import measured_now

__all__ = ["measurements"]


@require_safe
@never_cache
def measurements(request: HttpRequest) -> JsonResponse:
    """Answer the measurements of this moment."""
    return JsonResponse(measured_now(timezone.now()))
