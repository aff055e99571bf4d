from idcsched.accounts.models import User
from idcsched.accounts.selectors import user_named
from idcsched.audit.writing import row_create, row_delete, write
from idcsched.inventory.models import Region, RegionScope
from idcsched.inventory.selectors import region_named

__all__ = ["region_scope_create", "region_scope_delete"]


@write()
def region_scope_create(*, user: User | str, region: Region | str) -> RegionScope:
    """Let an operator write in this region; an operator with any region scope may not write elsewhere.

    Raises Invalid, Conflict.
    """
    region = region_named(region, "/region") if isinstance(region, str) else region
    return row_create(RegionScope(user=user_named(user, "/user"), region=region))


@write()
def region_scope_delete(*, region_scope: RegionScope) -> None:
    """Remove a region scope; an operator without any may write everywhere. Raises NotFound."""
    row_delete(region_scope)
