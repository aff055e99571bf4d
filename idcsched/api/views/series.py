"""`GET /api/v1/samples/`: one metric of an IDC or line over time, one page of steps at a time."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from idcsched.api.paging import MAX_LIMIT
from idcsched.api.parameters import (
    errors_point_at_parameters,
    refuse_unknown_parameters,
    time_given,
    whole_number_given,
)
from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.normalize import rounded_value
from idcsched.inventory.selectors import idc_named, line_named
from metrics_ingest.billing.series import AGGREGATES, MAX_SPAN, series_read
from metrics_ingest.samples.slots import slot_floor
from metrics_ingest.selectors import metric_named

__all__ = ["SERIES_PARAMETERS", "SeriesPage", "series_page"]

SERIES_PARAMETERS = [
    OpenApiParameter("idc", str, required=True),
    OpenApiParameter("metric", str, required=True),
    OpenApiParameter("line", str, description="Where the metric is about lines."),
    OpenApiParameter("from", datetime, description="Default: a day before `to`."),
    OpenApiParameter("to", datetime, description="Default: now."),
    OpenApiParameter("step", int, description="Seconds, a multiple of 300 (the default)."),
    OpenApiParameter("agg", str, enum=list(AGGREGATES), description="Default: mean."),
    OpenApiParameter("limit", int, description="Steps on a page: 1 to 1000 (the default)."),
    OpenApiParameter("cursor", str, description="As `next` and `previous` give it."),
]
KNOWN: Final = frozenset(parameter.name for parameter in SERIES_PARAMETERS)
LONGEST_STEP: Final = int(MAX_SPAN.total_seconds())


class Point(msgspec.Struct, frozen=True):
    """One step of a series; null where nothing is known."""

    at: datetime
    value: float | None


class SeriesPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a series, in the order of time."""

    next: str | None
    previous: str | None
    results: tuple[Point, ...]


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    """A cursor: the bounds of the whole series, fixed for all of its pages, and the number of steps before a page."""

    start: datetime
    end: datetime
    skipped: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0

    def __str__(self) -> str:
        return urlsafe_b64encode(msgspec.json.encode(self)).decode()

    @classmethod
    def read(cls, text: str) -> "_Cursor":
        """Decode the text of a cursor; raises Invalid."""
        try:
            return decoder_of(cls).decode(urlsafe_b64decode(text))
        except (ValueError, msgspec.DecodeError):
            raise Invalid("invalid_cursor", _("this is not a cursor that an answer has given"), "/cursor") from None


def series_page(request: Request) -> SeriesPage:
    """Return the page that the parameters describe; raises Invalid."""
    refuse_unknown_parameters(request, KNOWN, at_most_once=KNOWN)
    parameters = request.query_params.dict()
    limit = whole_number_given(request, "limit", default=MAX_LIMIT, low=1, high=MAX_LIMIT)
    step = timedelta(seconds=whole_number_given(request, "step", default=300, low=300, high=LONGEST_STEP))
    with errors_point_at_parameters():
        cursor = _cursor(parameters)
        most_steps = MAX_SPAN // step  # one page covers at most MAX_SPAN
        return _page(request, parameters, cursor, step, min(limit, most_steps))


def _page(request: Request, parameters: Mapping[str, Any], cursor: _Cursor, step: timedelta, limit: int) -> SeriesPage:
    idc = idc_named(_required(parameters, "idc"), "/idc")
    start = cursor.start + cursor.skipped * step
    end = min(cursor.end, start + limit * step)
    series = series_read(
        metric=metric_named(_required(parameters, "metric"), "/metric"),
        idc=idc,
        line=line_named(idc, parameters["line"], "/line") if "line" in parameters else None,
        start=start,
        end=end,
        step=step,
        agg=parameters.get("agg", "mean"),
    )

    def link(skipped: int) -> str:
        other = str(_Cursor(cursor.start, cursor.end, skipped))
        return replace_query_param(request.build_absolute_uri(), "cursor", other)

    return SeriesPage(
        next=link(cursor.skipped + limit) if end < cursor.end else None,
        previous=link(max(cursor.skipped - limit, 0)) if cursor.skipped else None,
        results=tuple(Point(at, None if value is None else rounded_value(value)) for at, value in series.points()),
    )


def _cursor(parameters: Mapping[str, str]) -> _Cursor:
    if "cursor" in parameters:
        return _Cursor.read(parameters["cursor"])
    end = time_given(parameters["to"], "/to") if "to" in parameters else timezone.now()
    start = time_given(parameters["from"], "/from") if "from" in parameters else end - timedelta(days=1)
    return _Cursor(slot_floor(start), end)


def _required(parameters: Mapping[str, str], name: str) -> str:
    if name not in parameters:
        raise Invalid("required", _("this is required"), f"/{name}")
    return parameters[name]
