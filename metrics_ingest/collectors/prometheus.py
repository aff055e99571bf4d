"""`prometheus`: a PromQL query to a Prometheus or another server with its HTTP API (VictoriaMetrics, Thanos, Mimir).

A record is one value of one series: `{"labels": {...}, "value": 1.5, "at": 1700000000.0}`.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import origin_of
from metrics_ingest.collector import Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig, web_check, web_decoded, web_fetch

__all__ = ["Prometheus", "PrometheusConfig", "Span"]

REFUSED = (400, 422)
"""The statuses with which a server refuses a query; the body has the reason."""
MOST_POINTS = 11_000
"""The limit of Prometheus itself for the points of one series in one answer."""


class Span(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last `seconds`, a value each `step_seconds`."""

    seconds: Annotated[int, msgspec.Meta(ge=60, le=40 * 24 * 3600)]
    step_seconds: Annotated[int, msgspec.Meta(ge=1, le=86_400)] = 300


class PrometheusConfig(WebConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`url` is that of the server, such as `http://prometheus:9090`; without `range` the query is instant."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    range: Span | None = None


class Series(msgspec.Struct, frozen=True):
    """One series of an answer; `value` in a vector, `values` in a matrix."""

    metric: dict[str, str] = {}
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class Data(msgspec.Struct, frozen=True, rename="camel"):
    result_type: str
    result: msgspec.Raw


class Answer(msgspec.Struct, frozen=True):
    status: str
    data: Data | None = None
    error: str = ""


class Prometheus(Collector):
    """Asks a Prometheus server, by PromQL."""

    kind = "prometheus"
    Config = PrometheusConfig
    mapping = {"at": "at"}
    config: PrometheusConfig

    def check(self) -> Iterable[FieldError]:
        yield from web_check(self.config)
        span = self.config.range
        if span is not None and span.seconds // span.step_seconds > MOST_POINTS:
            params = {"limit": MOST_POINTS}
            yield FieldError("/range/step_seconds", "out_of_range", _("this gives more than {limit} points"), params)

    def collect(self, ask: Ask) -> Iterator[Record]:
        base, span = self.config.url.rstrip("/"), self.config.range
        now = ask.now.timestamp()
        parameters: dict[str, Any] = {"query": self.config.query, "timeout": f"{max(ask.seconds_left, 1):.0f}s"}
        if span is None:
            address = f"{base}/api/v1/query?{urlencode({**parameters, 'time': now})}"
        else:
            aligned = now - now % span.step_seconds  # so that each run asks for the same points
            times = {"start": aligned - span.seconds, "end": aligned, "step": span.step_seconds}
            address = f"{base}/api/v1/query_range?{urlencode({**parameters, **times})}"
        reply = web_fetch(ask, self.config, address, accept="application/json", also=REFUSED)
        yield from self._records(reply.content)

    def _records(self, content: bytes) -> Iterator[Record]:
        origin = origin_of(self.config.url)
        answer = web_decoded(content, Answer, origin, "Prometheus")
        if answer.status != "success" or answer.data is None:
            raise Unavailable("query_refused", _("{origin} says: {reason}"), origin=origin, reason=answer.error[:500])
        if answer.data.result_type not in ("vector", "matrix"):
            detail = _("the query gives a {kind}; only vectors and matrices have labels")
            raise Unavailable("not_a_vector", detail, kind=answer.data.result_type)
        for series in web_decoded(bytes(answer.data.result), list[Series], origin, "Prometheus"):
            for at, value in [series.value] if series.value else series.values:
                yield {"labels": series.metric, "value": value, "at": at}
