"""Queries on what is taken."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .models import Holding, Resource

__all__ = ["Taken", "holdings_read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What is taken of one holding: `taken` counts against free capacity, `ordered` sums all live orders unfaded."""

    taken: float = 0.0
    ordered: float = 0.0


def holdings_read(*, idc_ids: frozenset[int] | None = None) -> Mapping[tuple[int, int | None, Resource], Taken]:
    """Return what is taken by (IDC, line or None, resource), in these IDCs or in all, with one query."""
    rows = Holding.objects.order_by()
    if idc_ids is not None:
        rows = rows.filter(idc_id__in=idc_ids)
    return MappingProxyType(
        {
            (idc, line, Resource(resource)): Taken(taken=taken, ordered=ordered)
            for idc, line, resource, taken, ordered in rows.values_list(
                "idc_id", "line_id", "resource", "taken", "ordered"
            )
        }
    )
