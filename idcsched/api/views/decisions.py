"""`/api/v1/decisions/`: the recorded decisions, in the language of the reader, and their replay."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request

from idcsched.api.bodies import body_bytes
from idcsched.api.filtering import FilterSet, flag
from idcsched.api.openapi import paged
from idcsched.api.paging import CursorPages
from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, page_response, struct_response
from idcsched.framework.answer import Candidate, Rejected, Stale
from idcsched.framework.decoding import decode_json
from idcsched.framework.explain import ListName
from idcsched.placement.orders import PassedOver
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import Explanation, Replayed, replay
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.sentences import read
from idcsched.scheduling.why import Why, decision_why

__all__ = ["DecisionViewSet"]

EXPLAINED_FIELDS = ("candidates", "tie", "margin", "rejected", "rejected_counts", "near_misses", "stale")
"""The fields that the request's `explain` governs; with `brief=true` they are null."""
BRIEF = _("With true: without what `explain` governs (`candidates`, `rejected` and the like are null).")
NOT = _("Also say why this IDC was not chosen.")
EXAMPLE = {"weights": {"billing_cost": 20}, "data": "then"}


class ReplayRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change in the decision; an empty object: decide with the weights, profile and data of then."""

    weights: dict[str, Annotated[float, msgspec.Meta(ge=0, le=10_000)]] | None = None
    profile: str | None = None
    data: Literal["then", "now"] | None = None


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The candidate that a placement took; of an order that is spread, that of the first placement of the group.

    `passed_over`: the candidates that ranked above it, each with the code of the reason why it was not taken, such as
    `conflict` (another order was quicker) or `provider_failed`; `because`: the last of these reasons.
    """

    idc: str
    rank: int
    because: str | None
    passed_over: list[PassedOver]
    placement: UUID


class Recorded(Scheduled, frozen=True, kw_only=True):
    """The answer with its request, caller and time. `taken`: the candidate that a placement took, or null."""

    created_at: datetime
    tenant: str | None
    actor: str
    request: dict[str, Any]
    taken: Taken | None


class DecisionSerializer(serializers.BaseSerializer[Decision]):
    """The recorded answer with its request, caller and time, and the candidate that was taken."""

    def to_representation(self, instance: Decision) -> dict[str, Any]:
        answer = instance.answer
        if "true" in self.context["request"].query_params.getlist("brief"):
            answer = {**answer, **dict.fromkeys(EXPLAINED_FIELDS, None)}
        taken = instance.taken and {
            **{name: instance.taken[name] for name in ("idc", "rank", "because")},
            "passed_over": instance.taken.get("passed_over", []),  # older records lack it
        }
        return {
            **read(answer, instance.sentences),  # translated
            "created_at": serializers.DateTimeField().to_representation(instance.created_at),
            "tenant": instance.tenant.code if instance.tenant else instance.tenant_code or None,
            "actor": instance.actor,
            "request": instance.request,
            "taken": taken and {**taken, "placement": instance.placement},
        }


class DecisionFilters(FilterSet):
    brief = flag("keep_all", help_text=BRIEF)

    def keep_all(self, queryset: QuerySet[Decision], name: str, values: list[bool]) -> QuerySet[Decision]:
        """Return all rows: `brief` changes how a decision is shown, not which are listed."""
        return queryset

    class Meta:
        model = Decision
        columns = (
            *("request_id", "http_request_id", "result", "reason_code", "idc"),
            *("profile", "profile_revision", "actor", "created_at"),
        )
        paths = {"tenant": "tenant__code", "considered": "outcomes__idc"}
        searched = ("request_id", "http_request_id", "idc")


@extend_schema_view(list=extend_schema(responses=Recorded), retrieve=extend_schema(responses=Recorded))
class DecisionViewSet(ReadOnlyResource):
    """Recorded decisions. Callers who are bound to a tenant see those of their tenant, all others see all."""

    capability = "read"
    without_a_body = ("replay",)
    queryset = Decision.objects.all()
    serializer_class = DecisionSerializer
    filterset_class = DecisionFilters
    pagination_class = CursorPages
    ordering_fields = ()  # pages by cursor, the newest first
    lookup_field = "id"
    lookup_value_regex = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        recorder.settle(kwargs.get("id"))  # not in a transaction: on SQLite the recorder would wait for its end

    def get_queryset(self) -> QuerySet[Decision]:
        decisions = decisions_visible(principal_of_request(self.request)).select_related("tenant")
        return decisions.defer("inputs") if self.action == "list" else decisions

    @paged(Candidate)
    @action(detail=True)
    def candidates(self, request: Request, id: str) -> HttpResponse:
        """All candidates, best first, fully explained: also those beyond what one answer shows."""
        return self._listed("candidates")

    @paged(Rejected)
    @action(detail=True)
    def rejected(self, request: Request, id: str) -> HttpResponse:
        """All rejections with their reasons."""
        return self._listed("rejected")

    @paged(Stale)
    @action(detail=True)
    def stale(self, request: Request, id: str) -> HttpResponse:
        """Every value that was stale or missing, and what was done about it."""
        return self._listed("stale")

    @extend_schema(
        operation_id="decisions_why",
        parameters=[OpenApiParameter("not", str, description=NOT)],
        responses=Why,
    )
    @action(detail=True)
    def why(self, request: Request, id: str) -> HttpResponse:
        """Why the order went where it did, or found no place, in sentences; with `not` also why not to another IDC."""
        refuse_unknown_parameters(request, {"not"}, at_most_once={"not"})
        return struct_response(decision_why(decision=self.get_object(), other=request.query_params.get("not", "")))

    def _listed(self, name: ListName) -> HttpResponse:
        return page_response(self.request, Explanation(self.get_object(), name))

    @extend_schema(
        request=ReplayRequest,
        responses=Replayed,
        examples=[OpenApiExample("If the bill weighed less", value=EXAMPLE, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, id: str) -> HttpResponse:
        """Decide the request again: on the inputs of then or now, with other weights or another profile."""
        question = decode_json(body_bytes(request, absent=b"{}"), ReplayRequest)
        decision: Decision = self.get_object()
        return struct_response(
            replay(decision=decision, weights=question.weights, profile=question.profile, data=question.data or "then")
        )
