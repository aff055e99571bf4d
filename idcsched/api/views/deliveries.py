"""`/api/v1/deliveries/`: the callbacks that were sent, and those that wait to be sent."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request

from idcsched.api.conditions import etag_of, if_match_check
from idcsched.api.filtering import FilterSet
from idcsched.api.origin import caller_origin
from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, encoded, struct_response
from idcsched.audit.edits import change_locked
from idcsched.placement import services
from idcsched.placement.documents import DeliveryDocument, delivery_document
from idcsched.placement.models import Delivery
from idcsched.placement.selectors import deliveries_visible

from .placements import UUID_SHAPED

__all__ = ["DeliveryViewSet"]


class DeliveryFilters(FilterSet):
    class Meta:
        model = Delivery
        columns = ("id", "state", "url", "tries", "created_at", "tried_at", "next_try_at", "delivered_at")
        paths = {
            "type": "kind",
            "placement": "placement__id",
            "tenant": "placement__tenant__code",
            "request_id": "placement__request_id",
        }
        searched = ("placement__request_id", "url")


@extend_schema_view(list=extend_schema(responses=DeliveryDocument), retrieve=extend_schema(responses=DeliveryDocument))
class DeliveryViewSet(ReadOnlyResource):
    """Callbacks, sent or waiting. Callers who are bound to a tenant see those of their tenant, all others see all."""

    capability = "schedule"
    conditional_actions = ("resend",)
    unchanged_actions = ()
    queryset = Delivery.objects.all()
    filterset_class = DeliveryFilters
    ordering_fields = ("created_at", "tried_at", "next_try_at", "delivered_at")
    lookup_field = "id"
    lookup_value_regex = UUID_SHAPED

    def get_queryset(self) -> QuerySet[Delivery]:
        return deliveries_visible(principal_of_request(self.request)).select_related("placement__tenant")

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return encoded(self.get_paginated_response([delivery_document(row) for row in page or ()]).data)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        refuse_unknown_parameters(request, (), at_most_once=())
        return _response(delivery_document(self.get_object()))

    @extend_schema(operation_id="deliveries_resend", request=None, responses=DeliveryDocument)
    @action(detail=True, methods=["post"])
    def resend(self, request: Request, id: str) -> HttpResponse:
        """Send the callback again at once, whether it was received before or not, and keep trying for another day."""
        rows = Delivery.objects.filter(pk=self.get_object().pk)
        with caller_origin(request):
            queued = change_locked(
                rows, read=self._checked, change=lambda delivery: services.delivery_resend(delivery=delivery)
            )
        return _response(delivery_document(queued))

    def _checked(self) -> Delivery:
        """Read the callback and check `If-Match`; raises StaleETag."""
        delivery: Delivery = self.get_object()
        if_match_check(self.request, [delivery_document(delivery)], [""])
        return delivery


def _response(document: DeliveryDocument) -> HttpResponse:
    response = struct_response(document)
    response["ETag"] = etag_of(document)
    return response
