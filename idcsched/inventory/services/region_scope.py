from idcsched.accounts.models import User
from idcsched.accounts.selectors import user_named
from idcsched.audit.writing import row_create, row_delete, write
from idcsched.inventory.models import Region, RegionScope
from idcsched.inventory.selectors import region_named

__all__ = ["region_scope_create", "region_scope_delete"]


@write()
def region_scope_create(*, user: User | str, region: Region | str) -> RegionScope:
    """Let an operator write in this region, too; the first one shuts them out of all others.

    Raises Invalid, Conflict.
    """
    found = region_named(region, "/region") if isinstance(region, str) else region
    return row_create(RegionScope(user=user_named(user, "/user"), region=found))


@write()
def region_scope_delete(*, region_scope: RegionScope) -> None:
    """Take a region away; without the last one an operator may write everywhere. Raises NotFound."""
    row_delete(region_scope)
