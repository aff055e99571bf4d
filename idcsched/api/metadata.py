"""The answer to OPTIONS."""

from typing import TYPE_CHECKING, Any

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["AllowedMethods"]


class AllowedMethods(BaseMetadata):
    """The methods that an address allows; the OpenAPI document describes them."""

    def determine_metadata(self, request: Request, view: "APIView") -> dict[str, Any]:
        return {"methods": view.allowed_methods}
