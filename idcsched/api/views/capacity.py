"""`POST /api/v1/capacity/`: how many more machines of a size fit, and what runs out first."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request

from idcsched.api.bodies import body_bytes
from idcsched.api.idempotency import Idempotent
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import struct_response
from idcsched.framework.decoding import decode_json
from idcsched.placement.quota import capacity_within_quota
from idcsched.scheduling.capacity import Capacity, CapacityQuestion
from idcsched.scheduling.request_checks import request_check

__all__ = ["CapacityView"]

EXAMPLE = {"machine": {"bandwidth_mbps": 100, "cpu": 4, "memory_gib": 8}, "region": "440000", "isp": "ct"}


class CapacityView(Idempotent):
    """A question that needs a body and is therefore a POST; nothing is reserved."""

    capability = "read"

    @extend_schema(
        operation_id="capacity",
        request=CapacityQuestion,
        responses={200: Capacity},
        examples=[OpenApiExample("Four cores and 100 Mbps", value=EXAMPLE, request_only=True)],
    )
    def post(self, request: Request) -> HttpResponse:
        """How many more machines fit each IDC and region, as one order, and what runs out first."""
        question = decode_json(body_bytes(request), CapacityQuestion)
        request_check(question.asked())
        principal = principal_of_request(request)
        return struct_response(capacity_within_quota(question=question, principal=principal))
