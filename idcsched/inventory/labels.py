"""The labels by which selectors match an IDC: its own labels, and its facts under `idc/…`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from idcsched.framework.matching import Term

from .models import Idc, Region

__all__ = ["CODE_FACTS", "RegionTree", "idc_labels", "terms_name"]

CODE_FACTS: Mapping[str, str] = MappingProxyType(
    {"idc": "idc/code", "region": "idc/region", "isp": "idc/isp", "provider": "idc/provider"}
)
"""The fact by which a selector names the rows of each kind."""


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
    """Return the labels and facts that a selector can match, ISPs by all their names; empty facts are left out."""
    facts: dict[str, str | frozenset[str]] = {
        "idc/code": idc.code,
        "idc/region": frozenset(tree.lineage(idc.region.code)),
        "idc/isp": frozenset(name for line in idc.lines.all() for name in (line.isp.code, *line.isp.aliases)),
        "idc/tier": idc.tier,
        "idc/partition": idc.partition,
        "idc/provider": idc.provider,
    }
    return {**idc.labels, **{key: value for key, value in facts.items() if value}}


def terms_name(terms: Iterable[Term], fact: str | None, code: str) -> bool:
    """Return whether a term names the row of that code by the fact that stands for its kind; None: no fact does."""
    expressions = (expression for term in terms for expression in term.expressions())
    return any(expression.key == fact and code in (expression.values or ()) for expression in expressions)
