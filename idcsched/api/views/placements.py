"""`/api/v1/placements/`: what was ordered, what it holds, and what can be done to it."""

from functools import lru_cache, partial
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request

from idcsched.api.bodies import body_bytes
from idcsched.api.conditions import etag_of, if_match_check
from idcsched.api.examples import example
from idcsched.api.filtering import FilterSet, flag
from idcsched.api.middleware import request_id_of
from idcsched.api.openapi import paged
from idcsched.api.origin import caller_origin
from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, encoded, struct_response
from idcsched.audit.edits import change_locked
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import NotFound
from idcsched.framework.messages import _
from idcsched.inventory.scope import scope_check
from idcsched.placement import services
from idcsched.placement.documents import (
    EventDocument,
    PlacementDocument,
    event_document,
    new_placement_document,
    on_idcs_to_leave,
    placement_documents,
    with_details,
)
from idcsched.placement.lifecycle import Action, State
from idcsched.placement.models import Placement
from idcsched.placement.selectors import PlacementTotals, placements_totals, placements_visible
from idcsched.planning.moves import Place, saving_check
from idcsched.planning.selectors import move_promised
from idcsched.scheduling.live import live
from idcsched.scheduling.recommendation import LONGEST_TOKEN

__all__ = ["PlacementViewSet", "ordered_response", "status_of_order"]

EXAMPLE = {
    "id": "0192f0c1-58a4-7c7e-8f5d-4a1b2c3d4e5f",
    "request_id": "order-8812",
    "tenant": "live-cn",
    "state": "provisioning",
    "needs_attention": False,
    "idc": "gz-ct-01",
    "lines": [{"line": "ct", "isp": "ct", "bandwidth_mbps": 300.0}],
    "bill": {
        "currency": "CNY",
        "per_month": 769.0,
        "before": 5244.74,
        "after": 6013.74,
        "method": "exact",
        "counted": 1021.59,
        "history_days": 30,
        "lines": [{"line": "ct", "per_month": 769.0, "before": 5244.74, "after": 6013.74, "method": "exact"}],
    },
    "group_id": None,
    "due_to_leave": None,
    "expires_at": None,
    "machines": [
        {
            "id": "0192f0c1-5b10-7d02-9c1e-0f1e2d3c4b5a",
            "name": "edge-1",
            "state": "active",
            "provider_id": "i-0abc",
            "addresses": ["192.0.2.17"],
            "error": None,
        }
    ],
    "attempts": [{"idc": "sz-ct-cu-01", "state": "failed", "error": "the image is not there"}],
    "decision_id": "0192f0c1-5890-7a33-b6f0-6a7b8c9d0e1f",
    "created_at": "2031-05-01T01:00:00Z",
    "version": 4,
    "action": "provision",
    "held_back": None,
    "based_on": None,
    "replaces": None,
    "priority": 0,
    "waits": None,
    "callback_url": "https://portal.example.com/placements",
}
"""Machines that are being started in the second-best IDC, after the best could not start them."""
PLACEMENT_EXAMPLE = OpenApiExample("Started elsewhere than was thought best", value=EXAMPLE, response_only=True)
COMMIT_EXAMPLE = {"commit_token": "the `commit_token` of a recommendation", "action": "reserve"}
NOT_IN_ETAG = frozenset({"machines", "due_to_leave", "waits"})
"""The fields that may change while the placement stays in its state; the ETag leaves them out."""
UUID_SHAPED = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


class Commit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recommendation that is to become a placement."""

    commit_token: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_TOKEN)]
    action: Literal["reserve", "provision"] | None = None


class GivingUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`reason`: why the release is given up, and what is to become of the machines."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class PlacementFilters(FilterSet):
    due_to_leave = flag("leaving")

    def leaving(self, queryset: QuerySet[Placement], name: str, values: list[bool]) -> QuerySet[Placement]:
        if set(values) != {values[0]}:  # true and false: all placements
            return queryset
        leaving = on_idcs_to_leave(timezone.now())
        return queryset.filter(leaving) if values[0] else queryset.exclude(leaving)

    class Meta:
        model = Placement
        columns = (
            *("id", "state", "request_id", "group_id", "decision_id", "actor", "needs_attention"),
            *("machine_count", "bandwidth_mbps", "bill_per_month", "priority"),
            *("created_at", "changed_at", "expires_at"),
        )
        paths = {
            "tenant": "tenant__code",
            "idc": "idc__code",
            "region": "idc__region__code",
            "replaces": "replaces__id",
        }
        searched = ("request_id", "idc__code", "actor")


@extend_schema_view(
    list=extend_schema(responses=PlacementDocument),
    retrieve=extend_schema(responses=PlacementDocument, examples=[PLACEMENT_EXAMPLE]),
)
class PlacementViewSet(ReadOnlyResource):
    """Placements. Callers who are bound to a tenant see those of their tenant, all others see all."""

    capability = "schedule"
    body_lookup_actions = ("create",)
    conditional_actions = ("confirm", "provision", "retry", "release", "give_up", "move")
    unchanged_actions = ()
    capability_by_action: ClassVar = {"give_up": "give_up_placements"}
    queryset = Placement.objects.all()
    filterset_class = PlacementFilters
    ordering_fields = ("created_at", "changed_at", "expires_at", "bill_per_month")
    lookup_field = "id"
    lookup_value_regex = UUID_SHAPED

    def get_queryset(self) -> QuerySet[Placement]:
        return with_details(placements_visible(principal_of_request(self.request)))

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return encoded(self.get_paginated_response(placement_documents(page)).data)  # type: ignore[arg-type]

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        refuse_unknown_parameters(request, (), at_most_once=())
        return placement_response(self.get_object())

    @extend_schema(
        request=Commit,
        responses=dict.fromkeys((200, 201, 202), PlacementDocument),
        examples=[OpenApiExample("Take it at its word", value=COMMIT_EXAMPLE, request_only=True), PLACEMENT_EXAMPLE],
    )
    def create(self, request: Request) -> HttpResponse:
        """Turn a recommendation into a placement in its IDC; the same token again gives the same placement."""
        commit = decode_json(body_bytes(request), Commit)
        with caller_origin(request):
            placement, new = services.placement_commit(
                commit_token=commit.commit_token,
                action=Action(commit.action or "reserve"),
                principal=principal_of_request(request),
                http_request_id=request_id_of(request),
            )
        success = status.HTTP_201_CREATED if placement.action == Action.RESERVE else status.HTTP_202_ACCEPTED
        return ordered_response(placement, success) if new else placement_response(placement)

    @extend_schema(operation_id="placements_totals", request=None, responses=PlacementTotals)
    @action(detail=False, pagination_class=None, ordering_fields=())
    def totals(self, request: Request) -> HttpResponse:
        """What the placements that the filters leave are together, and in each IDC."""
        placements = placements_visible(principal_of_request(request))
        return struct_response(placements_totals(self.filter_queryset(placements)))

    @paged(EventDocument)
    @action(detail=True, filterset_class=None, ordering_fields=())
    def events(self, request: Request, id: str) -> HttpResponse:
        """Every move of the placement from one state to another."""
        page = self.paginate_queryset(self.filter_rows_of_member(self.get_object().events.order_by("version")))
        return encoded(self.get_paginated_response([event_document(event) for event in page or ()]).data)

    @extend_schema(request=None, responses=PlacementDocument)
    @action(detail=True, methods=["post"])
    def confirm(self, request: Request, id: str) -> HttpResponse:
        """Confirm that the portal has booted the machines itself."""
        return self._move(services.placement_confirm)

    @extend_schema(request=None, responses={202: PlacementDocument})
    @action(detail=True, methods=["post"])
    def provision(self, request: Request, id: str) -> HttpResponse:
        """Have the machines of a reservation started."""
        return self._move(services.placement_provision, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses={202: PlacementDocument})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, id: str) -> HttpResponse:
        """Decide anew where the machines of a failed placement should stand, and have them started there."""
        again = partial(services.placement_retry, http_request_id=request_id_of(request))
        return self._move(again, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=PlacementDocument)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, id: str) -> HttpResponse:
        """Give back what the placement holds."""
        return self._move(services.placement_release)

    @extend_schema(
        request=GivingUp,
        responses=PlacementDocument,
        examples=[example("The machines are gone", {"reason": "the rack was scrapped, ticket OPS-4711"})],
    )
    @action(detail=True, methods=["post"])
    def give_up(self, request: Request, id: str) -> HttpResponse:
        """End a release that is stuck: its capacity goes back, and its machines are left to the caller."""
        reason = decode_json(body_bytes(request), GivingUp).reason
        scope_check(principal_of_request(request), self.get_object().idc)
        return self._move(partial(services.placement_give_up, reason=reason))

    @extend_schema(
        request=services.Destination,
        responses={201: PlacementDocument},
        examples=[example("To a cheaper line", {"idc": "sz-ct-01", "lines": ["ct"], "saves_at_least": 1000})],
    )
    @action(detail=True, methods=["post"])
    def move(self, request: Request, id: str) -> HttpResponse:
        """Reserve another place for it. When the new placement is confirmed, this one is released."""
        placement = self.get_object()
        destination = decode_json(body_bytes(request), services.Destination)
        if (wanted := destination.saves_at_least) is not None:
            where, now = (destination.idc, destination.lines), timezone.now()
            saving_check(placement, *where, wanted, picture=live.current(), now=now)
        principal, place = principal_of_request(request), Place(idc=destination.idc, lines=destination.lines or ())
        move = partial(
            services.placement_move,
            destination=destination,
            principal=principal,
            http_request_id=request_id_of(request),
            promised=move_promised(placement.pk, place, principal),
        )
        return self._move(move, status=status.HTTP_201_CREATED)

    def _move(self, service: Any, status: int = status.HTTP_200_OK) -> HttpResponse:
        placement = self.get_object()
        with caller_origin(self.request):
            if "If-Match" in self.request.headers:
                # the row is locked first, then `_read_and_check` reads the placement anew
                rows = Placement.objects.filter(pk=placement.pk)
                moved = change_locked(rows, read=self._read_and_check, change=lambda locked: service(placement=locked))
            else:
                moved = service(placement=placement)
        return placement_response(moved, status=status)

    def _read_and_check(self) -> Placement:
        """Read the placement and check `If-Match`; raises StaleETag."""
        placement: Placement = self.get_object()
        if_match_check(self.request, map(_versioned, placement_documents([placement])), pointers=[""])
        return placement


def placement_response(placement: Placement, status: int = status.HTTP_200_OK) -> HttpResponse:
    """Return the placement as it stands now, with its address; raises NotFound."""
    fresh = with_details(Placement.objects.filter(pk=placement.pk)).first()
    if fresh is None:
        raise NotFound("not_found", _("there is no placement {id}"), id=str(placement.pk))
    return _response(placement_documents([fresh])[0], status)


def status_of_order(placement: Placement) -> HTTPStatus:
    """Return the status that answers a new order: 201 where it is reserved, 202 where it waits or is being started."""
    reserved = placement.state == State.RESERVED and placement.action == Action.RESERVE
    return HTTPStatus.CREATED if reserved else HTTPStatus.ACCEPTED


def ordered_response(placement: Placement, status: int) -> HttpResponse:
    """Answer with a new placement; it is read again only where its machines are already being started."""
    if placement.state in (State.RESERVED, State.WAITING):
        return _response(new_placement_document(placement), status)
    return placement_response(placement, status=status)


def _response(document: PlacementDocument, status: int) -> HttpResponse:
    response = struct_response(document, status=status)
    response["ETag"] = etag_of(_versioned(document))
    response["Location"] = f"{_list_address(get_script_prefix())}{document.id}/"
    return response


def _versioned(document: PlacementDocument) -> dict[str, Any]:
    """Return the fields that the ETag covers."""
    shown_fields: dict[str, Any] = msgspec.to_builtins(document)
    return {name: value for name, value in shown_fields.items() if name not in NOT_IN_ETAG}


@lru_cache(maxsize=8)
def _list_address(prefix: str) -> str:
    """Return the address of `placements/`, cached by script prefix: `reverse` adds the prefix itself, and is slow."""
    return reverse("placement-list")
