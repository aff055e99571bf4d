"""The inventory that imports find."""

from tests.inventory.conftest import ct, cu, guangzhou, idc, south

__all__ = ["ct", "cu", "guangzhou", "idc", "south"]
