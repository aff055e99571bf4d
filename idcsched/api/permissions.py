"""The permissions of callers: each view names the capability that its writes require; reading requires `read`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Unauthenticated
from idcsched.framework.messages import _

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["HasCapability", "capability_of", "principal_of_request"]


class HasCapability(BasePermission):
    """Permission that raises Forbidden with the reason, which DRF's plain False could not give."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        principal_of_request(request).require(capability_of(view, str(request.method)))
        return True


def capability_of(view: "APIView", method: str) -> str:
    """Return the capability that a call requires: the action's own, else the view's for writing or for reading."""
    by_action: Mapping[str, str] = getattr(view, "capability_by_action", {})
    action = str(getattr(view, "action", None))
    if action in by_action:
        return by_action[action]
    return str(getattr(view, "read_capability", "read") if method in SAFE_METHODS else view.capability)  # type: ignore[attr-defined]


def principal_of_request(request: Request) -> Principal:
    """Return the caller; raises Unauthenticated."""
    if not isinstance(request.auth, Principal):
        raise Unauthenticated("token_missing", _("say who you are: Authorization: Bearer <token>"))
    return request.auth
