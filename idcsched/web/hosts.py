"""Django's CommonMiddleware, which checks the Host header, except for monitoring."""

from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.urls import reverse

__all__ = ["HostMiddleware"]

MONITORING: Final = {reverse("live"), reverse("ready"), reverse("metrics")}


class HostMiddleware(CommonMiddleware):
    """Middleware that lets orchestrators and Prometheus ask each process at its own address.

    They find the address by DNS and send it as the Host header, so that ALLOWED_HOSTS can't name it beforehand.
    """

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:  # type: ignore[override]
        return None if request.path_info in MONITORING else super().process_request(request)
