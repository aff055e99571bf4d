"""The labels by which selectors match an IDC: its own labels, and its facts under `idc/…`."""

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
        """Read the tree from the database; one query."""
        return cls(dict(Region.objects.order_by().values_list("code", "parent__code")))

    def lineage(self, code: str) -> tuple[str, ...]:
        """Return the region and its ancestors, nearest first."""
        lineage: list[str] = []
        region: str | None = code
        while region is not None and region not in lineage:
            lineage.append(region)
            region = self.parents.get(region)
        return tuple(lineage)


def idc_labels(idc: Idc, tree: RegionTree) -> dict[str, str | frozenset[str]]:
    """Return the labels and facts that a selector can match; empty facts are left out."""
    facts: dict[str, str | frozenset[str]] = {
        "idc/code": idc.code,
        "idc/region": frozenset(tree.lineage(idc.region.code)),
        "idc/isp": frozenset(line.isp.code for line in idc.lines.all()),
        "idc/tier": idc.tier,
        "idc/partition": idc.partition,
        "idc/provider": idc.provider,
    }
    return {**idc.labels, **{key: value for key, value in facts.items() if value}}
