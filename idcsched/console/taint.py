"""The page on which one IDC is tainted, or several at once: with what that would do, before it is done."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from idcsched.accounts.roles import Principal
from idcsched.audit.edits import change_locked
from idcsched.audit.models import Action, Change
from idcsched.framework.errors import Conflict, Forbidden, IdcschedError, Invalid
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory import services
from idcsched.inventory.admin.taint_forms import LASTS, SelectionTaintForm
from idcsched.inventory.choices import Effect
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.scope import idcs_within
from idcsched.inventory.taint_state import TaintState, in_state
from idcsched.language.wording import explained
from idcsched.placement.selectors import standing_in
from idcsched.planning.taint_consequence import Consequence, taints_consequence
from idcsched.scheduling.live import live

from .effects import effect_choices
from .order_words import name_shown
from .pages import console_origin, named, page, principal_of_page, shown

__all__ = ["regions_allowed", "taint_idc", "taint_idcs", "taint_undo", "taintable"]

WRITES: Final = "write_taints"
MOST: Final = 200
"""The most IDCs that are tainted at once: the address names each of them."""
NAMED: Final = 10
"""The most of them that a sentence names."""
KEYS: Final = 100
"""The most keys that are suggested."""
MEANWHILE: Final = 3
"""The most changes of others that the page tells of."""
LONGEST_KEY: Final = 18
"""The most digits of a change's number."""


class _TaintForm(SelectionTaintForm):
    """The form of a taint on IDCs that the page names."""

    lasts = forms.ChoiceField(choices=LASTS, required=False, widget=forms.RadioSelect)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        effect = self.fields["effect"]
        assert isinstance(effect, forms.ChoiceField)  # noqa: S101  # as the model's field has choices
        effect.choices = effect_choices()

    class Meta(SelectionTaintForm.Meta):
        labels: Mapping[str, Any] = {"reason": gettext_lazy("Why? The next shift will read it.")}
        widgets: Mapping[str, forms.Widget] = {
            "effect": forms.RadioSelect(),
            "key": forms.TextInput(attrs={"list": "keys", "maxlength": 128, "autocomplete": "off"}),
            "starts_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "ends_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "reason": forms.TextInput(attrs={"maxlength": 1000, "size": 40}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The IDCs that are to be tainted, in the order in which they were named.

    `elsewhere` lie where the user may not taint, `unknown` are names without an IDC, `too_many` names were left out.
    """

    rows: Sequence[Idc]
    elsewhere: Sequence[Idc] = ()
    unknown: Sequence[str] = ()
    too_many: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """The form as it is shown; `seen` is the latest change of a taint that the user knows of, None: all of them."""

    form: _TaintForm
    status: HTTPStatus = HTTPStatus.OK
    consequence: Consequence | None = None
    window: str = ""
    standing: str = ""
    meanwhile: str = ""
    seen: int | None = None


class _Meanwhile(Exception):
    """The taints of these IDCs have been changed since the form was shown; it says by whom and how."""


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def taint_idc(request: HttpRequest, code: str) -> HttpResponse:
    """Taint the IDC of the address."""
    sentence = _("There is no IDC %(name)s.")
    row = named(Idc.objects.select_related("region"), code, sentence=sentence, route="console:idc")
    return _sheet(request, _allowed(principal_of_page(request), [row]), one=row)


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def taint_idcs(request: HttpRequest) -> HttpResponse:
    """Taint the IDCs that the address or the form names as `idc`."""
    given = request.POST if request.method == "POST" else request.GET
    codes = list(dict.fromkeys(code.strip() for code in given.getlist("idc") if code.strip() and "\x00" not in code))
    found = {row.code: row for row in Idc.objects.filter(code__in=codes[:MOST]).select_related("region")}
    chosen = _allowed(
        principal_of_page(request),
        [found[code] for code in codes if code in found],
        unknown=[code[:64] for code in codes[:MOST] if code not in found],
        too_many=max(0, len(codes) - MOST),
    )
    return _sheet(request, chosen)


@page(WRITES)
@require_http_methods(["POST"])
def taint_undo(request: HttpRequest) -> HttpResponse:
    """Lift the taints that the form names, which the user has just set."""
    named_taints = [text for text in request.POST.get("taints", "").split(",") if text.isascii() and text.isdecimal()]
    rows = Taint.objects.filter(pk__in=[text for text in named_taints if len(text) <= LONGEST_KEY])
    taints = list(rows.select_related("idc__region").order_by("pk")[:MOST])
    codes = [taint.idc.code for taint in taints]
    try:
        with console_origin(request):
            services.taints_delete(taints=taints, principal=principal_of_page(request))
    except IdcschedError as refusal:
        messages.error(request, explained(refusal))
    else:
        messages.success(request, _lifted_sentence(codes, taints[0]) if taints else _("It was lifted already."))
    return HttpResponseRedirect(_page_of(codes))


def taintable(principal: Principal) -> Set[str] | None:
    """Return the codes of the IDCs that the principal may taint; None: all."""
    if not principal.can(WRITES):
        return frozenset()
    if principal.regions is None:
        return None
    return frozenset(Idc.objects.filter(pk__in=idcs_within(principal.regions)).values_list("code", flat=True))


def regions_allowed(principal: Principal) -> str:
    """Return the names of the regions in which the principal may taint; "" where that is everywhere, or nowhere."""
    if principal.regions is None or not principal.can(WRITES):
        return ""
    facts = live.current().snapshot.regions
    return ", ".join(
        (name_shown(facts[code].name) if code in facts and facts[code].name else code) for code in principal.regions
    )


def _tainted_sentence(codes: Sequence[str], taint: Taint) -> str:
    """Return that the IDCs are tainted, or will be."""
    starts = _if_coming(taint.starts_at)
    coming = starts is not None
    if len(codes) == 1:
        said = _("%(idc)s will be tainted: %(taint)s.") if coming else _("%(idc)s is tainted: %(taint)s.")
    else:
        said = _("%(idcs)s will be tainted: %(taint)s.") if coming else _("%(idcs)s are tainted: %(taint)s.")
    window = _window(starts, taint.ends_at)
    named_taint = f"{taint} ({window})" if window else str(taint)
    return said % {"idc": codes[0], "idcs": _listed(codes), "taint": named_taint}


def _if_coming(starts: datetime | None) -> datetime | None:
    """Return when it begins; None where it has begun."""
    return starts if starts is not None and starts > timezone.now() else None


def _when(starts: datetime | None, ends: datetime | None) -> str:
    """Return when the taint of the form would be in force, with the zone."""
    window = _window(_if_coming(starts), ends)
    if not window:
        return _("In force from now on, until it is lifted.")
    return _("In force %(window)s (%(zone)s).") % {"window": window, "zone": timezone.get_current_timezone_name()}


def _window(starts: datetime | None, ends: datetime | None) -> str:
    """Return from when until when a taint is in force, by the reader's clock; "" where it is from now on for good."""
    begin, over = (at and timezone.localtime(at) for at in (starts, ends))
    same_day = begin and over and begin.date() == over.date()
    start = f"{begin:%m-%d %H:%M}" if begin else ""
    end = "" if over is None else f"{over:%H:%M}" if same_day else f"{over:%m-%d %H:%M}"
    if start and end:
        return f"{start} – {end}"
    if end:
        return _("until %(end)s") % {"end": end}
    return _("from %(start)s on") % {"start": start} if start else ""


def _lifted_sentence(codes: Sequence[str], taint: Taint) -> str:
    if len(codes) == 1:
        return _("Lifted: %(taint)s.") % {"taint": taint}
    return _("Lifted from %(idcs)s: %(taint)s.") % {"idcs": _listed(codes), "taint": taint}


def _allowed(principal: Principal, rows: Sequence[Idc], *, unknown: Sequence[str] = (), too_many: int = 0) -> Chosen:
    if not principal.can(WRITES):
        raise PermissionDenied(WRITES)
    may = taintable(principal)
    return Chosen(
        rows=[row for row in rows if may is None or row.code in may],
        elsewhere=[row for row in rows if may is not None and row.code not in may],
        unknown=unknown,
        too_many=too_many,
    )


def _sheet(request: HttpRequest, chosen: Chosen, one: Idc | None = None) -> HttpResponse:
    """Show the form, with what the taint would do where that is asked; or taint the IDCs, and lead to them."""
    sheet = _posted(request, chosen) if request.method == "POST" else _Sheet(form=_TaintForm(initial=_filled(request)))
    if isinstance(sheet, HttpResponse):
        return sheet
    context = {
        "section": "idcs",
        "one": one,
        "chosen": chosen,
        "count": len(chosen.rows),
        "most": MOST,
        "regions": regions_allowed(principal_of_page(request)),
        "elsewhere": _listed([row.code for row in chosen.elsewhere]),
        "unknown": _listed(chosen.unknown),
        "form": sheet.form,
        "keys": sorted({key for key, _value, _effect in live.current().snapshot.taints.kinds})[:KEYS],
        "seen": _latest_change() if sheet.seen is None else sheet.seen,
        "meanwhile": sheet.meanwhile,
        "consequence": sheet.consequence,
        "window": sheet.window,
        "standing": sheet.standing,
        "where": _where(chosen.rows),
        "present": _present(chosen.rows),
    }
    return shown(request, "taint.html", context, status=sheet.status)


def _posted(request: HttpRequest, chosen: Chosen) -> _Sheet | HttpResponse:
    """Do what the form says; return where that leads, or the form with what it is to say."""
    form = _TaintForm(request.POST)
    if chosen.elsewhere:
        form.add_error(
            None, _("You may not taint %(idcs)s.") % {"idcs": _listed([row.code for row in chosen.elsewhere])}
        )
    elif not chosen.rows:
        form.add_error(None, _("Choose an IDC."))
    if not form.is_valid():
        return _Sheet(form=form, status=_refused_with(request, chosen))
    try:
        if "ask" in request.POST:  # what happened since the form was first shown is still to be told
            return _Sheet(
                form=form,
                consequence=_asked(request, chosen.rows, form),
                window=_when(form.cleaned_data["starts_at"], form.cleaned_data["ends_at"]),
                standing=_standing(request, chosen.rows, form.cleaned_data["effect"]),
                seen=_seen(request),
            )
        return _done(request, chosen.rows, form)
    except _Meanwhile as refusal:
        return _Sheet(form=form, status=HTTPStatus.CONFLICT, meanwhile=str(refusal))
    except IdcschedError as refusal:
        for sentence in _refusals(refusal, chosen.rows):
            form.add_error(None, sentence)
        return _Sheet(form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _refused_with(request: HttpRequest, chosen: Chosen) -> HTTPStatus:
    """Return the status of a form that can't be used; while it is being filled in, that is no error."""
    if "HX-Request" in request.headers:
        return HTTPStatus.OK
    return HTTPStatus.FORBIDDEN if chosen.elsewhere else HTTPStatus.UNPROCESSABLE_ENTITY


def _where(rows: Sequence[Idc]) -> str:
    """Return the IDCs as the sentences of the consequence name them."""
    if len(rows) == 1:
        return str(rows[0].code)
    return ngettext("this %(count)d IDC", "these %(count)d IDCs", len(rows)) % {"count": len(rows)}


def _present(rows: Sequence[Idc]) -> Sequence[tuple[str, Taint, str]]:
    """Return the taints that the IDCs have or will have: the IDC, the taint, and when; one query, bounded in rows."""
    now = timezone.now()
    taints = Taint.objects.exclude(in_state(TaintState.OVER, now)).filter(idc__in=rows).select_related("idc")
    first = taints.order_by("idc__code", "starts_at", "id")[:NAMED]
    return [(taint.idc.code, taint, _window(_if_coming(taint.starts_at), taint.ends_at)) for taint in first]


def _filled(request: HttpRequest) -> dict[str, Any]:
    """Return what the address fills in; what makes no sense is left empty."""
    given = {name: request.GET.get(name, "").strip() for name in ("key", "value", "effect", "reason")}
    times = {
        field: _moment(request.GET.get(name, "")) for name, field in (("starts", "starts_at"), ("ends", "ends_at"))
    }
    effect = given.pop("effect")
    return {**given, **times, "effect": effect if effect in Effect.values else Effect.NO_SCHEDULE}


def _moment(text: str) -> datetime | None:
    try:
        moment: datetime | None = forms.DateTimeField(required=False).clean(text.strip())
    except ValidationError:
        return None
    return moment


def _asked(request: HttpRequest, rows: Sequence[Idc], form: _TaintForm) -> Consequence:
    given = form.cleaned_data
    taints = [
        HypotheticalTaint(idc=row.code, key=given["key"], value=given["value"] or None, effect=given["effect"])
        for row in rows
    ]
    return taints_consequence(taints, principal_of_page(request))


def _standing(request: HttpRequest, rows: Sequence[Idc], effect: str) -> str:
    """Return what becomes of the orders that stand on the IDCs now: no taint moves them, but one asks them to leave."""
    found = standing_in([row.pk for row in rows], principal_of_page(request))
    if not found.orders:
        return _("No order stands on %(idc)s now.") % {"idc": _where(rows)}
    machines = ngettext("%(count)s machine", "%(count)s machines", found.machines)
    sentence = (
        ngettext(
            "%(orders)s order with %(machines)s and %(mbps)s Mbps stands on %(idc)s now: it is listed as due to leave "
            "as soon as the taint is in force, and stays until somebody moves it.",
            "%(orders)s orders with %(machines)s and %(mbps)s Mbps stand on %(idc)s now: they are listed as due to "
            "leave as soon as the taint is in force, and stay until somebody moves them.",
            found.orders,
        )
        if effect == Effect.NO_EXECUTE
        else ngettext(
            "%(orders)s order with %(machines)s and %(mbps)s Mbps stands on %(idc)s now, and stays there untouched.",
            "%(orders)s orders with %(machines)s and %(mbps)s Mbps stand on %(idc)s now, and stay there untouched.",
            found.orders,
        )
    )
    return sentence % {
        "orders": f"{found.orders:,}",
        "machines": machines % {"count": f"{found.machines:,}"},
        "mbps": f"{round(found.bandwidth_mbps):,}",
        "idc": _where(rows),
    }


def _done(request: HttpRequest, rows: Sequence[Idc], form: _TaintForm) -> HttpResponse:
    """Taint the IDCs, all or none; raises _Meanwhile where their taints were changed since the form was shown."""
    principal, seen = principal_of_page(request), _seen(request)
    documents = [{"idc": row.code, **form.taint_fields()} for row in rows]
    with console_origin(request):
        taints: list[Taint] = change_locked(
            Idc.objects.filter(pk__in=[row.pk for row in rows]),
            read=lambda: _refuse_changed(principal, rows, seen),
            change=lambda _none: services.taints_create(documents=documents, principal=principal),
        )
    codes = [row.code for row in rows]
    # base.html offers to lift the taints again that the message's extra tags name.
    undo = ",".join(str(taint.pk) for taint in taints)
    messages.success(request, _tainted_sentence(codes, taints[0]), extra_tags=undo)
    return HttpResponseRedirect(_page_of(codes))


def _page_of(codes: Sequence[str]) -> str:
    """Return the address of the IDC's page, or of the list where there is not just one."""
    return reverse("console:idc", args=codes) if len(codes) == 1 else reverse("console:idcs")


def _refuse_changed(principal: Principal, rows: Iterable[Idc], seen: int | None) -> None:
    if seen is None:
        return
    codes = {row.code for row in rows}
    later = Change.objects.filter(kind=Taint.audit_kind, pk__gt=seen).order_by("-id")
    theirs = [change for change in later if change.key.partition("/")[0] in codes]
    if theirs:
        raise _Meanwhile(" ".join(_told(change, principal) for change in theirs[:MEANWHILE]))


def _told(change: Change, principal: Principal) -> str:
    """Return in a sentence who changed which taint when; who it was is not for a tenant's callers."""
    idc, _slash, taint = change.key.partition("/")
    said = {
        Action.CREATE: _("%(who)s tainted %(idc)s at %(at)s: %(taint)s."),
        Action.UPDATE: _("%(who)s changed the taint %(taint)s of %(idc)s at %(at)s."),
        Action.DELETE: _("%(who)s lifted the taint %(taint)s from %(idc)s at %(at)s."),
    }[Action(change.action)]
    who = change.actor if principal.all_tenants or change.actor == principal.username else _("Somebody")
    return said % {"who": who, "idc": idc, "taint": taint, "at": f"{timezone.localtime(change.at):%H:%M}"}


def _refusals(refusal: IdcschedError, rows: Sequence[Idc]) -> list[str]:
    """Return the sentences of a refusal, each with the IDC that it is about where there are several."""
    several = (
        [(error.pointer, explained(error)) for error in refusal.errors]
        if isinstance(refusal, Invalid)
        else [(refusal.pointer if isinstance(refusal, Conflict | Forbidden) else "", explained(refusal))]
    )
    sentences = []
    for pointer, sentence in several[:NAMED]:
        place = pointer.strip("/").partition("/")[0]
        named_row = place.isdecimal() and int(place) < len(rows) > 1
        sentences.append(f"{rows[int(place)].code}: {sentence}" if named_row else sentence)
    return list(dict.fromkeys(sentences))


def _listed(codes: Sequence[str]) -> str:
    """Return the codes, or the first of them and how many there are beside."""
    text, more = ", ".join(codes[:NAMED]), len(codes) - NAMED
    if more <= 0:
        return text
    return f"{text} {ngettext('and %(count)d more', 'and %(count)d more', more) % {'count': more}}"


def _latest_change() -> int:
    """Return the number of the latest change of a taint."""
    return Change.objects.filter(kind=Taint.audit_kind).order_by("-id").values_list("pk", flat=True).first() or 0


def _seen(request: HttpRequest) -> int | None:
    text = request.POST.get("seen", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_KEY else None
