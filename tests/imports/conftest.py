"""The inventory that is there before the imports."""

from tests.inventory.conftest import ct, cu, guangzhou, idc, south

__all__ = ["ct", "cu", "guangzhou", "idc", "south"]
