"""`POST /api/v1/schedule/`: where should these machines stand?"""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request as HttpRequest
from structlog.contextvars import bind_contextvars

from idcsched.api.authentication import BearerAuthentication, SessionPrincipal
from idcsched.api.bodies import body_bytes
from idcsched.api.idempotency import HEADER, Idempotent
from idcsched.api.middleware import request_id_of
from idcsched.api.origin import caller_origin
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import struct_response
from idcsched.api.views.placements import ordered_response, status_of_order
from idcsched.db.places import place
from idcsched.framework.decoding import decode_json
from idcsched.framework.request import Request
from idcsched.placement.documents import PlacementDocument
from idcsched.placement.recommending import recommend
from idcsched.placement.services import placement_order
from idcsched.placement.view import LiveView
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.request_checks import request_check

__all__ = ["ScheduleView"]

EXAMPLE = {"request_id": "order-8812", "region": "A", "profile": "seed-example", "explain": "full"}


class ScheduleView(Idempotent):
    """The best IDC of a region for a request, and why it is the best."""

    capability = "schedule"
    bearer = BearerAuthentication(writes=False)  # a recommendation writes nothing; `_check_writer` checks an order

    @extend_schema(
        operation_id="schedule",
        request=Request,
        responses={
            200: OpenApiResponse(Scheduled, description="What was decided; also where nothing fits."),
            201: OpenApiResponse(PlacementDocument, description="What was reserved."),
            202: OpenApiResponse(
                PlacementDocument, description="What is being started, or waits since nothing fits yet."
            ),
        },
        examples=[OpenApiExample("The seed example", value=EXAMPLE, request_only=True)],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        order = decode_json(body_bytes(request), Request)
        request_check(order)
        http_request_id = request_id_of(request)
        if order.action in (None, "recommend"):
            principal = principal_of_request(request)
            scheduled = recommend(request=order, principal=principal, http_request_id=http_request_id)
            bind_contextvars(decision_id=scheduled.decision_id)
            return struct_response(scheduled)
        with place(), caller_origin(request):
            self._check_writer(request)
            placement = placement_order(
                request=order,
                principal=principal_of_request(request),
                http_request_id=http_request_id,
                view=LiveView(),  # `_check_writer` has brought the live picture up to date
            )
        bind_contextvars(placement_id=str(placement.pk), decision_id=str(placement.decision_id))
        return ordered_response(placement, status_of_order(placement))

    def get_authenticators(self) -> list[BaseAuthentication]:
        """With an `Idempotency-Key` the live picture is brought up to date before the key's transaction begins."""
        keyed = self.request is not None and HEADER in self.request.headers
        return [BearerAuthentication() if keyed else self.bearer, SessionPrincipal()]

    def _check_writer(self, request: HttpRequest) -> None:
        """Authenticate and authorise the caller again, on the feed's latest state, before a write; raises 401, 403."""
        live.catch_up()
        if user_and_principal := self.bearer.known(request):
            request.user, request.auth = user_and_principal
            self.check_permissions(request)
