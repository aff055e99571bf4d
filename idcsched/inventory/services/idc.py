from collections.abc import Mapping, Sequence
from typing import Any

from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.inventory.choices import Status, Tier
from idcsched.inventory.models import STOCK_FIELDS, Idc, Region
from idcsched.inventory.selectors import region_named

from .line import lines_create, lines_replace

__all__ = ["idc_create", "idc_delete", "idc_update"]

FIELDS = frozenset(
    {
        "code",
        "name",
        "region",
        "tier",
        "status",
        "partition",
        "labels",
        "provider",
        "latitude",
        "longitude",
        *STOCK_FIELDS,
    }
)


@write()
def idc_create(
    *,
    code: str,
    region: Region | str,
    name: str = "",
    tier: str = Tier.EDGE,
    status: str = Status.ONLINE,
    partition: str = "",
    labels: Mapping[str, str] | None = None,
    provider: str = "",
    latitude: float | None = None,
    longitude: float | None = None,
    stock_cpu: float | None = None,
    stock_memory_gib: float | None = None,
    stock_disk_gib: float | None = None,
    stock_gpu: float | None = None,
    lines: Sequence[Mapping[str, Any]] = (),
) -> Idc:
    """A new IDC with its lines, each as `line_create` takes them; raises Invalid, Conflict."""
    idc = row_create(
        Idc(
            code=code,
            name=name,
            region=_region(region),
            tier=tier,
            status=status,
            partition=partition,
            labels={} if labels is None else labels,
            provider=provider,
            latitude=latitude,
            longitude=longitude,
            stock_cpu=stock_cpu,
            stock_memory_gib=stock_memory_gib,
            stock_disk_gib=stock_disk_gib,
            stock_gpu=stock_gpu,
        )
    )
    lines_create(idc, lines)
    return idc


@write()
def idc_update(*, idc: Idc, changes: Mapping[str, Any]) -> Idc:
    """Set those fields; `lines`, if there, become the IDC's lines, by code. Raises Invalid, NotFound, Conflict."""
    changes = dict(changes)
    lines = changes.pop("lines", None)
    if "region" in changes:
        changes["region"] = _region(changes["region"])
    idc = row_update(idc, changes, allowed=FIELDS)
    if lines is not None:
        lines_replace(idc, lines)
    return idc


@write()
def idc_delete(*, idc: Idc) -> None:
    """Remove an IDC of which nothing was ever taken, with its lines, taints and affinities.

    Raises NotFound, Conflict `in_use` (retire it instead).
    """
    for row in (*idc.lines.all(), *idc.taints.all(), *idc.affinities.all()):
        row_delete(row)
    row_delete(idc)


def _region(region: Region | str) -> Region:
    return region_named(region, "/region") if isinstance(region, str) else region
