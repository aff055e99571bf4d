"""`providers/` and `provider_kinds/`: where machines are started, and which kinds of providers there are."""

from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from idcsched.api.filtering import AnyOf, FilterSet
from idcsched.api.openapi import list_of
from idcsched.api.resources import Resource, StrictModelSerializer, encoded
from idcsched.placement import services
from idcsched.placement.driver import Driver
from idcsched.placement.driver_kinds import driver_kinds
from idcsched.placement.models import Provider

__all__ = ["ProviderKindsView", "ProviderViewSet"]


class ProviderSerializer(StrictModelSerializer):
    class Meta:
        model = Provider
        fields = ("code", "name", "kind", "config", "secret_ref", "enabled")


class ProviderFilters(FilterSet):
    code = AnyOf(field_name="code")
    kind = AnyOf(field_name="kind")

    class Meta:
        model = Provider
        fields = ("code", "kind", "enabled")
        searched = ("code", "name", "kind")


class ProviderViewSet(Resource):
    """Who starts machines. An IDC names its own as `provider`."""

    capability = "write_inventory"
    noun = "provider"
    queryset = Provider.objects.all()
    serializer_class = ProviderSerializer
    filterset_class = ProviderFilters
    ordering_fields = ("code", "name", "kind")
    create_service = staticmethod(services.provider_create)
    update_service = staticmethod(services.provider_update)
    delete_service = staticmethod(services.provider_delete)


class ProviderKindDocument(msgspec.Struct, frozen=True):
    """One kind of provider; `config` is the JSON Schema of what it can be told."""

    kind: str
    description: str
    config: dict[str, Any]


class ProviderKindsView(APIView):
    """The kinds of providers that there are, third parties' among them."""

    capability = "read"

    @extend_schema(operation_id="provider_kinds_list", responses=list_of(ProviderKindDocument))
    def get(self, request: Request) -> HttpResponse:
        return encoded([_document(found) for _, found in sorted(driver_kinds().drivers.items())])


def _document(found: type[Driver]) -> ProviderKindDocument:
    description = (found.__doc__ or "").strip()
    return ProviderKindDocument(kind=found.kind, description=description, config=msgspec.json.schema(found.Config))
