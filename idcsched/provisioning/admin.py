from django.contrib import admin

from idcsched.accounts.administration import RowServices, ServiceAdmin
from idcsched.placement.models import Provider

from . import services
from .driver_kinds import driver_kinds

__all__ = ["ProviderAdmin"]


@admin.register(Provider)
class ProviderAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.provider_create,
        update=lambda row, changes: services.provider_update(provider=row, changes=changes),
        delete=lambda row: services.provider_delete(provider=row),
    )
    offers = {"kind": lambda: [(kind, kind) for kind in sorted(driver_kinds().classes)]}
    list_display = ["code", "name", "kind", "enabled"]
    list_filter = ["kind", "enabled"]
    search_fields = ["code", "name", "kind"]
