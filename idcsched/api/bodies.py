"""The bodies of requests: limited in size, and decoded as strict JSON."""

import re
from collections.abc import Mapping
from typing import IO, Any, Final

from django.conf import settings
from django.utils.http import parse_header_parameters
from django.utils.translation import gettext_lazy
from rest_framework import status
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .repeated_keys import refuse_repeated_keys

__all__ = ["BodyTooLarge", "StrictJSONParser", "body_bytes"]

JSON = "application/json"
CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii"})
NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""A NUL that is escaped: an odd number of backslashes before `u0000`; an even number are escaped backslashes."""


class BodyTooLarge(APIException):
    """The body has more bytes than this server reads."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"
    default_detail = gettext_lazy("the body is too large")


class StrictJSONParser(BaseParser):
    """Parser of strict JSON: no NaN, no endless nesting, no repeated key, and no NUL, which a database would refuse."""

    media_type = JSON

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        refuse_other_charsets(media_type or "")
        return decode_json(_checked(stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)), Any)


def refuse_other_charsets(content_type: str) -> None:
    """Raise UnsupportedMediaType for a declared charset other than UTF-8, which JSON always has."""
    if ";" in content_type:
        charset = parse_header_parameters(content_type)[1].get("charset")
        if charset is not None and charset.strip().lower() not in CHARSETS:
            raise UnsupportedMediaType(content_type)


def body_bytes(request: Request, *, absent: bytes = b"") -> bytes:
    """Return the JSON body as it was sent; raises for another media type or too many bytes.

    An empty body gives `absent`; where that is not empty, an empty body needs no Content-Type.
    """
    refuse_other_charsets(request.content_type or "")
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    untyped = bool(absent) and not media_type
    if media_type != JSON and not untyped:
        raise UnsupportedMediaType(request.content_type or "")
    body = _checked(request._request.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1))  # noqa: SLF001  # DRF's own parsing would decode the body a second time
    if body and untyped:
        raise UnsupportedMediaType("")
    return body or absent


def _checked(body: bytes) -> bytes:
    if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise BodyTooLarge
    if rb"\u0000" in body and NUL.search(body):
        raise Invalid("nul_character", _("the body has a NUL character"))
    refuse_repeated_keys(body)
    return body
