"""Changes in words, those of the last hour for the overview; what one request or command did is one row."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from idcsched.accounts.roles import Principal
from idcsched.accounts.selectors import changes_visible
from idcsched.audit.change_display import kinds
from idcsched.audit.models import Action, Change, Via

__all__ = ["ChangeRow", "change_sentence", "changes_folded", "changes_grouped", "group_sentence"]

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
    latest = list(changes_visible(principal).order_by("-id").only(*columns)[:LOOKED_AT])
    groups = changes_grouped(change for change in latest if change.at >= now - HOUR)
    names = kinds()
    rows = [
        ChangeRow(at=group[0].at, sentence=group_sentence(group, names), why=group[0].message)
        for group in groups[:ROWS]
    ]
    return rows, latest[0].at if latest else None


def changes_grouped(changes: Iterable[Change]) -> list[list[Change]]:
    """Return the changes in groups, each all that one request or command did; a group stands where its first does."""
    groups: dict[Any, list[Change]] = {}
    for change in changes:
        command = change.via in (Via.COMMAND, Via.TASK, Via.IMPORT)
        one = change.request_id or ((change.actor, change.via, change.message) if command else change.pk)
        groups.setdefault(one, []).append(change)
    return list(groups.values())


def group_sentence(group: Sequence[Change], names: Mapping[str, str]) -> str:
    """Return what a group did, in a sentence; `names` has those of the kinds."""
    return change_sentence(group[0], names) if len(group) == 1 else _folded(group, names)


def change_sentence(change: Change, names: Mapping[str, str]) -> str:
    """Return what one change was, in a sentence."""
    taint = change.kind == "taint"
    what = format_html("<code>{}</code>", change.key)
    if taint:
        idc, _slash, mark = change.key.partition("/")
        what = format_html('<code>{}</code> <span class="muted">{}</span>', idc, mark)
    sentences = {
        Action.CREATE: _("{who} tainted {what}") if taint else _("{who} made {kind} {what}"),
        Action.UPDATE: _("{who} changed {kind} {what}"),
        Action.DELETE: _("{who} lifted from {what}") if taint else _("{who} removed {kind} {what}"),
    }
    return format_html(
        sentences[Action(change.action)],
        who=_bold(change.actor),
        kind=names.get(change.kind, change.kind),
        what=what,
    )


def _folded(group: Sequence[Change], names: Mapping[str, str]) -> str:
    counts = Counter(names.get(change.kind, change.kind) for change in group)
    actions = {change.action for change in group}
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
    return format_html(sentence, who=_bold(group[0].actor), what=what)


def _bold(text: str) -> str:
    return format_html("<b>{}</b>", text)
