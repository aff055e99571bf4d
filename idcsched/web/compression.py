"""Compressed answers for browsers: pages, JSON, style sheets and scripts."""

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

__all__ = ["CompressionMiddleware"]

TYPES: Final = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/vnd.oai.openapi",
        "application/vnd.oai.openapi+json",
        "image/svg+xml",
        "text/css",
        "text/csv",
        "text/html",
        "text/javascript",
    }
)
"""The content types that get smaller; fonts and pictures are compressed already."""


class CompressionMiddleware(GZipMiddleware):
    """Django's compression, for the content types that gain by it.

    The length of an answer reveals no secret (BREACH): CSRF tokens are masked anew in each answer, a new API token is
    shown once, and Django adds a random number of bytes.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return super().process_response(request, response) if kind in TYPES else response
