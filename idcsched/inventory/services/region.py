from collections.abc import Mapping
from typing import Any

from idcsched.audit.writing import row_create, row_delete, row_update, table_locked, write
from idcsched.framework.errors import Invalid
from idcsched.inventory.labels import RegionTree
from idcsched.inventory.models import Region
from idcsched.inventory.selectors import region_named

__all__ = ["region_create", "region_delete", "region_update"]

FIELDS = frozenset({"code", "name", "parent", "latitude", "longitude", "labels"})


@write()
def region_create(
    *,
    code: str,
    name: str = "",
    parent: Region | str | None = None,
    latitude: float | None = None,
    longitude: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> Region:
    """A new region, below `parent` if there is one; raises Invalid, Conflict."""
    return row_create(
        Region(
            code=code,
            name=name,
            parent=_parent(parent),
            latitude=latitude,
            longitude=longitude,
            labels={} if labels is None else labels,
        )
    )


@write()
def region_update(*, region: Region, changes: Mapping[str, Any]) -> Region:
    """Set those fields; raises Invalid, also where the parent is the region itself or below it, NotFound, Conflict."""
    changes = dict(changes)
    if "parent" in changes:
        table_locked(Region)
        changes["parent"] = parent = _parent(changes["parent"])
        _refuse_cycle(region, parent)
    return row_update(region, changes, allowed=FIELDS)


@write()
def region_delete(*, region: Region) -> None:
    """Remove a region that holds nothing; raises NotFound, Conflict `in_use`."""
    row_delete(region)


def _parent(parent: Region | str | None) -> Region | None:
    return region_named(parent, "/parent") if isinstance(parent, str) else parent


def _refuse_cycle(region: Region, parent: Region | None) -> None:
    if parent is not None and region.code in RegionTree.read().lineage(parent.code):
        raise Invalid("region_cycle", "{name} is the region itself or lies in it", "/parent", name=parent.code)
