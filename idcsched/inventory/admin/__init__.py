"""The admin pages of the inventory, of taints and affinities, and of operators' regions."""

from .places import IDC_PANELS, LINE_LEVELS, IdcAdmin, IspAdmin, LineAdmin, RegionAdmin
from .taints_and_affinities import AffinityAdmin, RegionScopeAdmin, TaintAdmin

__all__ = [
    "IDC_PANELS",
    "LINE_LEVELS",
    "AffinityAdmin",
    "IdcAdmin",
    "IspAdmin",
    "LineAdmin",
    "RegionAdmin",
    "RegionScopeAdmin",
    "TaintAdmin",
]
