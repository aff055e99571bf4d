from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import FloatField, ForeignKey, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.decorators import display

from idcsched.db.fields import CodeField
from idcsched.language.figures import figure_text

__all__ = ["ChosenRowsMixin", "PlainValuesMixin", "ReadOnlyAdmin", "plain_column"]


class ChosenRowsMixin:
    """Admin mixin that answers 400, instead of failing, where a chosen key is malformed, so that no row can have it."""

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


class PlainValuesMixin:
    """Admin mixin: lists and read-only pages show numbers as people write them and never break codes over lines."""

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [plain_column(self.model, name) for name in super().get_list_display(request)]  # type: ignore[attr-defined,misc]

    def get_list_display_links(self, request: HttpRequest, list_display: Sequence[Any]) -> list[Any]:
        links = super().get_list_display_links(request, list_display)  # type: ignore[misc]
        return [plain_column(self.model, name) for name in links or ()]  # type: ignore[attr-defined]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        fieldsets: list[Any] = super().get_fieldsets(request, obj)  # type: ignore[misc]
        if not self.only_shown(request, obj):
            return fieldsets
        return [
            (title, {**options, "fields": [plain_column(self.model, name) for name in options["fields"]]})  # type: ignore[attr-defined]
            for title, options in fieldsets
        ]

    def only_shown(self, request: HttpRequest, obj: Any) -> bool:
        """Whether the page of `obj` has nothing that this user can change."""
        return obj is not None and not self.has_change_permission(request, obj)  # type: ignore[attr-defined]


@cache
def plain_column(model: type[Model], name: Any) -> Any:
    """Return the column for `name`: a function that formats the field's value, or `name` itself.

    Formatted are floats, codes, and references to rows that have a code.
    """
    field = next((field for field in model._meta.concrete_fields if field.name == name), None)
    if isinstance(field, FloatField):
        format_value: Callable[[Any], str] = figure_text
    elif isinstance(field, CodeField):
        format_value = _format_code
    elif isinstance(field, ForeignKey) and hasattr(field.related_model, "code"):
        format_value = _format_row
    else:
        return name

    def formatted(row: Model) -> str | None:
        value = getattr(row, name)
        return None if value in (None, "") else format_value(value)

    formatted.__name__ = name
    return display(description=field.verbose_name, ordering=name)(formatted)


def _format_code(code: str) -> str:
    return format_html('<span class="whole">{}</span>', code)


def _format_row(row: Any) -> str:
    """Format a related row; its text up to the first space, mostly its code, is never broken over lines."""
    code, _, name = str(row).partition(" ")
    return format_html('<span class="whole">{}</span> {}', code, name)


class ReadOnlyAdmin(ChosenRowsMixin, PlainValuesMixin, ModelAdmin):
    """Admin of rows that all staff may view and nobody may change; these have no history page."""

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
