"""`users/`, `region_scopes/` and `me/`: the users, the regions in which operators may write, and the caller."""

from datetime import datetime

import msgspec
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from idcsched.accounts import services
from idcsched.accounts.models import ApiToken, User
from idcsched.accounts.roles import CAPABILITIES, Principal
from idcsched.api.fields import NameOf
from idcsched.api.filtering import FilterSet
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, OneOf, Resource, StrictModelSerializer, struct_response
from idcsched.inventory.models import RegionScope
from idcsched.inventory.services import region_scope_create, region_scope_delete

__all__ = ["MeView", "RegionScopeViewSet", "UserViewSet"]


class UserSerializer(StrictModelSerializer):
    tenant = CodeOf(required=False, allow_null=True)
    language = OneOf(["", *(code for code, _ in settings.LANGUAGES)], required=False)
    password = serializers.CharField(
        write_only=True,
        required=False,
        allow_null=True,
        help_text="A user without a password can't sign in to the admin; only tokens work.",
    )

    class Meta:
        model = User
        fields = (
            "username",
            "first_name",
            "last_name",
            "email",
            "role",
            "tenant",
            "language",
            "is_active",
            "password",
            "last_login",
        )
        read_only_fields = ("last_login",)


class UserFilters(FilterSet):
    class Meta:
        model = User
        columns = ("username", "first_name", "last_name", "email", "role", "language", "is_active", "last_login")
        paths = {"tenant": "tenant__code"}
        searched = ("username", "first_name", "last_name", "email")


class UserViewSet(Resource):
    """The users, with one role each. Deleting a user deletes all of its tokens."""

    capability = "write_users"
    read_capability = "read_accounts"
    noun = "user"
    moving_fields = frozenset({"last_login"})
    unchanged_actions = ("list",)
    lookup_field = "username"
    queryset = User.objects.select_related("tenant")
    serializer_class = UserSerializer
    filterset_class = UserFilters
    ordering_fields = ("username", "role", "last_login")
    create_service = staticmethod(services.user_create)
    update_service = staticmethod(services.user_update)
    delete_service = staticmethod(services.user_delete)


class RegionScopeSerializer(StrictModelSerializer):
    user = NameOf()
    region = CodeOf()

    class Meta:
        model = RegionScope
        fields = ("id", "user", "region")
        read_only_fields = ("id",)


class RegionScopeFilters(FilterSet):
    class Meta:
        model = RegionScope
        columns = ("id",)
        paths = {"user": "user__username", "region": "region__code"}
        searched = ("user__username", "region__code", "region__name")


class RegionScopeViewSet(Resource):
    """The regions in which an operator may write; without any, everywhere. They have no effect on other roles."""

    capability = "write_users"
    read_capability = "read_accounts"
    noun = "region_scope"
    http_method_names = ("get", "post", "delete", "head", "options")
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = RegionScope.objects.select_related("user", "region")
    serializer_class = RegionScopeSerializer
    filterset_class = RegionScopeFilters
    ordering_fields = ("id",)
    create_service = staticmethod(region_scope_create)
    delete_service = staticmethod(region_scope_delete)


class OwnToken(msgspec.Struct, frozen=True):
    """The token of this request; `id` is its id at `tokens/`."""

    id: int
    name: str
    prefix: str
    expires_at: datetime | None


class Me(msgspec.Struct, frozen=True):
    """The caller. `may`: the caller's capabilities; `regions`: where the caller may write, null meaning everywhere."""

    username: str
    role: str
    tenant: str | None
    all_tenants: bool
    read_only: bool
    regions: list[str] | None
    may: list[str]
    token: OwnToken | None


class MeView(APIView):
    """The caller and the caller's capabilities, so that a portal can offer only what is allowed."""

    capability = "read"

    @extend_schema(operation_id="me_read", responses=Me)
    def get(self, request: Request) -> HttpResponse:
        principal = principal_of_request(request)
        return struct_response(
            Me(
                username=principal.username,
                role=principal.role.value,
                tenant=principal.tenant,
                all_tenants=principal.all_tenants,
                read_only=principal.read_only,
                regions=None if principal.regions is None else list(principal.regions),
                may=[capability for capability in CAPABILITIES if principal.can(capability)],
                token=_token(principal),
            )
        )


def _token(principal: Principal) -> OwnToken | None:
    if principal.token_id is None:
        return None
    token = ApiToken.objects.get(pk=principal.token_id)
    return OwnToken(id=token.pk, name=token.name, prefix=token.prefix, expires_at=token.expires_at)
