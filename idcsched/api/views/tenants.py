"""`tenants/`: the tenants on whose behalf machines are ordered."""

from typing import Any

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.accounts import services
from idcsched.accounts.models import Tenant
from idcsched.api.fields import TextsField
from idcsched.api.filtering import FilterSet
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import Resource, StrictModelSerializer, struct_response
from idcsched.placement.quota import tenant_use

__all__ = ["TenantViewSet"]


class CallbackSecret(msgspec.Struct, frozen=True, kw_only=True):
    """The new secret, which no later answer has; null in the repeated answer to an `Idempotency-Key`."""

    secret: str | None


class TenantUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the tenant's placements hold now, and the quotas that limit it; null: no limit."""

    tenant: str
    bandwidth_mbps: float
    quota_bandwidth_mbps: float | None
    machines: int
    quota_machines: int | None


class TenantSerializer(StrictModelSerializer):
    callback_hosts = TextsField(required=False)

    class Meta:
        model = Tenant
        fields = ("code", "name", "default_profile", "callback_hosts", "quota_bandwidth_mbps", "quota_machines")


class TenantFilters(FilterSet):
    class Meta:
        model = Tenant
        columns = ("code", "name", "default_profile", "quota_bandwidth_mbps", "quota_machines")
        searched = ("code", "name")


class TenantViewSet(Resource):
    """Tenants with their quotas. Callers who are bound to a tenant see only that one."""

    capability = "write_tenants"
    conditional_actions = ("callback_secret",)
    noun = "tenant"
    secret_fields = frozenset(CallbackSecret.__struct_fields__)
    queryset = Tenant.objects.all()
    serializer_class = TenantSerializer
    filterset_class = TenantFilters
    ordering_fields = ("code", "name")
    create_service = staticmethod(services.tenant_create)
    update_service = staticmethod(services.tenant_update)
    delete_service = staticmethod(services.tenant_delete)

    def get_queryset(self) -> QuerySet[Tenant]:
        tenants: QuerySet[Tenant] = super().get_queryset()
        principal = principal_of_request(self.request)
        return tenants if principal.all_tenants else tenants.filter(code=principal.tenant)

    @extend_schema(operation_id="tenants_use", responses=TenantUse, filters=False)
    @action(detail=True)
    def use(self, request: Request, code: str) -> HttpResponse:
        """How much of the tenant's quotas is used. The tenant's document leaves this out: every order changes it."""
        tenant: Any = self.get_object()
        held = tenant_use(tenant.code)
        use = TenantUse(
            tenant=tenant.code,
            bandwidth_mbps=held.bandwidth_mbps,
            quota_bandwidth_mbps=tenant.quota_bandwidth_mbps,
            machines=held.machines,
            quota_machines=tenant.quota_machines,
        )
        return struct_response(use)

    @extend_schema(operation_id="tenants_callback_secret", request=None, responses={201: CallbackSecret})
    @action(detail=True, methods=["post"])
    def callback_secret(self, request: Request, code: str) -> Response:
        """Make a new secret for signing callbacks; for a day callbacks are signed with the old secret as well."""
        secret = self.edited_object(lambda tenant: services.tenant_callback_secret_make(tenant=tenant))
        return Response(msgspec.to_builtins(CallbackSecret(secret=secret)), status=status.HTTP_201_CREATED)
