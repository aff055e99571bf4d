"""What OPTIONS answers."""

from typing import TYPE_CHECKING, Any

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["AllowedMethods"]


class AllowedMethods(BaseMetadata):
    """What may be done with this address; how, says the OpenAPI document."""

    def determine_metadata(self, request: Request, view: "APIView") -> dict[str, Any]:
        return {"methods": view.allowed_methods}
