"""`/api/v1/advice/`: what would be cheaper than what stands now."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, cast
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.accounts.roles import Principal
from idcsched.api.bodies import body_bytes
from idcsched.api.filtering import FilterSet
from idcsched.api.idempotency import Idempotent
from idcsched.api.origin import caller_origin
from idcsched.api.parameters import amount_given, pointer_to, refuse_unknown_parameters, whole_number_given
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, encoded, struct_response
from idcsched.framework.decoding import convert, decode_json
from idcsched.framework.errors import Forbidden, Invalid
from idcsched.framework.messages import _
from idcsched.planning.advice import Advice, Move
from idcsched.planning.choosing import MOST_DAYS, Choice, chosen
from idcsched.planning.models import MoveAnswer, MoveState
from idcsched.planning.selectors import advice_shown, move_answers_visible
from idcsched.planning.services import advice_ask, move_answer, move_answer_withdraw
from idcsched.scheduling.live import LiveState, live

from .placements import UUID_SHAPED

__all__ = ["AdviceView", "MoveAnswerDocument", "MoveAnswerViewSet"]

CHOICE: Final = [
    OpenApiParameter("region", str, description="Only moves out of this region."),
    OpenApiParameter("isp", str, description="Only moves off a line of this ISP, by its code or an alias."),
    OpenApiParameter("tenant", str, description="Only moves of this tenant's placements."),
    OpenApiParameter("days", int, description="Only placements that were ordered so many days ago, or earlier."),
    OpenApiParameter("floor", float, description="Only moves that save so much a month."),
    OpenApiParameter("mbps", float, description="From the top, as many as have ordered so much bandwidth together."),
    OpenApiParameter("limit", int, description="At most so many moves, from the top; all of them by default."),
]
CHOICE_NAMES: Final = [parameter.name for parameter in CHOICE]
MOST_MOVES: Final = 100_000
ANSWER: Final = {"placement": "0192f0c1-58a4-7c7e-8f5d-4a1b2c3d4e5f", "state": "declined", "reason": "the disks stay"}


class AdviceView(Idempotent):
    """Advice on what stands now; computed each night, and when it is asked for. Nothing is moved."""

    capability = "write_profiles"

    @extend_schema(operation_id="advice_show", responses=Advice, parameters=CHOICE)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The latest advice: placements that would be cheaper elsewhere, commits above what flows, lines that fill up.

        Callers who are bound to a tenant see the moves of their tenant's placements and what these save; no lines, and
        none of the other figures. The parameters choose among the moves; `saves` is what the chosen ones save together.
        """
        refuse_unknown_parameters(request, CHOICE_NAMES, at_most_once=CHOICE_NAMES)
        principal, picture = principal_of_request(request), live.current()
        found, choice = advice_shown(principal), _choice(request, principal, picture)
        moves = chosen(found.moves, choice, picture.snapshot, timezone.now())
        limit = whole_number_given(request, "limit", default=len(moves), low=1, high=MOST_MOVES)
        return struct_response(found.with_moves(moves[:limit]))

    @extend_schema(operation_id="advice_ask", request=None, responses={202: None})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Have a worker compute new advice, which takes up to a minute; one that is at it already is enough."""
        principal = principal_of_request(request)
        if not principal.all_tenants:
            raise Forbidden("tenant_not_allowed", _("only who acts for all tenants may do this"))
        advice_ask(actor=principal.username)
        return Response(status=status.HTTP_202_ACCEPTED)


class MoveAnswerRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was done with the move of a placement: `done`, `declined` for a `reason`, or `open`: neither after all."""

    placement: UUID
    state: Literal["done", "declined", "open"]
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class MoveAnswerDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What was done with the move of a placement, by whom, and the move as it was proposed, with what it promised."""

    placement: UUID
    tenant: str
    state: Literal["done", "declined", "open"]
    reason: str
    actor: str
    at: datetime
    currency: str
    move: Move


class MoveAnswerFilters(FilterSet):
    class Meta:
        model = MoveAnswer
        columns = ("state", "actor", "at")
        paths: ClassVar = {"tenant": "tenant__code"}


@extend_schema_view(
    list=extend_schema(responses=MoveAnswerDocument), retrieve=extend_schema(responses=MoveAnswerDocument)
)
class MoveAnswerViewSet(ReadOnlyResource):
    """What people did with the moves that were proposed, the latest first.

    Callers who are bound to a tenant see those of their tenant's placements, all others see all.
    """

    capability = "schedule"
    body_lookup_actions = ("create",)
    unchanged_actions = ()
    queryset = MoveAnswer.objects.select_related("tenant")
    filterset_class = MoveAnswerFilters
    ordering_fields = ("at",)
    lookup_field = "placement"
    lookup_value_regex = UUID_SHAPED

    def get_queryset(self) -> QuerySet[MoveAnswer]:
        return move_answers_visible(principal_of_request(self.request)).select_related("tenant")

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return encoded(self.get_paginated_response([_document(row) for row in page or ()]).data)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        refuse_unknown_parameters(request, (), at_most_once=())
        return struct_response(_document(self.get_object()))

    @extend_schema(
        request=MoveAnswerRequest,
        responses={200: MoveAnswerDocument},
        examples=[OpenApiExample("It stays where it is", value=ANSWER, request_only=True)],
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Note what was done with a proposed move: it is proposed no more until that is taken back by `open`."""
        asked, principal = decode_json(body_bytes(request), MoveAnswerRequest), principal_of_request(request)
        with caller_origin(request):
            if asked.state == "open":
                return struct_response(
                    _document(move_answer_withdraw(placement=asked.placement, principal=principal), "open")
                )
            state = MoveState(asked.state)
            answer = move_answer(placement=asked.placement, state=state, reason=asked.reason, principal=principal)
        return struct_response(_document(answer))


def _choice(request: Request, principal: Principal, picture: LiveState) -> Choice:
    """Return what the parameters choose; raises Invalid."""
    region, isp, tenant = (request.query_params.get(name, "") for name in ("region", "isp", "tenant"))
    snapshot, tenants = picture.snapshot, picture.tenants if principal.all_tenants else {principal.tenant}
    if region and region not in snapshot.spans:
        raise Invalid("unknown_region", _("there is no region {name}"), pointer_to("region"), name=region)
    if isp and isp not in snapshot.isps:
        raise Invalid("unknown_isp", _("there is no ISP {name}"), pointer_to("isp"), name=isp)
    if tenant and tenant not in tenants:
        raise Invalid("unknown_tenant", _("there is no tenant {tenant}"), pointer_to("tenant"), tenant=tenant)
    return Choice(
        region=region,
        isp=snapshot.isps.get(isp, ""),
        tenant=tenant,
        days=whole_number_given(request, "days", default=0, low=0, high=MOST_DAYS),
        floor=amount_given(request, "floor"),
        mbps=amount_given(request, "mbps"),
    )


def _document(row: MoveAnswer, state: str = "") -> MoveAnswerDocument:
    return MoveAnswerDocument(
        placement=row.placement,
        tenant=row.tenant.code,
        state=cast("Any", state or row.state),
        reason=row.reason,
        actor=row.actor,
        at=row.at,
        currency=row.currency,
        move=convert(row.move, Move),
    )
