"""`providers/` and `provider_kinds/`: where machines are started, and which kinds of providers there are."""

from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from idcsched.api.bodies import body_bytes
from idcsched.api.examples import example
from idcsched.api.fields import ObjectField
from idcsched.api.filtering import FilterSet
from idcsched.api.middleware import request_id_of
from idcsched.api.openapi import paged
from idcsched.api.resources import Resource, StrictModelSerializer, page_response
from idcsched.audit.context import origin_set
from idcsched.placement.models import Provider
from idcsched.provisioning import services
from idcsched.provisioning.driver import Driver
from idcsched.provisioning.driver_kinds import driver_kinds
from idcsched.provisioning.messages import Outcome

__all__ = ["OutcomesView", "ProviderKindsView", "ProviderViewSet"]


class ProviderSerializer(StrictModelSerializer):
    config = ObjectField(required=False)

    class Meta:
        model = Provider
        fields = ("code", "name", "kind", "config", "secret_ref", "enabled")


class ProviderFilters(FilterSet):
    class Meta:
        model = Provider
        columns = ("code", "name", "kind", "secret_ref", "enabled")
        searched = ("code", "name", "kind")


class ProviderViewSet(Resource):
    """Systems that start machines. An IDC names its own as `provider`."""

    capability = "write_inventory"
    noun = "provider"
    queryset = Provider.objects.all()
    serializer_class = ProviderSerializer
    filterset_class = ProviderFilters
    ordering_fields = ("code", "name", "kind")
    create_service = staticmethod(services.provider_create)
    update_service = staticmethod(services.provider_update)
    delete_service = staticmethod(services.provider_delete)


class OutcomesView(APIView):
    """Messages from a provider that something has happened to a machine, signed with its secret as callbacks are."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="provider_outcome",
        request=Outcome,
        responses={204: None},
        auth=[],
        examples=[
            example(
                "A machine that is up",
                {"type": "machine.up", "data": {"token": "0192f0c1-7d5e-7a94-b5b4-0c8a4f1f3b6e"}},
            )
        ],
    )
    def post(self, request: Request, code: str) -> Response:
        """Look at the machine of that token now; its state is asked from the provider, not taken from the message."""
        with origin_set(actor=f"provider {code}"[:150], via="api", request_id=request_id_of(request)):
            services.machine_changed(provider=code, headers=request.headers, content=body_bytes(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProviderKindDocument(msgspec.Struct, frozen=True):
    """One kind of provider; `config` is the JSON Schema of its configuration."""

    kind: str
    description: str
    config: dict[str, Any]


class ProviderKindsView(APIView):
    """The kinds of providers that exist, third parties' among them."""

    capability = "read"

    @paged(ProviderKindDocument, operation_id="provider_kinds_list")
    def get(self, request: Request) -> HttpResponse:
        return page_response(request, [driver for _, driver in sorted(driver_kinds().classes.items())], _document)


def _document(driver: type[Driver]) -> ProviderKindDocument:
    description = (driver.__doc__ or "").strip()
    return ProviderKindDocument(kind=driver.kind, description=description, config=msgspec.json.schema(driver.Config))
