"""The history of one row, as a page of the admin."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from .change_display import changed_fields, kind_name
from .models import Action, Change

__all__ = ["HistoryMixin", "changes_of", "shown_change"]

PER_PAGE = 25
MAX_NAMES = 20
"""The most names of one row that are followed back."""


def changes_of(kind: str, key: str, *, parts: Iterable[str] = ()) -> QuerySet[Change]:
    """Return the changes of a row, the newest first, also those under its earlier names.

    With `parts`, changes of rows of these kinds that belong to the row are included (`gz-ct-01/ct` is a line of
    `gz-ct-01`).
    """
    keys = _names(kind, key)
    condition = Q(kind=kind, key__in=keys)
    for name in keys:
        condition |= Q(kind__in=list(parts), key__startswith=f"{name}/")
    return Change.objects.filter(condition)


def _names(kind: str, key: str) -> list[str]:
    """Return the row's name and its earlier names, the latest first."""
    names = [key]
    while len(names) < MAX_NAMES:
        renamed = Change.objects.filter(kind=kind, action=Action.UPDATE, after__code=names[-1]).exclude(key__in=names)
        earlier = renamed.values_list("key", flat=True).first()
        if earlier is None:
            break
        names.append(earlier)
    return names


def shown_change(change: Change) -> dict[str, Any]:
    """Return a change as the template shows it."""
    return {
        "change": change,
        "kind": kind_name(change.kind),
        "fields": list(changed_fields(change)),
        "has_both": change.action == Action.UPDATE,
    }


class HistoryMixin:
    """Admin mixin whose "History" button shows the changes that the project has recorded."""

    def history(self, row: Any) -> QuerySet[Change]:
        """Return the changes that belong to a row."""
        return changes_of(row.audit_kind, row.audit_key)

    def visible_changes(self, request: HttpRequest) -> QuerySet[Change]:
        """Return the part of the whole history that this user may see."""
        return Change.objects.all()

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        site, opts = self.admin_site, self.model._meta  # type: ignore[attr-defined]  # a ModelAdmin's
        row = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        if row is None:
            return self._get_obj_does_not_exist_redirect(request, opts, object_id)  # type: ignore[attr-defined]
        if not self.has_view_permission(request, row):  # type: ignore[attr-defined]
            raise PermissionDenied
        pages = Paginator(self.history(row) & self.visible_changes(request), PER_PAGE)
        page = pages.get_page(request.GET.get("p"))
        context = {
            **site.each_context(request),
            "title": _("History of %(name)s") % {"name": row},
            "changes": [shown_change(change) for change in page],
            "page": page,
            "object": row,
            "opts": opts,
            "module_name": str(capfirst(opts.verbose_name_plural)),
            **(extra_context or {}),
        }
        request.current_app = site.name
        return TemplateResponse(request, "administration/history.html", context)
