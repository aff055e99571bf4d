"""Backtests, at `/console/backtests/`: what the orders of the last days would have cost under other profiles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import Isp, Region
from idcsched.language.wording import explained
from idcsched.planning.backtest import BacktestResult, CourseReport, Way
from idcsched.planning.models import Backtest, State
from idcsched.planning.recorded import MOST_DAYS
from idcsched.planning.selectors import backtests_visible
from idcsched.planning.services import backtest_create, backtest_give_up
from idcsched.scheduling.models import Profile
from idcsched.scheduling.revisions import differing
from idcsched.scheduling.services import DRAFT

from .files import table_file
from .order_words import name_shown
from .pages import named, page, principal_of_page, shown, whole_number

__all__ = ["DAYS", "backtest", "backtest_file", "backtests"]

WRITES: Final = "write_profiles"
"""Who may ask for a backtest, as in the API."""
DAYS: Final = 30
"""The days of a backtest unless somebody says how many."""
SHOWN: Final = 50
WAYS: Final = 20
LATE: Final = timedelta(minutes=1)
"""After so long without a worker, the page says so."""
CENT: Final = 0.005
"""Sums that differ by less look the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseRow:
    """A course of the table: its title, and what it adds against the profile that was asked about.

    `share`: what it adds as a part of the most that any adds, in percent. `overloaded`: in percent of the time.
    """

    title: str
    report: CourseReport
    is_base: bool
    is_draft: bool
    difference: float
    share: float
    overloaded: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The orders that stand elsewhere in one course than in another: how many, and the ways of most of them."""

    title: str
    orders: int
    ways: Sequence[Way]
    is_open: bool

    @property
    def more(self) -> int:
        """The orders whose ways are not shown."""
        return self.orders - sum(way.orders for way in self.ways)


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def backtests(request: HttpRequest) -> HttpResponse:
    """Show the backtests and a form to ask for one; a POST asks."""
    principal, errors = principal_of_page(request), list[tuple[str, str]]()
    may_ask = principal.can(WRITES)
    if request.method == "POST":
        if not may_ask:
            raise PermissionDenied(WRITES)
        try:
            return HttpResponseRedirect(_address(_asked(request)))
        except Invalid as refusal:
            errors = [(error.pointer, explained(error)) for error in refusal.errors]
    asked = request.POST if errors else request.GET
    profiles = list(Profile.objects.order_by("code").values_list("code", flat=True))
    context = {
        "section": "profiles",
        "may_ask": may_ask,
        "errors": errors,
        "profiles": profiles,
        "profile": asked.get("profile") or ("default" if "default" in profiles else ""),
        "others": asked.getlist("others"),
        "days": asked.get("days") or DAYS,
        "most_days": MOST_DAYS,
        "rows": [(row, _headline(row)) for row in backtests_visible(principal)[:SHOWN]],
    }
    status = HTTPStatus.BAD_REQUEST if errors else HTTPStatus.OK
    return shown(request, "backtests.html", context, status=status)


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def backtest(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show how far a backtest is, or its result; a POST gives it up."""
    principal, row = principal_of_page(request), _visible(request, pk)
    if request.method == "POST":
        if not principal.can(WRITES):
            raise PermissionDenied(WRITES)
        backtest_give_up(backtest=row)
        messages.success(request, _("The backtest is deleted."))
        return HttpResponseRedirect(reverse("console:backtests"))
    working = row.state in (State.QUEUED, State.RUNNING)
    if "HX-Request" in request.headers and not working:
        return HttpResponse(headers={"HX-Refresh": "true"})  # it is done: the whole page is another one
    result = _result(row)
    asked_on = timezone.localtime(row.created_at, ZoneInfo(settings.BILLING_ZONE)).date()
    draft = next((policy["body"] for policy in row.policies if policy["name"] == DRAFT), None)
    context = {
        "section": "profiles",
        "row": row,
        "since": asked_on - timedelta(days=row.days),
        "until": asked_on - timedelta(days=1),
        "may_ask": principal.can(WRITES),
        "working": working,
        "late": row.state == State.QUEUED and row.created_at < timezone.now() - LATE,
        "failure": _(row.failure) if row.failure else "",
        "result": result,
        "sentences": _sentences(row, result) if result else (),
        "courses": list(_courses(result)) if result else (),
        "groups": list(_groups(result)) if result else (),
        "moved": list(_moved(result)) if result else (),
        "against": _("against %(profile)s") % {"profile": row.profile},
        "by": ", ".join(f"{code} ({count:,})" for code, count in sorted(result.decided_by.items())) if result else "",
        "draft": draft,
        "differences": () if draft is None else differing(row.policies[0]["body"], draft),
    }
    return shown(request, "backtest.html", context)


@page()
@require_GET
def backtest_file(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the result as a table: a row for each course, a column for each charge type, ISP and region."""
    row = _visible(request, pk)
    result = _result(row)
    if result is None:
        raise Http404
    groups = list(_groups(result))
    heads = [
        _("decided by"),
        _("added a month, %(currency)s") % {"currency": result.currency},
        _("against %(profile)s") % {"profile": row.profile},
        _("orders"),
        _("elsewhere than in truth"),
        _("no place"),
        _("not decided"),
        _("overloaded time, percent"),
        *(f"{group['title']}: {name}" for group in groups for name, _amounts, _difference in group["rows"]),
    ]
    rows = [
        [
            course.title,
            course.report.added,
            round(course.difference, 2),
            result.orders,
            course.report.moved,
            course.report.unplaced,
            course.report.failed,
            course.overloaded,
            *(amounts[place] for group in groups for _name, amounts, _difference in group["rows"]),
        ]
        for place, course in enumerate(_courses(result))
    ]
    name = f"backtest-{row.profile}-{timezone.localtime(row.created_at):%Y-%m-%d-%H%M}"
    return table_file(request, name, heads, rows)


def _asked(request: HttpRequest) -> Backtest:
    """Ask for the backtest that the form describes; raises Invalid, and Http404 without such a profile."""
    profile = named(
        Profile.objects.select_related("active"),
        request.POST.get("profile", ""),
        sentence=_("There is no profile %(name)s."),
        route="console:profile",
    )
    others = [code for code in request.POST.getlist("others") if code != profile.code]
    return backtest_create(
        profile=profile,
        days=whole_number(request.POST.get("days", "")),
        principal=principal_of_page(request),
        others=others,
    )


def _visible(request: HttpRequest, pk: UUID) -> Backtest:
    row = backtests_visible(principal_of_page(request)).filter(pk=pk).first()
    if row is None:
        raise Http404(_("There is no such backtest"))
    return row


def _address(row: Backtest) -> str:
    return reverse("console:backtest", args=[row.pk])


def _result(row: Backtest) -> BacktestResult | None:
    return None if row.result is None else convert(row.result, BacktestResult)


def _headline(row: Backtest) -> str:
    """Return the first sentences of the result, for the list."""
    result = _result(row)
    return " ".join([*_sentences(row, result)][:2]) if result else ""


def _sentences(row: Backtest, result: BacktestResult) -> Iterator[str]:
    """Yield what the orders would have added under the draft or profile, beside what is in force and what was done."""
    base, *others = result.courses
    asked = next((course for course in others if course.name == DRAFT), base)
    said = ngettext(
        "The one order of the last %(days)d days would have added %(added)s %(currency)s a month under %(what)s.",
        "The %(orders)d orders of the last %(days)d days would have added %(added)s %(currency)s a month under "
        "%(what)s.",
        result.orders,
    )
    yield said % {
        "orders": result.orders,
        "days": result.days,
        "added": f"{asked.added:,.0f}",
        "currency": result.currency,
        "what": row.profile if asked is base else _("the draft of %(profile)s") % {"profile": row.profile},
    }
    if asked is not base:
        yield _against(asked.added - base.added, base.added, result.currency, _("under what is in force"))
    elif others:
        cheapest = min(result.courses, key=lambda course: (course.unplaced + course.failed, course.added))
        said = _("Of the profiles side by side, %(name)s is the cheapest that places the most: %(added)s.")
        yield said % {"name": cheapest.name, "added": f"{cheapest.added:,.0f}"}
    if result.done is not None:
        done = result.done.added
        yield _against(asked.added - done, done, result.currency, _("what was really done has added"))
    yield from _cautions(asked, base if asked is not base else result.done)


def _against(difference: float, other: float, currency: str, what: str) -> str:
    """Return how much more or less that is than something else."""
    if abs(difference) < CENT:
        said = _("That is as much as %(what)s: %(other)s.")
    elif difference > 0:
        said = _("That is %(amount)s %(currency)s more than %(what)s: %(other)s.")
    else:
        said = _("That is %(amount)s %(currency)s less than %(what)s: %(other)s.")
    return said % {"amount": f"{abs(difference):,.0f}", "currency": currency, "what": what, "other": f"{other:,.0f}"}


def _cautions(asked: CourseReport, other: CourseReport | None) -> Iterator[str]:
    """Yield what the sums do not say: orders without a place cost nothing."""
    without = asked.unplaced + asked.failed
    if other is not None and without > other.unplaced + other.failed:
        said = ngettext(
            "But %(count)d order finds no place under it, and costs nothing.",
            "But %(count)d orders find no place under it, and cost nothing.",
            without,
        )
        yield said % {"count": without}


def _courses(result: BacktestResult) -> Iterator[CourseRow]:
    """Yield the profile, the draft, the other profiles, what was done, and the optimum."""
    base, *others = result.courses
    draft = [course for course in others if course.name == DRAFT]
    rest = sorted((course for course in others if course.name != DRAFT), key=lambda course: course.added)
    listed = [base, *draft, *rest, *filter(None, [result.done, result.optimum])]
    most = max(course.added for course in listed)
    for course in listed:
        yield CourseRow(
            title=_title(result, course),
            report=course,
            is_base=course is base,
            is_draft=course.name == DRAFT,
            difference=course.added - base.added,
            share=max(0.0, 100 * course.added / most) if most > 0 else 0.0,
            overloaded=round(course.congested / 100, 2),
        )


def _moved(result: BacktestResult) -> Iterator[Moved]:
    """Yield where orders would stand instead: of the draft against the profile, then of all against the truth."""
    base = result.courses[0]
    for course in result.courses:
        if course.ways_from_first and course.name == DRAFT:
            yield Moved(
                title=_("From where %(one)s puts them to where %(other)s does")
                % {"one": base.name, "other": _title(result, course)},
                orders=course.moved_from_first,
                ways=course.ways_from_first[:WAYS],
                is_open=True,
            )
    for course in result.courses:
        if course.ways:
            yield Moved(
                title=_("From where they really stood to where %(other)s puts them")
                % {"other": _title(result, course)},
                orders=course.moved,
                ways=course.ways[:WAYS],
                is_open=False,
            )


def _title(result: BacktestResult, course: CourseReport) -> str:
    if course is result.done:
        return _("what was really done")
    if course is result.optimum:
        return _("the cheapest that was found")
    if course.name == DRAFT:
        return _("the draft")
    return course.name


def _groups(result: BacktestResult) -> Iterator[Mapping[str, Any]]:
    """Yield what each course adds by charge type, by ISP and by region: a name, all amounts, the draft's difference.

    Where there is a draft, what differs most comes first, else the largest amounts.
    """
    courses = list(_courses(result))
    draft = next((place for place, course in enumerate(courses) if course.is_draft), None)
    kinds: Sequence[tuple[str, Mapping[str, str], Sequence[Mapping[str, float]]]] = (
        (_("charge type"), _labels(), [course.report.by_charge_type for course in courses]),
        (_("ISP"), _names(Isp), [course.report.by_isp for course in courses]),
        (_("region"), _names(Region), [course.report.by_region for course in courses]),
    )
    for title, names, sums in kinds:
        rows = []
        for key in sorted({key for amounts in sums for key in amounts}):
            amounts = [each.get(key, 0.0) for each in sums]
            rows.append((names.get(key, key), amounts, None if draft is None else amounts[draft] - amounts[0]))
        rows.sort(key=lambda row: (-abs(row[2] or 0.0), -max(row[1])))
        if rows:
            yield {"title": title, "rows": rows}


def _labels() -> Mapping[str, str]:
    return {str(value): str(label) for value, label in ChargeType.choices}


def _names(model: type[Isp] | type[Region]) -> Mapping[str, str]:
    return {code: name_shown(name) or code for code, name in model.objects.values_list("code", "name")}
