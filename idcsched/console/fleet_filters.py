"""The filters of the fleet and the order of its table, which the addresses of the overview and of the IDC list hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from idcsched.framework.labels import Mask
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.choices import Status, Tier

from .idc_table import ORDERINGS

__all__ = ["Filters", "filters_of", "options_of", "rows_of"]

MARKS: Final = {
    "tight": gettext_lazy("hardly any room"),
    "tainted": gettext_lazy("tainted"),
    "draining": Status.DRAINING.label,
    "offline": Status.OFFLINE.label,
    "stale": gettext_lazy("stale"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters of the address; `problems` says by field what was ignored because nothing has that name."""

    region: str = ""
    isp: str = ""
    tier: str = ""
    label: str = ""
    mark: str = ""
    ordering: str = ""
    problems: Mapping[str, str]

    @property
    def any(self) -> bool:
        return any((self.region, self.isp, self.tier, self.label, self.mark))


def filters_of(request: HttpRequest, snapshot: Snapshot) -> Filters:
    """Return the filters that the address names; those that name nothing known are left out and reported."""
    given = {name: request.GET.get(name, "").strip() for name in ("region", "isp", "tier", "label", "mark", "ordering")}
    given["isp"] = snapshot.isps.get(given["isp"], given["isp"])
    known = {
        "region": snapshot.spans,
        "isp": set(snapshot.isps.values()),
        "tier": Tier.values,
        "mark": MARKS,
        "ordering": ORDERINGS,
    }
    sentences = {
        "region": _("There is no region %(name)s."),
        "isp": _("There is no ISP %(name)s."),
        "tier": _("There is no tier %(name)s."),
        "mark": _("There is no mark %(name)s."),
        "ordering": _("The table can't be sorted by %(name)s."),
    }
    problems = {
        name: sentences[name] % {"name": given[name][:60]}
        for name, values in known.items()
        if given[name] and given[name] not in values
    }
    if given["label"] and not snapshot.idcs.label(given["label"].partition("=")[0].strip()).postings:
        problems["label"] = _("No IDC has the label %(name)s.") % {"name": given["label"].partition("=")[0][:60]}
    return Filters(**{name: value for name, value in given.items() if name not in problems}, problems=problems)


def rows_of(filters: Filters, snapshot: Snapshot) -> Mask:
    """Return the rows of the filters' region, tier and label."""
    rows: Mask = np.ones(snapshot.size, dtype=np.bool_)
    if filters.region:
        start, stop = snapshot.spans[filters.region]
        rows[:start], rows[stop:] = False, False
    if filters.tier:
        rows &= snapshot.idcs.label("idc/tier").mask([filters.tier])
    if filters.label:
        key, equals, value = filters.label.partition("=")
        column = snapshot.idcs.label(key.strip())
        rows &= column.mask([value.strip()]) if equals else column.present
    return rows


def options_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the filters offer: the regions with IDCs, the ISPs of lines, the tiers, the labels, the marks."""
    regions = [
        (code, f"{code} {snapshot.regions[code].name}".rstrip())
        for code, (start, stop) in sorted(snapshot.spans.items())
        if stop > start
    ]
    labels = {f"{key}={value}" for own in snapshot.idcs.labels for key, value in own.items()}
    return {
        "regions": regions,
        "isps": sorted(set(snapshot.lines.isps)),
        "tiers": Tier.choices,
        "labels": sorted(labels)[:200],
        "marks": MARKS.items(),
    }
