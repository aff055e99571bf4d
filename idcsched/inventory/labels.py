"""An IDC as selectors see it: its own labels, and its facts under `idc/…`."""

from collections.abc import Mapping
from dataclasses import dataclass

from .models import Idc, Region

__all__ = ["RegionTree", "idc_labels"]


@dataclass(frozen=True, slots=True)
class RegionTree:
    """Every region's code, and the code of its parent."""

    parents: Mapping[str, str | None]

    @classmethod
    def read(cls) -> "RegionTree":
        """As it stands in the database; one query."""
        return cls(dict(Region.objects.order_by().values_list("code", "parent__code")))

    def lineage(self, code: str) -> tuple[str, ...]:
        """The region and its ancestors, nearest first."""
        found: list[str] = []
        here: str | None = code
        while here is not None and here not in found:
            found.append(here)
            here = self.parents.get(here)
        return tuple(found)


def idc_labels(idc: Idc, tree: RegionTree) -> dict[str, str | frozenset[str]]:
    """All that a selector can match. Empty facts are missing, as labels can be."""
    facts: dict[str, str | frozenset[str]] = {
        "idc/code": idc.code,
        "idc/region": frozenset(tree.lineage(idc.region.code)),
        "idc/isp": frozenset(line.isp.code for line in idc.lines.all()),
        "idc/tier": idc.tier,
        "idc/partition": idc.partition,
        "idc/provider": idc.provider,
    }
    return {**idc.labels, **{key: value for key, value in facts.items() if value}}
