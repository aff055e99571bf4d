"""The admin page of shapes, with a picture of each."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import RelatedDropdownFilter

from idcsched.accounts.administration import RowServices, ServiceAdmin
from idcsched.framework.shape import hours_of_a_week
from idcsched.scheduling import shapes
from idcsched.scheduling.models import Shape

__all__ = ["ShapeAdmin"]

HEIGHT = 40


@admin.register(Shape)
class ShapeAdmin(ServiceAdmin):
    writes = "write_shapes"
    services = RowServices(
        create=shapes.shape_create,
        update=lambda row, changes: shapes.shape_update(shape=row, changes=changes),
        delete=lambda row: shapes.shape_delete(shape=row),
    )
    list_display = ("business", "tenant", "week", "created_at")
    list_filter = (("tenant", RelatedDropdownFilter),)
    list_select_related = ("tenant",)
    search_fields = ("business", "tenant__code", "tenant__name")
    fields = ("business", "tenant", "entered", "week")
    readonly_fields = ("week",)

    def get_readonly_fields(self, request: HttpRequest, obj: Shape | None = None) -> list[Any]:
        """Keep business and tenant of an existing shape: another business has a shape of its own."""
        return [*super().get_readonly_fields(request, obj), *(("business", "tenant") if obj else ())]

    @admin.display(description=_("Monday to Sunday"))
    def week(self, shape: Shape) -> SafeString | str:
        """Draw the 168 hours as one line."""
        if not shape.entered:
            return ""
        hours = hours_of_a_week(shape.entered).tolist()
        points = " ".join(f"{hour},{HEIGHT * (1 - share):.1f}" for hour, share in enumerate(hours))
        return format_html(
            '<svg viewBox="0 0 167 {}" width="334" height="{}" role="img" aria-label="{}">'
            '<polyline points="{}" fill="none" stroke="currentColor"/></svg>',
            *(HEIGHT, HEIGHT, _("Traffic by hour of the week"), points),
        )
