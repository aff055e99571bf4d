"""`http_json`: a JSON document from any address; an expression says which part of it is the list of records."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

import msgspec

from idcsched.framework.errors import FieldError, Invalid, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import origin_of
from idcsched.outbound.errors import BadReply
from metrics_ingest.collector import Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig, web_check, web_fetch
from metrics_ingest.sources.expressions import expression

__all__ = ["HttpJson", "HttpJsonConfig"]

JSON = "application/json"
Json = dict[str, Any] | list[Any]


class HttpJsonConfig(WebConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`items` is JMESPath over the whole document; a `body` is sent as JSON, with POST."""

    items: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] = "@"
    method: Literal["GET", "POST"] = "GET"
    body: Json | None = None


class HttpJson(Collector):
    """Asks any HTTP address that answers in JSON."""

    kind = "http_json"
    Config = HttpJsonConfig
    config: HttpJsonConfig

    def check(self) -> Iterable[FieldError]:
        yield from web_check(self.config)
        if self.config.body is not None and self.config.method != "POST":
            yield FieldError("/body", "body_needs_post", _("a body is sent with POST only"))
        try:
            expression(self.config.items, "/items")
        except Invalid as error:
            yield from error.errors

    def collect(self, ask: Ask) -> Iterator[Record]:
        body = b"" if self.config.body is None else msgspec.json.encode(self.config.body)
        reply = web_fetch(
            ask,
            self.config,
            self.config.url,
            method=self.config.method,
            accept=JSON,
            content=body,
            content_type=JSON if body else "",
        )
        items = expression(self.config.items, "/items")(self._document(reply.content))
        if isinstance(items, dict):
            items = [items]
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            detail = _("{items} leads to no list of objects in what {origin} sent")
            raise Unavailable("no_items", detail, items=self.config.items, origin=origin_of(self.config.url))
        yield from items

    def _document(self, content: bytes) -> Any:
        try:
            return msgspec.json.decode(content)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            origin = origin_of(self.config.url)
            raise BadReply("bad_reply", _("{origin} sent no JSON: {reason}"), origin=origin, reason=error) from None
