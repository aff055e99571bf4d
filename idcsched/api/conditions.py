"""Conditional requests: `If-Match` against lost updates (optimistic concurrency), `If-None-Match` for readers.

An ETag is a hash of the object as it is shown, with everything nested in it, but without its secrets and
`moving_fields`. So the ETag changes exactly when a reader would see another value in one of the other fields, by
whatever way the change came in, and two servers agree on it. An ETag costs as much as showing the object; a version
column would be cheaper, but miss changes in other tables.
"""

from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Any, ClassVar

import msgspec
from django.http import HttpResponseBase, HttpResponseNotModified
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags
from django.utils.translation import gettext_lazy as _
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

__all__ = ["ANY", "Conditional", "StaleETag", "etag_of", "if_match_check"]

ANY = "*"
SHOWING = frozenset({"create", "update", "partial_update"})
"""The actions that write and answer with the object itself."""
_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=str)


class StaleETag(APIException):
    """The object has changed since the caller read it."""

    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "stale_etag"
    default_detail = _("it has changed since it was read: its ETag is not the one in If-Match")

    def __init__(self, pointer: str) -> None:
        super().__init__()
        self.pointer = pointer


def etag_of(document: Any) -> str:
    """Return the strong ETag of a document as it is shown."""
    return f'"{blake2b(_encoder.encode(document), digest_size=12).hexdigest()}"'


def if_match_check(request: Request, shown: Iterable[Any], pointers: Iterable[str]) -> None:
    """Raise StaleETag where there is an `If-Match` that lacks the ETag of one of the shown documents.

    A header without any valid ETag, for want of quotes say, matches nothing.
    """
    etags = _etags_in(request, "If-Match")
    if "If-Match" not in request.headers or ANY in etags:
        return
    for document, pointer in zip(shown, pointers, strict=True):
        if etag_of(document) not in etags:
            raise StaleETag(pointer)


class Conditional(APIView):
    """Viewset whose objects and lists carry an ETag."""

    moving_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that change without an edit of the object; `ReadOnlyResource.etag_content` leaves them out of its ETag, so
    that they cause no 412.
    """
    unchanged_actions: ClassVar[tuple[str, ...]] = ("list", "retrieve")
    """The GET actions that answer with 304, without a body, to a reader who has the current ETag.

    An object with moving fields is not among them, since an equal ETag does not mean that all looks the same; a list's
    ETag covers these fields, too.
    """

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        finished = super().finalize_response(request, response, *args, **kwargs)
        if not isinstance(finished, Response) or finished.exception or not self._has_etag(request, finished):
            return finished
        finished.headers["ETag"] = tag = etag_of(self.etag_content(finished.data))
        patch_cache_control(finished, private=True, no_cache=True)
        etags = _etags_in(request, "If-None-Match") if self._may_be_unchanged(request) else ()
        return _not_modified(finished) if {tag, f"W/{tag}", ANY} & set(etags) else finished

    def etag_content(self, shown: Any) -> Any:
        """Return the part of an answer that its ETag covers."""
        return shown

    def _may_be_unchanged(self, request: Request) -> bool:
        return request.method in {"GET", "HEAD"} and getattr(self, "action", None) in self.unchanged_actions

    def _has_etag(self, request: Request, response: Response) -> bool:
        if request.method in {"GET", "HEAD"}:
            return True
        return getattr(self, "action", None) in SHOWING and isinstance(response.data, dict)


def _not_modified(response: Response) -> HttpResponseBase:
    unchanged = HttpResponseNotModified()
    for name in ("ETag", "Cache-Control", "Vary"):
        if name in response.headers:
            unchanged.headers[name] = response.headers[name]
    return unchanged


def _etags_in(request: Request, header: str) -> Collection[str]:
    etags: list[str] = parse_etags(request.headers.get(header, ""))
    return etags
