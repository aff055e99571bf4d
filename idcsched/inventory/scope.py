"""Region scopes: a principal may write everywhere, or only in the named regions and their sub-regions."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.writing import below
from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _

from .choices import AffinityKind
from .labels import RegionTree
from .models import Affinity, Idc, Region, RegionScope, Taint

__all__ = ["concerned", "idcs_within", "regions_by_user", "regions_check", "scope_check", "scope_check_many", "scoped"]


def scoped(principal: Principal) -> Principal:
    """Return the principal with its regions: None for administrators, and for operators without region scopes."""
    if principal.role != Role.OPERATOR:
        return principal
    scopes = RegionScope.objects.filter(user_id=principal.user_id).order_by("region__code")
    codes = tuple(scopes.values_list("region__code", flat=True))
    return replace(principal, regions=codes or None)


def regions_by_user() -> dict[int, tuple[str, ...]]:
    """Return the regions of every user with region scopes, by the user's key."""
    regions: dict[int, tuple[str, ...]] = {}
    for user, code in RegionScope.objects.order_by("region__code").values_list("user_id", "region__code"):
        regions[user] = (*regions.get(user, ()), code)
    return regions


def idcs_within(codes: Iterable[str]) -> frozenset[int]:
    """Return the keys of all IDCs in these regions and their sub-regions."""
    tree, outer = RegionTree.read(), frozenset(codes)
    inside = [code for code in tree.parents if not outer.isdisjoint(tree.lineage(code))]
    return frozenset(Idc.objects.filter(region__code__in=inside).values_list("pk", flat=True))


def concerned(mark: Taint | Affinity) -> Idc | None:
    """Return the one IDC that the mark can affect; None stands for others, too: `require` rejects all but its own."""
    return None if isinstance(mark, Affinity) and mark.kind == AffinityKind.REQUIRE else mark.idc


def regions_check(principal: Principal, codes: Iterable[str] | None) -> None:
    """Raise Forbidden `region_not_allowed` unless all these regions lie in the principal's; None is everywhere."""
    if principal.regions is None:
        return
    if codes is None:
        raise Forbidden("region_not_allowed", _("this concerns IDCs outside of your regions"))
    tree, allowed = RegionTree.read(), frozenset(principal.regions)
    for code in codes:
        if allowed.isdisjoint(tree.lineage(code)):
            raise Forbidden("region_not_allowed", _("{name} lies outside of your regions"), name=code)


def scope_check(principal: Principal, target: Idc | Region | None) -> None:
    """Raise Forbidden `region_not_allowed` unless the target lies in the principal's regions; None is every IDC."""
    scope_check_many(principal, [target])


def scope_check_many(
    principal: Principal, targets: Iterable[Idc | Region | None], pointers: Iterable[str] = repeat("")
) -> None:
    """Raise Forbidden at the pointer of a target outside of the principal's regions; one query.

    The regions of IDCs must be loaded already.
    """
    if principal.regions is None:
        return
    tree, allowed = RegionTree.read(), frozenset(principal.regions)
    for target, pointer in zip(targets, pointers, strict=False):
        with below(pointer):
            _check(target, tree, allowed)


def _check(target: Idc | Region | None, tree: RegionTree, allowed: frozenset[str]) -> None:
    if target is None:
        raise Forbidden("region_not_allowed", _("this concerns IDCs outside of your regions"))
    region = target.region if isinstance(target, Idc) else target
    if allowed.isdisjoint(tree.lineage(region.code)):
        raise Forbidden("region_not_allowed", _("{name} lies outside of your regions"), name=target.code)
