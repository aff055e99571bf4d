"""What was changed in the last hour, in words; what one request or command did is one row."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from idcsched.accounts.roles import Principal
from idcsched.accounts.selectors import changes_visible
from idcsched.audit.change_display import kinds
from idcsched.audit.models import Action, Via

__all__ = ["ChangeRow", "changes_folded"]

HOUR: Final = timedelta(hours=1)
LOOKED_AT: Final = 500
"""The most changes that are folded, the latest first."""
ROWS: Final = 8
KINDS: Final = 3
"""How many kinds of rows a folded row names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One change, or all those of one request or command, in words."""

    at: datetime
    sentence: str
    why: str


def changes_folded(principal: Principal, now: datetime) -> tuple[list[ChangeRow], datetime | None]:
    """Return the changes of the last hour that one may see, the newest first, and when the very latest was.

    One query, bounded in rows.
    """
    columns = ("at", "actor", "via", "action", "kind", "key", "request_id", "message")
    latest = list(changes_visible(principal).order_by("-id").values(*columns)[:LOOKED_AT])
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for place, change in enumerate(latest):
        if change["at"] >= now - HOUR:
            command = change["via"] in (Via.COMMAND, Via.TASK, Via.IMPORT)
            one = change["request_id"] or ((change["actor"], change["via"], change["message"]) if command else place)
            groups.setdefault(one, []).append(change)
    names = kinds()
    rows = [_row(group, names) for group in list(groups.values())[:ROWS]]
    return rows, latest[0]["at"] if latest else None


def _row(group: list[Mapping[str, Any]], names: Mapping[str, str]) -> ChangeRow:
    latest = group[0]
    sentence = _sentence(latest, names) if len(group) == 1 else _folded(group, names)
    return ChangeRow(at=latest["at"], sentence=sentence, why=latest["message"])


def _sentence(change: Mapping[str, Any], names: Mapping[str, str]) -> str:
    taint = change["kind"] == "taint"
    what = format_html("<code>{}</code>", change["key"])
    if taint:
        idc, _slash, mark = change["key"].partition("/")
        what = format_html('<code>{}</code> <span class="muted">{}</span>', idc, mark)
    sentences = {
        Action.CREATE: _("{who} tainted {what}") if taint else _("{who} made {kind} {what}"),
        Action.UPDATE: _("{who} changed {kind} {what}"),
        Action.DELETE: _("{who} lifted from {what}") if taint else _("{who} removed {kind} {what}"),
    }
    return format_html(
        sentences[change["action"]],
        who=_bold(change["actor"]),
        kind=names.get(change["kind"], change["kind"]),
        what=what,
    )


def _folded(group: list[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    counts = Counter(names.get(change["kind"], change["kind"]) for change in group)
    actions = {change["action"] for change in group}
    what = ", ".join(f"{count} × {kind}" for kind, count in counts.most_common(KINDS))
    if more := len(group) - sum(count for _kind, count in counts.most_common(KINDS)):
        what += " " + ngettext("and {count} other thing", "and {count} other things", more).format(count=more)
    sentence = (
        _("{who} made {what}")
        if actions == {Action.CREATE}
        else _("{who} removed {what}")
        if actions == {Action.DELETE}
        else _("{who} changed {what}")
    )
    return format_html(sentence, who=_bold(group[0]["actor"]), what=what)


def _bold(text: str) -> str:
    return format_html("<b>{}</b>", text)
