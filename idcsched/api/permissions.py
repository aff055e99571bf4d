"""Who may call what: each view names the capability that its writes take; reading takes `read`."""

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Unauthenticated

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["HasCapability", "principal_of_request"]


class HasCapability(BasePermission):
    """Refuses with the reason, which a plain False could not give."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        principal = principal_of_request(request)
        principal.require("read" if request.method in SAFE_METHODS else view.capability)  # type: ignore[attr-defined]
        return True


def principal_of_request(request: Request) -> Principal:
    """The caller; raises Unauthenticated."""
    if not isinstance(request.auth, Principal):
        raise Unauthenticated("token_missing", "say who you are: Authorization: Bearer <token>")
    return request.auth
