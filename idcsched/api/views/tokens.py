"""`tokens/`: the secrets by which programs authenticate."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.accounts import services
from idcsched.accounts.models import ApiToken
from idcsched.accounts.services import IssuedToken
from idcsched.api.bodies import body_bytes
from idcsched.api.examples import example
from idcsched.api.fields import NameOf, TextsField
from idcsched.api.filtering import FilterSet
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, Resource, StrictModelSerializer
from idcsched.framework.decoding import decode_json

__all__ = ["TokenViewSet"]

LONGEST_OVERLAP = 30 * 24 * 3600


class Rotation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the old token stays valid beside the new one, and when the new one expires; null: as the old one did."""

    overlap_seconds: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_OVERLAP)] = 24 * 3600
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class TokenSerializer(StrictModelSerializer):
    """`token` is the secret; only the answer that creates it has it."""

    user = NameOf()
    tenant = CodeOf(required=False, allow_null=True)
    allowed_networks = TextsField(required=False)
    token = serializers.SerializerMethodField()

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "user",
            "tenant",
            "name",
            "prefix",
            "read_only",
            "allowed_networks",
            "created_at",
            "expires_at",
            "last_used_at",
            "rotated_at",
            "revoked_at",
            "token",
        )
        read_only_fields = ("id", "prefix", "created_at", "last_used_at", "rotated_at", "revoked_at")

    def get_token(self, token: ApiToken) -> str | None:
        secret: str | None = getattr(token, "secret", None)
        return secret


class TokenFilters(FilterSet):
    class Meta:
        model = ApiToken
        columns = (
            *("id", "name", "prefix", "read_only"),
            *("created_at", "expires_at", "last_used_at", "rotated_at", "revoked_at"),
        )
        paths = {"user": "user__username", "tenant": "tenant__code"}
        searched = ("name", "prefix", "user__username")


class TokenViewSet(Resource):
    """Administrators make and change tokens. Everybody sees their own, and may rotate and revoke them.

    What is made, changed or rotated with a token stays within the bounds of that token.
    """

    capability = "write_tokens"
    conditional_actions = ("rotate", "revoke")
    capability_by_action = {"rotate": "own_tokens", "revoke": "own_tokens"}
    http_method_names = ("get", "post", "patch", "head", "options")
    noun = "token"
    fixed = ("user", "tenant", "read_only")
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = ApiToken.objects.select_related("user", "tenant")
    serializer_class = TokenSerializer
    filterset_class = TokenFilters
    ordering_fields = ("id", "name", "expires_at", "last_used_at")
    secret_fields = frozenset({"token"})
    moving_fields = frozenset({"last_used_at"})
    unchanged_actions = ("list",)
    update_service = staticmethod(services.token_update)

    @staticmethod
    def create_service(**fields: Any) -> ApiToken:
        return _with_secret(services.token_issue(**fields))

    def service_arguments(self) -> Mapping[str, Any]:
        return {"principal": principal_of_request(self.request)}

    def get_queryset(self) -> QuerySet[ApiToken]:
        tokens: QuerySet[ApiToken] = super().get_queryset()
        principal = principal_of_request(self.request)
        return tokens if principal.can("read_accounts") else tokens.filter(user_id=principal.user_id)

    def fresh(self, rows: Sequence[ApiToken]) -> list[ApiToken]:
        """Read the rows again, and carry over their secrets, which the database does not hold."""
        fresh: list[Any] = super().fresh(rows)
        for token, row in zip(fresh, rows, strict=True):
            token.secret = getattr(row, "secret", None)
        return fresh

    @extend_schema(
        operation_id="tokens_rotate",
        request=Rotation,
        responses={201: TokenSerializer},
        examples=[example("An hour to change it everywhere", {"overlap_seconds": 3600})],
    )
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, id: str) -> Response:
        """Create a token like this one, which stays valid beside it for a while, so that programs can change over."""
        rotation = decode_json(body_bytes(request, absent=b"{}"), Rotation)
        principal = principal_of_request(request)
        issued = self.edited_object(
            lambda token: services.token_rotate(
                token=token,
                overlap=timedelta(seconds=rotation.overlap_seconds),
                expires_at=rotation.expires_at,
                prolong=principal.can("write_tokens"),
                principal=principal,
            )
        )
        return Response(self.get_serializer(_with_secret(issued)).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="tokens_revoke", request=None, responses=TokenSerializer)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, id: str) -> Response:
        """End a token at once, for good."""
        revoked = self.edited_object(lambda token: services.token_revoke(token=token))
        return Response(self.get_serializer(revoked).data)


def _with_secret(issued: IssuedToken) -> ApiToken:
    issued.token.secret = issued.text  # type: ignore[attr-defined]  # shown this once
    return issued.token
