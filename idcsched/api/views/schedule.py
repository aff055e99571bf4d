"""`POST /api/v1/schedule/`: where should these machines stand?"""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request as HttpRequest

from idcsched.api.bodies import body_bytes
from idcsched.api.idempotency import Idempotent
from idcsched.api.middleware import request_id_of
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import struct_response
from idcsched.framework.decoding import decode_json
from idcsched.framework.request import Request
from idcsched.scheduling.schedule import Scheduled, schedule

__all__ = ["ScheduleView"]

EXAMPLE = {"request_id": "order-8812", "region": "A", "profile": "seed-example", "explain": "full"}


class ScheduleView(Idempotent):
    """The best IDC of a region for a request, and why it is the best."""

    capability = "schedule"

    @extend_schema(
        operation_id="schedule",
        request=Request,
        responses={200: OpenApiResponse(Scheduled, description="What was decided; also where nothing fits.")},
        examples=[OpenApiExample("The seed example", value=EXAMPLE, request_only=True)],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        asked = decode_json(body_bytes(request), Request)
        answered = schedule(
            request=asked,
            principal=principal_of_request(request),
            http_request_id=request_id_of(request),
        )
        return struct_response(answered)
