"""The services: every write of the inventory is one function."""

from .affinity import affinities_create, affinities_update, affinity_create, affinity_delete, affinity_update
from .idc import idc_create, idc_delete, idc_update, idcs_create, idcs_update
from .isp import isp_create, isp_delete, isp_update, isps_create, isps_update
from .line import line_create, line_delete, line_update, lines_create, lines_update
from .region import region_create, region_delete, region_update, regions_create, regions_update
from .region_scope import region_scope_create, region_scope_delete
from .taint import taint_create, taint_delete, taint_update, taints_create, taints_delete, taints_update

__all__ = [
    "affinities_create",
    "affinities_update",
    "affinity_create",
    "affinity_delete",
    "affinity_update",
    "idc_create",
    "idc_delete",
    "idc_update",
    "idcs_create",
    "idcs_update",
    "isp_create",
    "isp_delete",
    "isp_update",
    "isps_create",
    "isps_update",
    "line_create",
    "line_delete",
    "line_update",
    "lines_create",
    "lines_update",
    "region_create",
    "region_delete",
    "region_scope_create",
    "region_scope_delete",
    "region_update",
    "regions_create",
    "regions_update",
    "taint_create",
    "taint_delete",
    "taint_update",
    "taints_create",
    "taints_delete",
    "taints_update",
]
