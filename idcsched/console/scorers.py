"""The words, colours and units in which the console shows what each scorer of a profile judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from idcsched.framework.messages import Message, _
from idcsched.framework.profile import Entry, Profile
from idcsched.language.figures import figure_text
from idcsched.language.wording import say
from idcsched.scheduling.in_words import filter_name

__all__ = ["SUMMARIES", "USED_UP", "Scorers", "plugin_words", "scorer_words"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One built-in scorer: what it judges, what an IDC has that it finds worse, and its colour."""

    judges: Message
    worse: Message
    css: str = "s-spread"


KINDS: Final[Mapping[str, Kind]] = {
    "affinity": Kind(_("wishes"), _("less preferred"), "s-wishes"),
    "billing_cost": Kind(_("bill"), _("bill"), "s-bill"),
    "cost": Kind(_("cost index"), _("higher cost index")),
    "locality": Kind(_("distance"), _("farther"), "s-distance"),
    "locality by rtt": Kind(_("latency"), _("slower to reach"), "s-distance"),
    "network_flow": Kind(_("room left"), _("less room"), "s-room"),
    "resource": Kind(_("load"), _("busier"), "s-load"),
    "spread": Kind(_("machines there"), _("more machines there")),
    "taint": Kind(_("soft taints"), _("soft taints"), "s-taint"),
}
SUMMARIES: Final[Mapping[str, Message]] = {
    "affinity": _("Operators' affinities and the request's preferences draw it to IDCs or keep it off."),
    "available": _("Keeps IDCs whose status is online."),
    "billing_cost": _("What this request adds to the bill of the chosen lines, and what it takes up beside."),
    "cost": _("The IDC's cost index as it is."),
    "extender": _("Asks an HTTP service about all survivors of the other filters, in one call."),
    "isp": _("Keeps IDCs that have an eligible line of the wanted ISPs, any of them or all."),
    "labels": _("Keeps IDCs that the request's selector matches; its terms are ORed."),
    "locality": _("Near the client is better."),
    "metric": _(
        "Any named metric, in as many entries as a profile needs; a metric of lines is read from the line that the "
        "request would use."
    ),
    "network_flow": _("The chosen lines must carry the bandwidth; more room left is better."),
    "partition": _("Keeps IDCs of the partition (the operator's own grouping) that the request names."),
    "region": _("The request is about the IDCs of its regions, sub-regions included, and no others."),
    "resource": _("Rejects overloaded IDCs and those whose stock is short; scores load."),
    "spread": _("Keeps a tenant's or a business's machines apart, or together."),
    "taint": _("Rejects IDCs with a hard taint that the request does not tolerate; soft ones cost points."),
    "tier": _("Keeps IDCs of the tier that the request names, edge or center."),
}
"""What each built-in plugin does: the first sentence of its module, here to be translated."""
USED_UP: Final = _("commit and room used up")
VALUES: Final[Mapping[str, Message]] = {
    "locality": _("{value} km"),
    "locality by rtt": _("{value} ms"),
    "network_flow": _("{value} %"),
    "resource": _("{value} %"),
}
STEPS: Final[Mapping[str, tuple[float, Message]]] = {
    "affinity": (10.0, _("a preference of 10 is worth {money}")),
    "billing_cost": (0.0, _("1,000 {currency} a month count {points} points")),
    "locality": (300.0, _("300 km nearer are worth {money}")),
    "locality by rtt": (10.0, _("10 ms less are worth {money}")),
    "network_flow": (
        0.1,
        _(
            # the "% m" here is no field: xgettext: no-python-format
            "10 % more room left is worth {money}"
        ),
    ),
    "resource": (
        0.1,
        _(
            # the "% l" here is no field: xgettext: no-python-format
            "10 % less load is worth {money}"
        ),
    ),
    "taint": (1.0, _("one soft taint less is worth {money}")),
}
"""A natural step of each scorer's raw value, and what is said of its worth."""
TENTH: Final = _("a tenth of its range is worth {money}")
SHARES: Final = frozenset({"network_flow", "resource"})
"""The scorers whose raw values are shares of 1."""
MEASURED: Final = frozenset({"cost", "metric"})
"""The scorers whose raw values are those of a metric, in its unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorers:
    """The scorers of the profile that decided; without it they go by the names of their plugins.

    `units` are those of metrics by their codes.
    """

    profile: Profile | None
    units: Mapping[str, str] = field(default_factory=dict)

    def words(self, name: str) -> str:
        """Return what the scorer judges."""
        kind = self._kind(name)
        return say(kind.judges, None) if kind else name

    def worse(self, name: str) -> str:
        """Return what is worse in an IDC that has fewer points by the scorer."""
        kind = self._kind(name)
        return say(kind.worse, None) if kind else name

    def css(self, name: str) -> str:
        """Return the class of the scorer's colour, which is the same on all pages."""
        kind = KINDS.get(self.plugin(name))
        return kind.css if kind else "s-spread"

    def plugin(self, name: str) -> str:
        """Return the plugin of the scorer; that of `locality` says what it goes by, where that is latency."""
        entry = self.profile.entry(name) if self.profile else None
        return name if entry is None else _plugin(entry)

    def value(self, name: str, raw: float | None, mbps: float = 1.0) -> str:
        """Return a raw value in its unit, that of the bill for `mbps`; a dash where there is none."""
        if raw is None:
            return "–"
        plugin = self.plugin(name)
        if plugin == "billing_cost":
            return f"{raw * mbps:,.0f}"
        if plugin in SHARES:
            return say(VALUES[plugin], {"value": f"{100 * raw:.0f}"})
        if plugin in VALUES:
            return say(VALUES[plugin], {"value": f"{raw:,.0f}"})
        return f"{figure_text(float(f'{raw:.4g}'))} {self._unit(name)}".rstrip()

    def step_words(self, name: str, currency: str) -> str:
        """Return what is to be said of the worth of a natural step, with a place for the amount."""
        _step, words = STEPS.get(self.plugin(name), (0.0, TENTH))
        return say(words, {"money": f"{{money}} {currency}", "points": "{points}", "currency": currency})

    def step_points(self, name: str, scale: Sequence[float] | None) -> float | None:
        """Return by how many of 100 points a natural step moves the score; None: the scale is not fixed."""
        if not scale:
            return None
        step, _words = STEPS.get(self.plugin(name), ((scale[1] - scale[0]) / 10, TENTH))
        return 100 * step / (scale[1] - scale[0])

    def _unit(self, name: str) -> str:
        entry = self.profile.entry(name) if self.profile else None
        if entry is None or entry.plugin.name not in MEASURED:
            return ""
        arguments: Any = entry.plugin.args
        return self.units.get(getattr(arguments, "metric", ""), "")

    def _kind(self, name: str) -> Kind | None:
        """Return the words of a scorer that goes by its plugin's name; another one is called by its own."""
        entry = self.profile.entry(name) if self.profile else None
        plugin = self.plugin(name)
        by_own_name = entry is not None and entry.plugin.name not in {entry.name, "billing_cost"}
        return None if by_own_name else KINDS.get(plugin)


def scorer_words(entry: Entry) -> str:
    """Return what a scorer of a profile judges, in words."""
    kind = KINDS.get(_plugin(entry))
    return say(kind.judges, None) if kind and entry.name == entry.plugin.name else entry.name


def plugin_words(plugin: str, arguments: Mapping[str, Any]) -> str:
    """Return what a plugin judges with those arguments, or takes IDCs out for; empty for one that is not built in."""
    kind = KINDS.get(f"{plugin} by rtt" if arguments.get("by") == "rtt" else plugin)
    if kind is not None:
        return say(kind.judges, None)
    name = filter_name(plugin)
    return "" if name == plugin else name


def _plugin(entry: Entry) -> str:
    plugin = entry.plugin
    return f"{plugin.name} by rtt" if plugin.name == "locality" and plugin.args.by == "rtt" else plugin.name
