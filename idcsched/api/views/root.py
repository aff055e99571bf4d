"""`/api/v1/` itself: the addresses of all resources."""

from collections.abc import Sequence
from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from idcsched.api.parameters import refuse_unknown_parameters
from idcsched.api.resources import encoded

__all__ = ["RootView"]

ADDRESSES = {
    "type": "object",
    "description": "The address of each resource, by its name.",
    "additionalProperties": {"type": "string", "format": "uri"},
    "example": {"schedule": "https://idcsched.example.com/api/v1/schedule/"},
}


class RootView(APIView):
    """The list of all resources."""

    capability = "read"
    names: ClassVar[Sequence[str]] = ()

    @extend_schema(operation_id="root", tags=["status"], responses={200: ADDRESSES})
    def get(self, request: Request) -> HttpResponse:
        """The addresses of all resources; `schema` describes them, `docs` shows the description to people."""
        refuse_unknown_parameters(request, (), at_most_once=())
        return encoded({name: request.build_absolute_uri(f"{request.path}{name}/") for name in self.names})
