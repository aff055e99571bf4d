"""The roles, and the capabilities of each, in one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy

from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _

if TYPE_CHECKING:
    from .models import User

__all__ = ["CAPABILITIES", "INSTALLATION_WIDE", "READING", "Principal", "Role", "principal_of", "role_can"]


class Role(TextChoices):
    """The roles from the least to the most powerful; each has the capabilities of those before it."""

    VIEWER = "viewer", gettext_lazy("viewer")
    PORTAL = "portal", gettext_lazy("portal")
    OPERATOR = "operator", gettext_lazy("operator")
    ADMIN = "admin", gettext_lazy("administrator")

    @property
    def rank(self) -> int:
        return list(type(self)).index(self)


CAPABILITIES: Mapping[str, Role] = MappingProxyType(
    {
        "read": Role.VIEWER,
        "own_tokens": Role.VIEWER,
        "schedule": Role.PORTAL,
        "read_all_tenants": Role.OPERATOR,
        "write_taints": Role.OPERATOR,
        "write_affinities": Role.OPERATOR,
        "write_profiles": Role.OPERATOR,
        "write_shapes": Role.OPERATOR,
        "write_metrics": Role.OPERATOR,
        "write_samples": Role.OPERATOR,
        "write_sources": Role.OPERATOR,
        "give_up_placements": Role.OPERATOR,
        "read_accounts": Role.ADMIN,
        "write_inventory": Role.ADMIN,
        "write_tenants": Role.ADMIN,
        "write_tokens": Role.ADMIN,
        "write_users": Role.ADMIN,
    }
)
"""Each capability and the least role that has it."""

INSTALLATION_WIDE = frozenset({"write_profiles", "write_shapes", "write_metrics"})
"""The capabilities that an operator who is bound to regions lacks: they concern IDCs everywhere."""

READING = frozenset({"read", "read_all_tenants", "read_accounts"})
"""The capabilities that a read-only token leaves."""


@cache  # called for every request
def role_can(role: Role | str, capability: str) -> bool:
    """Whether the role has the capability; raises KeyError for one that does not exist."""
    return Role(role).rank >= CAPABILITIES[capability].rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A caller, with all that decides what the caller may do.

    `tenant`: for which the caller acts by default; `all_tenants`: whether the caller may see and act for every other.
    `regions`: codes of the regions in which the caller may write, sub-regions included; None: everywhere. `token_id`
    None: the caller has a session.
    """

    user_id: int
    username: str
    role: Role
    tenant: str | None = None
    all_tenants: bool = False
    token_id: int | None = None
    read_only: bool = False
    regions: tuple[str, ...] | None = None

    def can(self, capability: str) -> bool:
        if capability == "read_all_tenants":  # the user's tenant and the token's decide, beside the role
            return self.all_tenants
        if self.read_only and capability not in READING:
            return False
        if self.regions is not None and capability in INSTALLATION_WIDE:
            return False
        return role_can(self.role, capability)

    def require(self, capability: str) -> None:
        """Raise Forbidden, with the reason, where the caller lacks the capability."""
        if self.can(capability):
            return
        if self.read_only and role_can(self.role, capability):
            raise Forbidden("read_only_token", _("this token may only read"))
        if role_can(self.role, capability):
            raise Forbidden("region_not_allowed", _("this concerns IDCs outside of your regions"))
        raise Forbidden("role_not_allowed", _("the role {role} may not do this"), role=self.role.value)


def principal_of(user: "User") -> Principal:
    """Return the principal of a user with a session. Region scopes are added by `inventory.scope.scoped`."""
    return Principal(
        user_id=user.pk,
        username=user.username,
        role=Role(user.role),
        tenant=None if user.tenant is None else user.tenant.code,
        all_tenants=user.tenant is None,
    )
