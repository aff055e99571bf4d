"""Admin actions on many chosen IDCs or taints: a page asks for details, then all are changed or none."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.forms import ModelForm, modelform_factory
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, principal_of
from idcsched.framework.errors import Forbidden
from idcsched.inventory import services
from idcsched.inventory.choices import Status
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.scope import scope_check, scoped
from idcsched.inventory.taint_state import state_of

from .taint_forms import SelectionTaintForm

__all__ = ["lift_from_page", "lift_page", "may_write", "principal_in", "retire_page", "taint_page"]

CONFIRMED = "confirmed"
SHOWN = 100
"""How many of the chosen rows the page names."""


def principal_in(request: HttpRequest) -> Principal | None:
    """Return the user's principal, with the regions in which the user may write; looked up once per request."""
    if not isinstance(request.user, User):
        return None
    if "principal" not in request.__dict__:
        request.__dict__["principal"] = scoped(principal_of(request.user))
    principal: Principal = request.__dict__["principal"]
    return principal


def may_write(request: HttpRequest, target: Idc | None) -> bool:
    """Return whether the target lies in the regions in which the user may write; None stands for every IDC."""
    principal = principal_in(request)
    try:
        if principal is not None:
            scope_check(principal, target)
    except Forbidden:
        return False
    return True


def taint_page(model_admin: Any, request: HttpRequest, chosen: QuerySet[Idc]) -> HttpResponse:
    """Taint every chosen IDC; raises Forbidden where one lies outside of the user's regions, Conflict, Invalid."""
    form = _taint_form(request)(request.POST if CONFIRMED in request.POST else None)
    if form.is_bound and form.is_valid():
        idcs = list(chosen.select_related("region"))
        services.taint_create(**form.taint_fields(), idcs=idcs, principal=principal_in(request))
        text = _("Tainted IDCs: %(count)d") % {"count": len(idcs)}
        model_admin.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(request.get_full_path())
    title = _("IDCs to be tainted: %(count)d") % {"count": chosen.count()}
    names = [idc.code for idc in chosen.order_by("code")[:SHOWN]]
    return _page(model_admin, request, "taint_idcs.html", title=title, form=form, names=names, media=form.media)


def retire_page(model_admin: Any, request: HttpRequest, chosen: QuerySet[Idc]) -> HttpResponse:
    """Retire every chosen IDC once the user has confirmed."""
    if CONFIRMED in request.POST:
        idcs = list(chosen)
        services.idcs_update(updates=[(idc, {"status": Status.RETIRED}) for idc in idcs])
        text = _("Retired: %(idcs)s") % {"idcs": ", ".join(idc.code for idc in idcs[:SHOWN])}
        model_admin.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(request.get_full_path())
    names = [idc.code for idc in chosen.order_by("code")[:SHOWN]]
    return _page(model_admin, request, "retire_idcs.html", title=_("Retire IDCs"), names=names)


def lift_from_page(model_admin: Any, request: HttpRequest, chosen: QuerySet[Idc]) -> HttpResponse:
    """Show the taints of the chosen IDCs, and lift those that the user ticks."""
    taints = Taint.objects.filter(idc__in=chosen).select_related("idc__region")
    ticked = [key for key in request.POST.getlist("taint") if key.isdecimal()]
    to_lift = taints.filter(pk__in=ticked) if CONFIRMED in request.POST else taints
    return lift_page(model_admin, request, to_lift, offered=taints)


def lift_page(
    model_admin: Any, request: HttpRequest, taints: QuerySet[Taint], offered: QuerySet[Taint] | None = None
) -> HttpResponse:
    """Lift these taints once the user has confirmed; raises Forbidden where one lies outside of the user's regions.

    The page lists the `offered` taints with boxes to tick, or, without them, all that are lifted.
    """
    if CONFIRMED in request.POST:
        lifted = list(taints)
        services.taints_delete(taints=lifted, principal=principal_in(request))
        text = _("Lifted taints: %(count)d") % {"count": len(lifted)}
        model_admin.message_user(request, text, messages.SUCCESS if lifted else messages.WARNING)
        return HttpResponseRedirect(request.get_full_path())
    now, shown = timezone.now(), (taints if offered is None else offered).order_by("idc__code", "key")
    rows = [{"taint": taint, "state": state_of(taint, now)} for taint in shown[: SHOWN * 10]]
    title = _("Lift taints")
    return _page(model_admin, request, "lift_taints.html", title=title, rows=rows, choose=offered is not None)


def _taint_form(request: HttpRequest) -> type[SelectionTaintForm]:
    """Return the form class with the admin's widgets."""
    fields = partial(admin.site.get_model_admin(Taint).formfield_for_dbfield, request=request)
    form: type[ModelForm] = modelform_factory(Taint, form=SelectionTaintForm, formfield_callback=fields)
    return form  # type: ignore[return-value]  # a subclass of the form that was given


def _page(model_admin: Any, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    """Render the page with the selection in hidden fields, so that its form is posted to the same action again."""
    site = model_admin.admin_site
    carried = {
        "action": request.POST.get("action", ""),
        "index": request.POST.get("index", "0"),
        "select_across": request.POST.get("select_across", "0"),
    }
    context |= {
        **site.each_context(request),
        "opts": model_admin.model._meta,
        "carried": carried.items(),
        "selected": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
        "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "confirmed": CONFIRMED,
    }
    request.current_app = site.name
    return TemplateResponse(request, f"administration/{template}", context)
