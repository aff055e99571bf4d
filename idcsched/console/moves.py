"""The moves that would save money, at `/console/moves/`: the latest advice as a list and as a file, and what people did
with the moves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import accumulate
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from idcsched.accounts.roles import Principal
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, NotFound
from idcsched.framework.snapshot import Snapshot
from idcsched.language.wording import explained
from idcsched.placement.lifecycle import HOLDING, State
from idcsched.placement.models import Placement
from idcsched.placement.selectors import placements_visible
from idcsched.placement.services import Destination, placement_move
from idcsched.planning.advice import Advice, Move
from idcsched.planning.choosing import chosen as chosen_moves
from idcsched.planning.models import MoveState
from idcsched.planning.moves import CENTS, LEAST, saving_check
from idcsched.planning.selectors import advice_run_failed, advice_run_open, advice_shown, move_answers_visible
from idcsched.planning.services import advice_ask, move_answer, move_answer_withdraw
from idcsched.planning.weeks import WEEKS
from idcsched.scheduling.live import live

from .files import table_file
from .moves_filters import MOST, Filters, filters_of, regions_of
from .order_words import NO_SUCH
from .pages import MAX_MESSAGE, console_origin, page, principal_of_page, shown
from .week_picture import Week, weeks_of

__all__ = ["moves", "moves_file", "moves_sentence"]

WRITES: Final = "write_profiles"
"""Who may have advice computed, as in the API."""
ANSWERS: Final = "schedule"
"""Who may say what was done with a move, as in the API."""
RESERVE: Final = "reserve"
"""What the form says to reserve a move's new place."""
HELD_SECONDS: Final = 86_400
"""For how long it is held until it is confirmed."""
ANSWERED: Final = 50
"""The most moves that are done, and that are declined, on the page."""
LIMIT: Final = 20
"""The moves of the list, unless the address says how many."""
LATE: Final = timedelta(minutes=1)
"""After so long without a worker, the page says so."""
SHARES: Final = (
    (0.9, gettext_lazy("nine tenths")),
    (0.75, gettext_lazy("three quarters")),
    (2 / 3, gettext_lazy("two thirds")),
    (0.5, gettext_lazy("half")),
)
"""The shares of a sum that have a name, the largest first."""
SURE: Final = {
    "optimal": gettext_lazy("searched to the end: by its formula no other moves save more"),
    "time_limit": gettext_lazy("time ran out, so others may save more"),
    "nothing_found": gettext_lazy("time ran out before anything cheaper was found"),
    "nothing_to_move": gettext_lazy("there was no placement to look at"),
}
"""How sure the advice is, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow:
    """What a move changes on a line, with the levels as places on a bar that is as long as what was bought."""

    idc: str
    line: str
    left: bool
    purchased: float
    before: float | None
    after: float | None
    at_before: str
    at_after: str
    percent: int | None
    bill_before: float | None
    bill_after: float | None
    week: Week | None

    @property
    def change(self) -> float | None:
        return None if self.bill_before is None or self.bill_after is None else self.bill_after - self.bill_before


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRow:
    """A move of the list: what it saves with those above it, and whether its order still stands there."""

    number: int
    move: Move
    together: float
    ordered_at: datetime | None
    stands: bool
    moving: UUID | None
    """The placement that holds the new place, while it is being moved."""
    lines: Sequence[LineRow]

    @property
    def has_weeks(self) -> bool:
        """Whether the week of one of its lines is drawn."""
        return any(line.week is not None for line in self.lines)

    @property
    def weeks(self) -> str:
        """Return in words in how many of the last weeks it would have saved; nothing where none is known."""
        saved, known = self.move.weeks_saved, self.move.weeks_known
        if saved is None or not known:
            return ""
        said = ngettext(
            "would have saved in %(saved)d of the %(known)d week that is known",
            "would have saved in %(saved)d of the %(known)d weeks that are known",
            known,
        )
        if known == WEEKS:
            said = _("would have saved in %(saved)d of the last %(known)d weeks")
        return said % {"saved": saved, "known": known}

    @property
    def doubtful(self) -> bool:
        """Whether it would have saved in none or one of the last weeks, of two or more that are known."""
        saved, known = self.move.weeks_saved, self.move.weeks_known
        return saved is not None and known is not None and known > 1 >= saved


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def moves(request: HttpRequest) -> HttpResponse:
    """Show the moves, the commits that are too high, and the lines that fill up.

    A POST has them worked out anew, notes what was done with one of them, or reserves its new place.
    """
    principal, now, error = principal_of_page(request), timezone.now(), ""
    may_ask = principal.all_tenants and principal.can(WRITES)
    if request.method == "POST":
        try:
            said = _answered(request) if "placement" in request.POST else _asked(principal, may_ask=may_ask)
        except IdcschedError as refusal:
            error = explained(refusal)
        else:
            messages.success(request, said)
            return HttpResponseRedirect(request.get_full_path())
    working = advice_run_open(now)
    if "HX-Request" in request.headers and working is None:
        return HttpResponse(headers={"HX-Refresh": "true"})  # it is done: the whole page is another one
    advice, snapshot = advice_shown(principal), live.catch_up().snapshot
    filters = filters_of(request, principal, snapshot)
    chosen = chosen_moves(advice.moves, filters.choice, snapshot, now)
    rows = list(_rows(chosen[: LIMIT if filters.limit is None else filters.limit], snapshot))
    context = {
        "section": "moves",
        "advice": advice,
        "sentence": moves_sentence(advice),
        "expected": expected_sentence(advice),
        "made": advice.made[:ANSWERED],
        "made_sentence": made_sentence(advice),
        "chosen": _chosen_sentence(rows, len(chosen), len(advice.moves), advice.currency, filters),
        "sure": SURE.get(advice.status, ""),
        "working": working,
        "late": working is not None and working.started_at is None and working.asked_at < now - LATE,
        "failed": advice_run_failed() if working is None else None,
        "may_ask": may_ask,
        "may_answer": principal.can(ANSWERS),
        "error": error,
        "refused": request.POST.get("placement", "") if error else "",
        "reason": request.POST.get("message", "")[:MAX_MESSAGE] if error else "",
        **_answers(principal),
        "filters": filters,
        "limit": LIMIT if filters.limit is None else filters.limit,
        "rows": rows,
        "more": len(chosen) - len(rows),
        "all": f"?{urlencode({**filters.parameters, 'limit': min(len(chosen), MOST)})}",
        "file": f"{reverse('console:moves_file')}?{filters.query}",
        "regions": regions_of(snapshot),
        "isps": sorted(set(snapshot.isps.values())),
        "tenants": sorted({move.tenant for move in advice.moves}) if principal.all_tenants else (),
    }
    return shown(request, "moves.html", context, status=HTTPStatus.CONFLICT if error else HTTPStatus.OK)


def _asked(principal: Principal, *, may_ask: bool) -> str:
    """Have the advice computed anew; return what is said then."""
    if not may_ask:
        raise PermissionDenied(WRITES)
    advice_ask(actor=principal.username)
    return _("It is being worked out. That takes about a minute.")


def _answered(request: HttpRequest) -> str:
    """Note what the form says was done with a move; return what is said then."""
    principal, state = principal_of_page(request), request.POST.get("state", "")
    principal.require(ANSWERS)
    try:
        placement = UUID(request.POST["placement"])
    except ValueError:
        raise BadRequest("no such placement") from None
    with console_origin(request):
        if state == RESERVE:
            return _reserved(request, placement)
        if state == "open":
            move_answer_withdraw(placement=placement, principal=principal)
            return _("It may be proposed again: from the next advice on, if it still saves money.")
        if state not in MoveState.values:
            raise BadRequest("no such state")
        reason = request.POST.get("message", "").replace("\x00", "").strip()[:MAX_MESSAGE]
        move_answer(placement=placement, state=MoveState(state), reason=reason, principal=principal)
    if state == MoveState.DONE:
        return _("Noted as done. It is proposed no more, and stands below with what it promised.")
    return _("Noted. It is proposed no more until you take that back, below.")


def _reserved(request: HttpRequest, placement: UUID) -> str:
    """Reserve the new place of a move that still saves money; return what is said then."""
    principal = principal_of_page(request)
    row = placements_visible(principal).select_related("tenant", "idc").filter(pk=placement).first()
    move = next((move for move in advice_shown(principal).moves if move.placement == placement), None)
    if row is None or move is None:
        raise NotFound("not_found", NO_SUCH, kind="placement")
    idc, lines, now = move.target.idc, move.target.lines, timezone.now()
    saving_check(row, idc, lines, LEAST, picture=live.current(), now=now)
    new = placement_move(
        placement=row,
        destination=Destination(idc=idc, lines=lines, ttl_seconds=HELD_SECONDS),
        principal=principal,
        http_request_id=str(getattr(request, "request_id", "")),
        promised=move.saves,
    )
    said = _("{idc} is held until {until}. Start the machines there, then confirm {link}: the old place is given back.")
    link = format_html(
        '<a class="link" href="{}">{}</a>', reverse("console:placement", args=[new.pk]), _("the new placement")
    )
    until = f"{timezone.localtime(new.expires_at):%m-%d %H:%M}" if new.expires_at else ""
    return format_html(said, idc=idc, until=until, link=link)


def _answers(principal: Principal) -> dict[str, Any]:
    """Return what was done and what was declined, the latest first, and what that promised in all."""
    answers = move_answers_visible(principal).select_related("tenant")
    done, declined = (list(answers.filter(state=state)[: ANSWERED + 1]) for state in MoveState)
    placed = _placed([row.placement for row in done])
    rows = [
        (row, convert(row.move, Move), placed.get(row.placement, (None, None))[1] == row.move["from"]["idc"])
        for row in done[:ANSWERED]
    ]
    return {
        "done": rows,
        "done_sentence": _done_sentence(
            [move.saves for _row, move, _stands in rows], rows[0][0].currency if rows else ""
        ),
        "declined": [(row, convert(row.move, Move)) for row in declined[:ANSWERED]],
        "more_answers": max(len(done), len(declined)) > ANSWERED,
        "answered": ANSWERED,
    }


def _done_sentence(promised: Sequence[float], currency: str) -> str:
    if not promised:
        return ""
    said = ngettext(
        "%(count)d move was done; it promised %(amount)s %(currency)s a month.",
        "%(count)d moves were done; together they promised %(amount)s %(currency)s a month.",
        len(promised),
    )
    return said % {"count": len(promised), "amount": f"{sum(promised):,.0f}", "currency": currency}


@page()
@require_GET
def moves_file(request: HttpRequest) -> HttpResponse:
    """Return the chosen moves as a table; without a limit in the address, all of them."""
    principal, snapshot = principal_of_page(request), live.catch_up().snapshot
    advice, filters = advice_shown(principal), filters_of(request, principal, snapshot)
    chosen = chosen_moves(advice.moves, filters.choice, snapshot, timezone.now())
    rows = _rows(chosen[: filters.limit])
    heads = [
        _("order"),
        _("placement"),
        _("tenant"),
        _("business"),
        _("ordered"),
        "Mbps",
        _("machines"),
        _("from IDC"),
        _("from lines"),
        _("to IDC"),
        _("to lines"),
        _("saves a month, %(currency)s") % {"currency": advice.currency},
        _("expected a month, %(currency)s") % {"currency": advice.currency},
        _("with those above, %(currency)s") % {"currency": advice.currency},
        _("weeks in which it would have saved"),
        _("of so many weeks"),
    ]
    day = f"-{timezone.localtime(advice.computed_at):%Y-%m-%d}" if advice.computed_at else ""
    return table_file(request, f"moves{day}", heads, map(_cells, rows))


def _cells(row: MoveRow) -> list[str | float | None]:
    """Return a move as the cells of the file."""
    move = row.move
    return [
        move.request_id,
        str(move.placement),
        move.tenant,
        move.business,
        timezone.localtime(row.ordered_at).strftime("%Y-%m-%d %H:%M") if row.ordered_at else "",
        move.bandwidth_mbps,
        move.machines,
        move.origin.idc,
        " ".join(move.origin.lines),
        move.target.idc,
        " ".join(move.target.lines),
        move.saves,
        move.expected,
        round(row.together, CENTS),
        move.weeks_saved,
        move.weeks_known,
    ]


def moves_sentence(advice: Advice) -> str:
    """Return in a sentence what the moves of the advice would save, and how few bring most of it."""
    count = len(advice.moves)
    if not count:
        return ""
    amount = {"count": count, "amount": f"{advice.saves:,.0f}", "currency": advice.currency}
    said = ngettext(
        "%(count)d move would save %(amount)s %(currency)s a month.",
        "%(count)d moves would save %(amount)s %(currency)s a month.",
        count,
    )
    few = _few([move.saves for move in advice.moves])
    if few is None:
        return said % amount
    first, share = few
    most = ngettext("The first one brings %(share)s of it.", "The first %(first)d bring %(share)s of it.", first)
    return f"{said % amount} {most % {'first': first, 'share': share}}"


def expected_sentence(advice: Advice) -> str:
    """Return in a sentence how much of what the moves promise is to be expected; nothing where the advice is older."""
    factor = advice.expected_factor
    if factor is None or not advice.moves:
        return ""
    given = {
        "amount": f"{sum(move.expected or 0.0 for move in advice.moves):,.0f}",
        "currency": advice.currency,
        "share": f"{factor:.0%}".replace("%", " %"),
        "count": advice.moves_learnt_from,
    }
    if advice.moves_learnt_from is None:
        return _("To be expected of that: %(amount)s %(currency)s, or %(share)s.") % given
    if not advice.moves_learnt_from:
        said = _("To be expected of that: %(amount)s %(currency)s, or %(share)s, until moves that were made say more.")
        return said % given
    said = ngettext(
        "To be expected of that: %(amount)s %(currency)s, or %(share)s, after %(count)d move that was made.",
        "To be expected of that: %(amount)s %(currency)s, or %(share)s, after %(count)d moves that were made.",
        advice.moves_learnt_from,
    )
    return said % given


def made_sentence(advice: Advice) -> str:
    """Return in a sentence what the moves that were made promised, and what they save by now."""
    if not advice.made:
        return ""
    said = ngettext(
        "%(count)d move promised %(promised)s %(currency)s a month; by now it saves %(saves)s.",
        "%(count)d moves promised %(promised)s %(currency)s a month; by now they save %(saves)s.",
        len(advice.made),
    )
    return said % {
        "count": len(advice.made),
        "promised": f"{sum(move.promised for move in advice.made):,.0f}",
        "currency": advice.currency,
        "saves": f"{sum(move.saves for move in advice.made):,.0f}",
    }


def _few(saves: Sequence[float]) -> tuple[int, str] | None:
    """Return how few of the first moves bring half of the sum or more, and which share that is, in words.

    None where it takes more than half of them: then no few stand out.
    """
    total = sum(saves)
    for first, together in enumerate(accumulate(saves[: len(saves) // 2]), start=1):
        share = next((name for least, name in SHARES if together >= least * total), None)
        if share is not None:
            return first, str(share)
    return None


def _chosen_sentence(rows: Sequence[MoveRow], fitting: int, count: int, currency: str, filters: Filters) -> str:
    """Return in a sentence how many moves are shown and what they save; nothing where all are."""
    if not rows or (len(rows) == count and not filters.choice.any):
        return ""
    return _("%(shown)d of %(count)d are shown; together they save %(amount)s %(currency)s a month.") % {
        "shown": len(rows),
        "count": fitting if not filters.choice.any else count,
        "amount": f"{rows[-1].together:,.0f}",
        "currency": currency,
    }


def _rows(chosen: Sequence[Move], snapshot: Snapshot | None = None) -> Iterator[MoveRow]:
    """Yield the rows of the list, with what is known of the placements now.

    With a snapshot the first of them have pictures of their lines' weeks.
    """
    placed = _placed([move.placement for move in chosen])
    moving = dict(
        Placement.objects.filter(replaces__in=[move.placement for move in chosen], state=State.RESERVED).values_list(
            "replaces", "pk"
        )
    )
    sums = accumulate(move.saves for move in chosen)
    for number, (move, together) in enumerate(zip(chosen, sums, strict=True), start=1):
        ordered_at, idc = placed.get(move.placement, (move.ordered_at, None))
        weeks = {} if snapshot is None or number > LIMIT else weeks_of(move, snapshot)
        yield MoveRow(
            number=number,
            move=move,
            together=together,
            ordered_at=ordered_at,
            stands=idc == move.origin.idc,
            moving=moving.get(move.placement),
            lines=[
                LineRow(
                    idc=line.idc,
                    line=line.line,
                    left=line.idc == move.origin.idc and line.line in move.origin.lines,
                    purchased=line.purchased_mbps,
                    before=line.carries_before_mbps,
                    after=line.carries_after_mbps,
                    at_before=_place(line.carries_before_mbps, line.purchased_mbps),
                    at_after=_place(line.carries_after_mbps, line.purchased_mbps),
                    percent=_percent(line.carries_after_mbps, line.purchased_mbps),
                    bill_before=line.bill_before,
                    bill_after=line.bill_after,
                    week=weeks.get((line.idc, line.line)),
                )
                for line in move.lines
            ],
        )


def _placed(placements: Sequence[UUID]) -> Mapping[UUID, tuple[datetime, str | None]]:
    """Return when each placement was ordered, and the IDC in which it stands now; None: in none, or it is leaving."""
    standing = HOLDING - {State.RELEASING}
    rows = Placement.objects.filter(pk__in=placements).values_list("pk", "created_at", "idc__code", "state")
    return {pk: (created_at, idc if state in standing else None) for pk, created_at, idc, state in rows}


def _place(mbps: float | None, purchased: float) -> str:
    return f"{min(100.0, 100 * (mbps or 0.0) / (purchased or 1.0)):.1f}%"


def _percent(mbps: float | None, purchased: float) -> int | None:
    return None if mbps is None or not purchased else round(100 * mbps / purchased)
