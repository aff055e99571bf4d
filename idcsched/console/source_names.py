"""The names of a source that match nothing, at `/console/sources/CODE/names/`: which IDC or line each stands for."""

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from idcsched.framework.errors import Forbidden, IdcschedError
from idcsched.language.wording import explained
from metrics_ingest.models import Source
from metrics_ingest.services import source_names_map
from metrics_ingest.sources.unmatched import UnmatchedName, latest_run, names_unmatched

from .pages import console_origin, named, page, principal_of_page, shown
from .sources import check_may

__all__ = ["source_names"]


@dataclass(kw_only=True)
class Row:
    """A name with what was typed for it, and what is wrong with that."""

    unmatched: UnmatchedName
    typed: str
    error: str = ""


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def source_names(request: HttpRequest, code: str) -> HttpResponse:
    """Show each name with what it seems to mean; a POST writes what was chosen into the source's mapping."""
    source = named(Source.objects.all(), code, sentence=_("There is no source %(name)s."), route="console:source")
    try:
        check_may(principal_of_page(request), source)
    except Forbidden as error:
        raise PermissionDenied(error.code) from error
    run = latest_run(source)
    posted, typed, refusal = request.method == "POST", _typed(request), ""
    rows = [
        Row(unmatched=name, typed=typed.get((_kind(name), name.name), "") if posted else name.near)
        for name in names_unmatched(source, run)
    ]
    if posted:
        _check(rows)
        if not any(row.error for row in rows):
            try:
                return _mapped(request, source, [row for row in rows if row.typed])
            except IdcschedError as error:
                refusal = explained(error)
    context = {
        "section": "sources",
        "source": source,
        "run": run,
        "rows": rows,
        "idcs": next((row.unmatched.codes for row in rows if not row.unmatched.idcs), ()),
        "refusal": refusal,
    }
    status = HTTPStatus.CONFLICT if refusal else HTTPStatus.OK
    return shown(request, "source_names.html", context, status=status)


def _kind(name: UnmatchedName) -> str:
    """Return the field of the mapping that translates the name."""
    return "lines" if name.idcs else "idcs"


def _typed(request: HttpRequest) -> dict[tuple[str, str], str]:
    """Return what was typed for each name, by the name and what it names."""
    fields = (request.POST.getlist(field) for field in ("kind", "name", "code"))
    return {(kind, name): code.strip() for kind, name, code in zip(*fields, strict=False)}


def _check(rows: Iterable[Row]) -> None:
    """Note the codes that do not exist."""
    for row in rows:
        if row.typed and row.typed not in row.unmatched.codes:
            sentence = (
                _("There is no line %(code)s there.") if row.unmatched.idcs else _("There is no IDC %(code)s here.")
            )
            row.error = sentence % {"code": row.typed}


def _mapped(request: HttpRequest, source: Source, rows: list[Row]) -> HttpResponse:
    """Write the chosen names into the mapping, and lead to the source."""
    if rows:
        chosen: dict[str, dict[str, str]] = {"idcs": {}, "lines": {}}
        for row in rows:
            chosen[_kind(row.unmatched)][row.unmatched.name] = row.typed
        with console_origin(request):
            source_names_map(source=source, **chosen)
        text = ngettext(
            "%(count)d name has its place now; the source is asked again at once.",
            "%(count)d names have their places now; the source is asked again at once.",
            len(rows),
        )
        messages.success(request, text % {"count": len(rows)})
    return HttpResponseRedirect(reverse("console:source", args=[source.code]))
