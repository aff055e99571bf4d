"""`/api/v1/backtests/`: what the orders of the last days would have cost under other profiles."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.conditions import if_match_check
from idcsched.api.filtering import FilterSet
from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, encoded, struct_response
from idcsched.framework.decoding import convert
from idcsched.planning.backtest import BacktestResult
from idcsched.planning.models import Backtest
from idcsched.planning.selectors import backtests_visible
from idcsched.planning.services import backtest_give_up

from .placements import UUID_SHAPED

__all__ = ["BacktestDocument", "BacktestViewSet", "backtest_document"]


class BacktestDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A backtest: `done` of `total` orders are decided.

    `state`: `queued`, `running`, `done` with the `result`, or `failed` with the reason in `failure`.
    """

    id: UUID
    created_at: datetime
    finished_at: datetime | None
    actor: str
    profile: str
    days: int
    policies: tuple[str, ...]
    optimum: bool
    state: str
    done: int
    total: int
    failure: str | None
    result: BacktestResult | None


def backtest_document(row: Backtest) -> BacktestDocument:
    return BacktestDocument(
        id=row.pk,
        created_at=row.created_at,
        finished_at=row.finished_at,
        actor=row.actor,
        profile=row.profile,
        days=row.days,
        policies=tuple(policy["name"] for policy in row.policies),
        optimum=row.optimum,
        state=row.state,
        done=row.done,
        total=row.total,
        failure=row.failure or None,
        result=None if row.result is None else convert(row.result, BacktestResult),
    )


class BacktestFilters(FilterSet):
    class Meta:
        model = Backtest
        columns = ("id", "state", "profile", "actor", "created_at")


@extend_schema_view(
    list=extend_schema(responses=BacktestDocument),
    retrieve=extend_schema(responses=BacktestDocument),
    destroy=extend_schema(responses={204: None}),
)
class BacktestViewSet(ReadOnlyResource):
    """Backtests, the latest first; `POST profiles/{code}/backtest/` asks for one.

    Callers who are bound to a tenant see those of their tenant, all others see all. Results are kept for 90 days.
    `DELETE` gives one up: a worker that is at it stops.
    """

    capability = "write_profiles"
    unchanged_actions = ()
    queryset = Backtest.objects.all()
    filterset_class = BacktestFilters
    ordering_fields = ("created_at",)
    lookup_field = "id"
    lookup_value_regex = UUID_SHAPED

    def get_queryset(self) -> QuerySet[Backtest]:
        return backtests_visible(principal_of_request(self.request))

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return encoded(self.get_paginated_response([backtest_document(row) for row in page or ()]).data)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        refuse_unknown_parameters(request, (), at_most_once=())
        return struct_response(backtest_document(self.get_object()))

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        if_match_check(request, [msgspec.to_builtins(backtest_document(row))], [""])
        backtest_give_up(backtest=row)
        return Response(status=status.HTTP_204_NO_CONTENT)
