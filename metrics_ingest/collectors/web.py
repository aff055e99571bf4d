"""What the kinds that ask over HTTP share: address, headers, and the way in which the secret is sent."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import FieldError, IdcschedError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import Fetched, origin_of
from idcsched.outbound.errors import BadReply
from metrics_ingest.collector import Ask, Config

__all__ = ["Auth", "WebConfig", "web_check", "web_decoded", "web_fetch"]

NAME = r"^[A-Za-z0-9-]+$"
RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})

HeaderName = Annotated[str, msgspec.Meta(pattern=NAME, max_length=100)]
HeaderValue = Annotated[str, msgspec.Meta(pattern=r"^[ -~]*$", max_length=1000)]


class Auth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The secret is shown as a bearer token, as the password of `username`, or in the header or parameter `name`."""

    kind: Literal["bearer", "basic", "header", "parameter"] = "bearer"
    username: str | None = None
    name: HeaderName | None = None


class WebConfig(Config, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to ask; `auth` says how the secret that the source refers to is shown there."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    headers: Annotated[dict[HeaderName, HeaderValue], msgspec.Meta(max_length=50)] = {}
    auth: Auth = msgspec.field(default_factory=Auth)


def web_check(config: WebConfig) -> Iterator[FieldError]:
    """Yield the errors of the address, the headers and the authentication; secrets are looked for in every kind."""
    try:
        origin_of(config.url)
    except IdcschedError as error:
        yield FieldError("/url", "invalid_url", error.template, error.params)
    for header in config.headers:
        if header.lower() in RESERVED_HEADERS:
            yield FieldError(f"/headers/{header}", "not_settable", _("this header can't be set"))
    yield from _auth_errors(config.auth)


def web_fetch(
    ask: Ask,
    config: WebConfig,
    url: str,
    *,
    method: str = "GET",
    accept: str = "*/*",
    content: bytes = b"",
    content_type: str = "",
    also: tuple[int, ...] = (),
) -> Fetched:
    """Fetch `url` with the source's headers and secret; raises an OutboundError."""
    headers = {"Accept": accept, **config.headers}
    if content_type:
        headers["Content-Type"] = content_type
    if ask.secret is not None:
        headers, url = _with_secret(ask.secret, config.auth, headers, url)
    return ask.fetch(url, method=method, headers=headers, content=content, also=also)


def web_decoded(content: bytes, kind: Any, origin: str, server: str) -> Any:
    """Decode JSON of that kind; raises BadReply, which says what `server` (such as "Zabbix") it is no answer of."""
    try:
        return decode_json(content, kind)
    except ValueError as error:
        detail = _("{origin} sent no answer of {server}: {reason}")
        raise BadReply("bad_reply", detail, origin=origin, server=server, reason=str(error)[:200]) from None


def _auth_errors(auth: Auth) -> Iterator[FieldError]:
    if auth.kind == "basic" and not auth.username:
        yield FieldError("/auth/username", "required", _("this is required"))
    if auth.kind in ("header", "parameter") and not auth.name:
        yield FieldError("/auth/name", "required", _("this is required"))


def _with_secret(secret: str, auth: Auth, headers: Mapping[str, str], url: str) -> tuple[dict[str, str], str]:
    """Return the headers and the address with the secret where `auth` says."""
    if not secret.isprintable() or not secret.isascii():
        raise Unavailable("secret_unusable", _("the secret holds characters that can't be sent"))
    if auth.kind == "parameter":
        parts = urlsplit(url)
        query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), (str(auth.name), secret)])
        return dict(headers), urlunsplit(parts._replace(query=query))
    if auth.kind == "basic":
        encoded = b64encode(f"{auth.username}:{secret}".encode()).decode("ascii")
        return {**headers, "Authorization": f"Basic {encoded}"}, url
    if auth.kind == "header":
        return {**headers, str(auth.name): secret}, url
    return {**headers, "Authorization": f"Bearer {secret}"}, url
