"""The admin page of shapes, with a picture of each."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import RelatedDropdownFilter

from idcsched.accounts.administration import RowServices, ServiceAdmin
from idcsched.accounts.models import Tenant, User
from idcsched.accounts.roles import Principal, principal_of
from idcsched.framework.shape import hours_of_a_week
from idcsched.scheduling import shapes
from idcsched.scheduling.models import Shape, shape_numbers

__all__ = ["ShapeAdmin"]

WIDTH, HEIGHT, MARGIN = 334, 40, 1


@admin.register(Shape)
class ShapeAdmin(ServiceAdmin):
    writes = "write_shapes"
    services = RowServices(
        create=shapes.shape_create,
        update=lambda row, changes: shapes.shape_update(shape=row, changes=changes),
        delete=lambda row: shapes.shape_delete(shape=row),
    )
    list_display = ("business", "tenant", "week", "in_force", "rests_on", "last_attempt")
    list_filter = (("tenant", RelatedDropdownFilter), "verdict")
    list_select_related = ("tenant",)
    search_fields = ("business", "tenant__code", "tenant__name")
    fieldsets = (
        (None, {"fields": ("business", "tenant", "entered", "week", "in_force")}),
        (_("Learnt from traffic"), {"fields": ("rests_on", "learnt_at", "learnt_use", "last_attempt", "tried_at")}),
    )
    readonly_fields = ("week", "in_force", "rests_on", "learnt_at", "learnt_use", "last_attempt", "tried_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Shape]:
        return super().get_queryset(request).filter(pk__in=shapes.shapes_visible(_principal(request)).values("pk"))

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """Return the filters; one by tenant would name all tenants to a user who is bound to one."""
        return [] if _principal(request).tenant else list(super().get_list_filter(request))

    def has_change_permission(self, request: HttpRequest, obj: Shape | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_write(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Shape | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_write(request, obj)

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any], request: HttpRequest, **kwargs: Any) -> Any:
        """Offer a user who is bound to a tenant that tenant alone."""
        tenant = _principal(request).tenant
        if tenant is None:
            return super().formfield_for_foreignkey(db_field, request, **kwargs)
        kwargs["queryset"] = Tenant.objects.filter(code=tenant)
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.required = True
        return field

    def get_readonly_fields(self, request: HttpRequest, obj: Shape | None = None) -> list[Any]:
        """Keep business and tenant of an existing shape: another business has a shape of its own."""
        return [*super().get_readonly_fields(request, obj), *(("business", "tenant") if obj else ())]

    @admin.display(description=_("Monday to Sunday"))
    def week(self, shape: Shape) -> SafeString | str:
        """Draw the 168 hours as a line, those learnt dashed; nothing where the form holds what is no shape."""
        try:
            drawn = [
                (_points(hours), dashes)
                for hours, dashes in ((shape.entered, ""), (shape.learnt, "4 2"))
                if hours is not None
            ]
        except ValidationError:
            return ""
        if not drawn:
            return ""
        lines = '<polyline points="{}" stroke-dasharray="{}" fill="none" stroke="currentColor"/>'
        return format_html(
            '<svg viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
            *(WIDTH, HEIGHT, WIDTH, HEIGHT, _("Traffic by hour of the week"), format_html_join("", lines, drawn)),
        )

    @admin.display(description=_("in force"))
    def in_force(self, shape: Shape) -> str:
        return str(shape.in_force.label) if shape.in_force else "-"

    @admin.display(description=_("rests on"))
    def rests_on(self, shape: Shape) -> str:
        """Say what the learnt shape rests on."""
        if shape.learnt is None:
            return "-"
        figures = {"lines": shape.learnt_lines, "days": shape.learnt_days, "error": shape.learnt_error}
        return gettext("{lines:.0f} lines, {days:.0f} days, error {error:.0%}").format_map(figures)

    @admin.display(description=_("verdict of the last attempt"), ordering="verdict")
    def last_attempt(self, shape: Shape) -> str:
        return str(shape.get_verdict_display()) or "-"


def _points(hours: Sequence[float]) -> str:
    """Return the points of a shape's line; raises ValidationError."""
    shape_numbers(hours)
    shares = hours_of_a_week(hours).tolist()
    step, height = WIDTH / (len(shares) - 1), HEIGHT - 2 * MARGIN
    return " ".join(f"{hour * step:.0f},{MARGIN + height * (1 - share):.1f}" for hour, share in enumerate(shares))


def _principal(request: HttpRequest) -> Principal:
    return principal_of(cast("User", request.user))


def _may_write(request: HttpRequest, shape: Shape | None) -> bool:
    return shape is None or shapes.shape_is_of(_principal(request), shape)
