"""The IDCs that do not fit: how near each was, and what it lacks in a few words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, inf, isinf
from typing import Any, Final

from django.utils import timezone
from django.utils.formats import date_format

from idcsched.framework.decision import Decision
from idcsched.framework.messages import Message, _
from idcsched.language.figures import figure_text
from idcsched.language.wording import say
from idcsched.scheduling.in_words import filter_name
from idcsched.scheduling.plugins import registry

from .order_words import name_shown

__all__ = ["Miss", "lacks_shown", "nearest_first", "reason_labels"]

UNKNOWN, TAINTED, NOT_IN_SERVICE, OTHERS = 1.0, 2.0, 3.0, 4.0
"""The order of the misses that cannot be measured; those that can are below 1."""
TAINT: Final = "untolerated_taint"
RANKS: Final = {
    "bandwidth_unknown": UNKNOWN,
    "load_unknown": UNKNOWN,
    "metric_unknown": UNKNOWN,
    TAINT: TAINTED,
    "draining": NOT_IN_SERVICE,
    "not_online": NOT_IN_SERVICE,
    "retired": NOT_IN_SERVICE,
}
SHORT: Final[Mapping[str, Message]] = {
    "not_enough_bandwidth": _("{short_by} Mbps short"),
    "not_enough_stock": _("{short_by} {resource} short"),
    "overloaded": _("{percent} % too busy"),
    "metric_limit": _("{short_by} beyond the limit"),
}
NEEDS_A_MEASUREMENT = _("needs a measurement")
NO_END, UNTIL = _("taint, no end set"), _("taint, until {time}")

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """An IDC that does not fit; `also`: for what else, in words.

    `share`: how much of what is needed there is, in percent; None: that has no measure.
    """

    idc: str
    reason: str
    also: Sequence[str]
    share: str | None
    lacks: str
    taint_reason: str
    rank: float


def nearest_first(rejected: Sequence[Document], outcome: Decision | None) -> list[Miss]:
    """Return the rejections, the nearest miss first; `outcome` knows the taints and why they were set."""
    return sorted((_miss(each, outcome) for each in rejected), key=lambda miss: miss.rank)


def lacks_shown(code: str, detail: Document) -> str:
    """Say in a few words how much is lacking; nothing where that has no measure."""
    return "" if _lacking(code, detail) is None else say(SHORT[code], _figures(detail))


def reason_labels() -> dict[str, str]:
    """Return what the reasons of all plugins are counted as, by their codes."""
    return {reason.code: say(reason.label, {}) for _plugin, reason in registry().reasons()}


def _miss(rejected: Document, outcome: Decision | None) -> Miss:
    code, detail = rejected["code"], rejected.get("detail") or {}
    lacking = _lacking(code, detail)
    reason, ends = _taint(rejected, outcome) if code == TAINT else ("", inf)
    if code == TAINT:
        lacks = say(NO_END, None) if isinf(ends) else say(UNTIL, {"time": _time(ends)})
    elif lacking is not None:
        lacks = lacks_shown(code, detail)
    else:
        lacks = say(NEEDS_A_MEASUREMENT, None) if RANKS.get(code) == UNKNOWN else ""
    return Miss(
        idc=rejected["idc"],
        reason=rejected["reason"],
        also=[filter_name(plugin) for plugin in rejected.get("also") or ()],
        share=None if lacking is None else f"{100 * (1 - lacking):.0f}%",
        lacks=lacks,
        taint_reason=name_shown(reason),
        rank=RANKS.get(code, OTHERS) if lacking is None else lacking,
    )


def _lacking(code: str, detail: Document) -> float | None:
    """Return the part of the need that is missing, or of a value that lies beyond its limit; None: not measurable."""
    short_by = detail.get("short_by")
    whole = detail.get("need") or abs(detail.get("value") or 0.0)
    if code not in SHORT or not short_by or not whole:
        return None
    return float(min(short_by / whole, 1.0))


def _figures(detail: Document) -> dict[str, Any]:
    short_by = detail["short_by"]
    figures = {name: value for name, value in detail.items() if isinstance(value, str)}
    return {
        **figures,
        "short_by": f"{ceil(short_by):,}" if short_by >= 1 else figure_text(float(f"{short_by:.3g}")),
        "percent": figure_text(round(100 * short_by, 1)),
    }


def _taint(rejected: Document, outcome: Decision | None) -> tuple[str, float]:
    """Return why the taint was set, and when it ends."""
    if outcome is None:
        return "", inf
    snapshot, wanted = outcome.cycle.snapshot, (rejected.get("detail") or {}).get("taint")
    taints, row = snapshot.taints, snapshot.idcs.row_of.get(rejected["idc"], -1)
    for number in (taints.idc == row).nonzero()[0].tolist():
        key, value, effect = taints.kinds[taints.kind[number]]
        if wanted in {f"{key}={value}:{effect}", f"{key}:{effect}"} and taints.in_force(outcome.cycle.now)[number]:
            return taints.reasons[number] if taints.reasons else "", taints.ends.item(number)
    return "", inf


def _time(seconds: float) -> str:
    return date_format(timezone.localtime(datetime.fromtimestamp(seconds, UTC)), "m-d H:i")
