"""Not to overwrite what one has not seen, and not to fetch what one has: `ETag`, `If-Match`, `If-None-Match`.

An ETag is a hash of the object as it is shown, with everything nested in it. So it changes exactly when a reader would
see something else, whatever way the change came in by, and two servers agree on it. It costs what showing the object
costs; a version column would be cheaper and miss what moved in other tables.
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
"""The writes that answer with the object itself."""
_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=str)


class StaleETag(APIException):
    """The object is not what the caller thinks that it is."""

    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "stale_etag"
    default_detail = _("it has changed since it was read: its ETag is not the one in If-Match")

    def __init__(self, pointer: str) -> None:
        super().__init__()
        self.pointer = pointer


def etag_of(document: Any) -> str:
    """The strong ETag of what is shown."""
    return f'"{blake2b(_encoder.encode(document), digest_size=12).hexdigest()}"'


def if_match_check(request: Request, shown: Iterable[Any], pointers: Iterable[str]) -> None:
    """Raises StaleETag where there is an `If-Match` that does not name each of the documents, as they stand now.

    One that names nothing, for want of quotes say, is no leave to overwrite.
    """
    wanted = _given(request, "If-Match")
    if "If-Match" not in request.headers or ANY in wanted:
        return
    for document, pointer in zip(shown, pointers, strict=True):
        if etag_of(document) not in wanted:
            raise StaleETag(pointer)


class Conditional(APIView):
    """Objects and lists carry an ETag; a reader that has it already is told so, without a body."""

    moving_fields: ClassVar[frozenset[str]] = frozenset()
    """What moves though nobody edits the object: its ETag is not about these, so that an edit meets no 412 for them.

    A reader is then always shown the object: that it was not edited does not say that it looks the same.
    """

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        finished = super().finalize_response(request, response, *args, **kwargs)
        if not isinstance(finished, Response) or finished.exception or not self._is_shown(request, finished):
            return finished
        finished.headers["ETag"] = tag = etag_of(self.versioned(finished.data))
        patch_cache_control(finished, private=True, no_cache=True)
        reads = request.method in {"GET", "HEAD"} and not (self.moving_fields and "results" not in finished.data)
        known = _given(request, "If-None-Match") if reads else ()
        return _not_modified(finished) if {tag, f"W/{tag}", ANY} & set(known) else finished

    def versioned(self, shown: Any) -> Any:
        """What of an answer its ETag is about."""
        return shown

    def _is_shown(self, request: Request, response: Response) -> bool:
        if request.method in {"GET", "HEAD"}:
            return True
        return getattr(self, "action", None) in SHOWING and isinstance(response.data, dict)


def _not_modified(response: Response) -> HttpResponseBase:
    unchanged = HttpResponseNotModified()
    for name in ("ETag", "Cache-Control", "Vary"):
        if name in response.headers:
            unchanged.headers[name] = response.headers[name]
    return unchanged


def _given(request: Request, header: str) -> Collection[str]:
    found: list[str] = parse_etags(request.headers.get(header, ""))
    return found
