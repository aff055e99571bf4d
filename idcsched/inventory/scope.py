"""Where somebody may write: everywhere, or in the regions that an administrator named, with their sub-regions."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.writing import below
from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _

from .labels import RegionTree
from .models import Idc, Region, RegionScope

__all__ = ["idcs_within", "regions_check", "scope_check", "scope_check_many", "scoped", "scopes_known"]


def scoped(principal: Principal) -> Principal:
    """The principal with its regions. Administrators have none; nor has an operator for whom none was named."""
    if principal.role != Role.OPERATOR:
        return principal
    found = RegionScope.objects.filter(user_id=principal.user_id).order_by("region__code")
    codes = tuple(found.values_list("region__code", flat=True))
    return replace(principal, regions=codes or None)


def scopes_known() -> dict[int, tuple[str, ...]]:
    """The regions of every user for whom some were named."""
    found: dict[int, tuple[str, ...]] = {}
    for user, code in RegionScope.objects.order_by("region__code").values_list("user_id", "region__code"):
        found[user] = (*found.get(user, ()), code)
    return found


def idcs_within(codes: Iterable[str]) -> frozenset[int]:
    """The keys of all IDCs in these regions and their sub-regions."""
    tree, wanted = RegionTree.read(), frozenset(codes)
    inside = [code for code in tree.parents if not wanted.isdisjoint(tree.lineage(code))]
    return frozenset(Idc.objects.filter(region__code__in=inside).values_list("pk", flat=True))


def regions_check(principal: Principal, codes: Iterable[str] | None) -> None:
    """Raises Forbidden `region_not_allowed` unless all these regions lie in the principal's; None is everywhere."""
    if principal.regions is None:
        return
    if codes is None:
        raise Forbidden("region_not_allowed", _("this concerns IDCs outside of your regions"))
    tree, allowed = RegionTree.read(), frozenset(principal.regions)
    for code in codes:
        if allowed.isdisjoint(tree.lineage(code)):
            raise Forbidden("region_not_allowed", _("{name} lies outside of your regions"), name=code)


def scope_check(principal: Principal, target: Idc | Region | None) -> None:
    """Raises Forbidden `region_not_allowed` where the target lies outside; None stands for every IDC there is."""
    scope_check_many(principal, [target])


def scope_check_many(
    principal: Principal, targets: Iterable[Idc | Region | None], pointers: Iterable[str] = repeat("")
) -> None:
    """The same for many, with one query; IDCs bring their regions with them. The refusal has the target's pointer."""
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
