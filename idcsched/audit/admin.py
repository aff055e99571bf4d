from typing import Any, cast

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

__all__ = ["ChosenRowsMixin", "ReadOnlyAdmin"]


class ChosenRowsMixin:
    """Actions on rows that are chosen in a list: a key that no row can have chooses none, and is no failure."""

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        key = queryset.model._meta.pk
        for text in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                key.get_prep_value(key.to_python(text))
            except (ValidationError, ValueError):
                raise BadRequest("no row has this key") from None
            if "\x00" in text:
                raise BadRequest("a NUL character")
        answer: HttpResponse | None = super().response_action(request, queryset)  # type: ignore[misc]
        return answer


class ReadOnlyAdmin(ChosenRowsMixin, ModelAdmin):
    """Something that everybody in the admin may look at and nobody may touch; so it has no history."""

    list_fullwidth = True
    list_filter_submit = True

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and bool(getattr(request.user, "is_staff", False))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"show_history": False, **(extra_context or {})}
        return cast("HttpResponse", super().change_view(request, object_id, form_url, context))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        raise Http404
