"""The list of IDCs at `/console/idcs/`, from which many are tainted at once."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from idcsched.inventory.choices import Status
from idcsched.scheduling.live import live

from .fleet import Fleet
from .fleet_filters import filters_of, options_of, rows_of
from .idc_table import idc_table
from .pages import page, principal_of_page, shown
from .taint import regions_allowed, taintable

__all__ = ["idcs"]


@page()
@require_safe
def idcs(request: HttpRequest) -> HttpResponse:
    """Show the IDCs that the filters leave, in the order of the address, else the fullest regions and IDCs first."""
    snapshot, now = live.catch_up().snapshot, timezone.now()
    filters = filters_of(request, snapshot)
    fleet = Fleet(snapshot, now=now.timestamp(), idcs=rows_of(filters, snapshot), isp=filters.isp or None)
    shown_rows = fleet.with_mark(filters.mark) if filters.mark else fleet.shown
    principal = principal_of_page(request)
    choosable = taintable(principal)
    context = {
        "section": "idcs",
        "filters": filters,
        "options": options_of(snapshot),
        "table": idc_table(fleet.regions(shown_rows), filters.ordering),
        "without_lines": [] if filters.isp or filters.mark else fleet.without_lines(),
        "figures": fleet.figures,
        "choosing": choosable is None or bool(choosable),
        "choosable": choosable,
        "regions_allowed": regions_allowed(principal),
        "status_names": dict(Status.choices),
    }
    return shown(request, "idcs.html", context)
