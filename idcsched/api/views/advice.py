"""`/api/v1/advice/`: what would be cheaper than what stands now."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.idempotency import Idempotent
from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import struct_response
from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _
from idcsched.planning.advice import Advice
from idcsched.planning.selectors import advice_shown
from idcsched.planning.services import advice_ask

__all__ = ["AdviceView"]


class AdviceView(Idempotent):
    """Advice on what stands now; computed each night, and when it is asked for. Nothing is moved."""

    capability = "write_profiles"

    @extend_schema(operation_id="advice_show", responses=Advice)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The latest advice: placements that would be cheaper elsewhere, commits above what flows, lines that fill up.

        Callers who are bound to a tenant see the moves of their tenant's placements and what these save; no lines, and
        none of the other figures.
        """
        refuse_unknown_parameters(request, (), at_most_once=())
        return struct_response(advice_shown(principal_of_request(request)))

    @extend_schema(operation_id="advice_ask", request=None, responses={202: None})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Have a worker compute new advice, which takes up to a minute; one that is at it already is enough."""
        principal = principal_of_request(request)
        if not principal.all_tenants:
            raise Forbidden("tenant_not_allowed", _("only who acts for all tenants may do this"))
        advice_ask(actor=principal.username)
        return Response(status=status.HTTP_202_ACCEPTED)
