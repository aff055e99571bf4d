from collections.abc import Mapping, Sequence
from typing import Any

from idcsched.audit.bulk import apply_to_each, places, rows_check, rows_insert, rows_update
from idcsched.audit.writing import refuse_unknown, row_delete, table_locked, write
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.labels import RegionTree
from idcsched.inventory.models import Region
from idcsched.inventory.selectors import Names

__all__ = ["region_create", "region_delete", "region_update", "regions_create", "regions_update"]

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
    """Create a region, below `parent` if one is given; raises Invalid, Conflict."""
    document = {
        "code": code,
        "name": name,
        "parent": parent,
        "latitude": latitude,
        "longitude": longitude,
        "labels": {} if labels is None else labels,
    }
    return _create([document], [""])[0]


@write()
def regions_create(*, documents: Sequence[Mapping[str, Any]]) -> list[Region]:
    """Create many regions, all or none, from documents with the arguments of `region_create`, in any order.

    A parent may be one of the new regions. Errors point below the document's place in the list. Raises Invalid,
    Conflict.
    """
    return _create(documents, places(documents))


@write()
def region_update(*, region: Region, changes: Mapping[str, Any]) -> Region:
    """Change a region's fields; raises Invalid, also where the parent lies in the region itself, NotFound, Conflict."""
    return _update([(region, changes)], [""])[0]


@write()
def regions_update(*, updates: Sequence[tuple[Region, Mapping[str, Any]]]) -> list[Region]:
    """Change many regions, all or none, as `region_update` changes one; errors point below the change's place.

    Raises Invalid, also where the parents form a cycle after all changes, NotFound, Conflict.
    """
    return _update(updates, places(updates))


@write()
def region_delete(*, region: Region) -> None:
    """Remove a region that nothing refers to; raises NotFound, Conflict `in_use`."""
    row_delete(region)


def _create(documents: Sequence[Mapping[str, Any]], pointers: Sequence[str]) -> list[Region]:
    names = Names()
    new: dict[str, Region] = {}
    regions = apply_to_each(documents, pointers, lambda document: _new(document, new))
    apply_to_each(
        list(zip(documents, regions, strict=True)),
        pointers,
        lambda pair: setattr(pair[1], "parent", _parent(pair[0].get("parent"), new, names)),
    )
    rows_check(regions, pointers)
    for members in _generations(regions, pointers):
        rows_insert([regions[index] for index in members], [pointers[index] for index in members])
    return regions


def _new(document: Mapping[str, Any], new: dict[str, Region]) -> Region:
    refuse_unknown(document, FIELDS)
    region = Region(**{name: value for name, value in document.items() if name != "parent"})
    new.setdefault(region.code, region)
    return region


def _parent(given: Region | str | None, new: Mapping[str, Region], names: Names) -> Region | None:
    """Return a stored region, else one of the new ones."""
    try:
        return names.region(given, "/parent")
    except Invalid:
        if isinstance(given, str) and given in new:
            return new[given]
        raise


def _generations(regions: Sequence[Region], pointers: Sequence[str]) -> list[list[int]]:
    """Sort the regions into generations, parents first, as indices; raises Invalid where parents form a cycle."""
    waiting = list(range(len(regions)))
    generations: list[list[int]] = []
    saved: set[int] = set()
    while waiting:
        generation = [index for index in waiting if _is_saved(regions[index].parent, saved)]
        if not generation:
            raise Invalid.of(_cycle(regions[index], pointers[index]) for index in waiting)
        generations.append(generation)
        saved |= {id(regions[index]) for index in generation}
        waiting = sorted(set(waiting) - set(generation))
    return generations


def _is_saved(parent: Region | None, saved: set[int]) -> bool:
    return parent is None or parent.pk is not None or id(parent) in saved


def _cycle(region: Region, pointer: str) -> FieldError:
    name = "" if region.parent is None else region.parent.code
    detail = _("{name} is the region itself or lies in it")
    return FieldError(f"{pointer}/parent", "region_cycle", detail, {"name": name})


def _update(updates: Sequence[tuple[Region, Mapping[str, Any]]], pointers: Sequence[str]) -> list[Region]:
    if any("parent" in changes for _, changes in updates):
        table_locked(Region)
    names = Names()
    resolved = apply_to_each(updates, pointers, lambda update: (update[0], _changes(update[1], names)))
    _refuse_cycles(resolved, pointers)
    return rows_update(resolved, allowed=FIELDS, pointers=pointers)


def _changes(changes: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {**changes, **({"parent": names.region(changes["parent"], "/parent")} if "parent" in changes else {})}


def _refuse_cycles(updates: Sequence[tuple[Region, Mapping[str, Any]]], pointers: Sequence[str]) -> None:
    moved = {region.code: changes["parent"] for region, changes in updates if "parent" in changes}
    if not moved:
        return
    new_parents = {code: None if parent is None else parent.code for code, parent in moved.items()}
    tree = RegionTree({**RegionTree.read().parents, **new_parents})

    def refuse(update: tuple[Region, Mapping[str, Any]]) -> None:
        parent = moved.get(update[0].code)
        if parent is not None and update[0].code in tree.lineage(parent.code):
            raise Invalid("region_cycle", _("{name} is the region itself or lies in it"), "/parent", name=parent.code)

    apply_to_each(updates, pointers, refuse)
