"""Numbers, scorers and filters in words."""

from collections.abc import Mapping
from typing import Final

from idcsched.framework.answer import Score
from idcsched.framework.messages import Message, _
from idcsched.language.wording import say

__all__ = ["amount", "filter_name", "percent", "raw_text", "scorer_name"]

PRECISE_BELOW: Final = 1000  # from here on decimals are noise

SCORERS: Final[Mapping[str, Message]] = {
    "affinity": _("its match with the wishes"),
    "billing_cost": _("its bill"),
    "cost": _("its cost index"),
    "locality": _("its distance"),
    "network_flow": _("its room"),
    "resource": _("its load"),
    "spread": _("its spread"),
    "taint": _("its taint score"),
}
"""What each built-in scorer judges, in words; an entry with another name goes by that."""
FILTERS: Final[Mapping[str, Message]] = {
    "affinity": _("an operator's affinity"),
    "available": _("status"),
    "extender": _("an outside service"),
    "isp": _("ISP"),
    "labels": _("labels"),
    "metric": _("a metric's limit"),
    "network_flow": _("bandwidth"),
    "partition": _("partition"),
    "region": _("region"),
    "resource": _("load or stock"),
    "spread": _("machines of one owner"),
    "taint": _("taints"),
    "tier": _("tier"),
}
"""For what each built-in plugin takes IDCs out, in words."""
PERCENT, KILOMETRES = _("{percent:.0f} %"), _("{km:,.0f} km")


def amount(value: float | None) -> str:
    """Write a number as short as possible: two decimals at most, and none from 1,000 on."""
    if value is None:
        return "-"
    if abs(value) >= PRECISE_BELOW:
        return f"{value:,.0f}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def raw_text(scorer: str, score: Score) -> str:
    """Return a raw value with its unit; empty where there is none."""
    if score.raw is None:
        return ""
    match scorer:
        case "network_flow" | "resource":
            return percent(score.raw)
        case "locality":
            return say(KILOMETRES, {"km": score.raw})
        case _:
            return amount(score.raw)


def percent(share: float) -> str:
    return say(PERCENT, {"percent": 100 * share})


def scorer_name(name: str) -> str:
    """Return what a scorer judges, in words; its own name where it is not built in."""
    return say(SCORERS[name], {}) if name in SCORERS else name


def filter_name(plugin: str) -> str:
    """Return for what a plugin takes IDCs out, in words; the plugin's name where it is not built in."""
    return say(FILTERS[plugin], {}) if plugin in FILTERS else plugin
