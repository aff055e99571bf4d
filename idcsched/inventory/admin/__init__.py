"""The admin pages of the inventory, of taints and affinities, and of operators' regions."""

from .marks import AffinityAdmin, RegionScopeAdmin, TaintAdmin
from .places import IDC_PANELS, LINE_LEVELS, IdcAdmin, IspAdmin, LineAdmin, RegionAdmin

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
