from collections.abc import Mapping
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from idcsched.accounts.models import Tenant, User
from idcsched.accounts.roles import Role
from idcsched.accounts.selectors import tenant_named
from idcsched.audit.services import change_record
from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.framework.errors import Conflict, FieldError, Invalid
from idcsched.framework.messages import Message, _

__all__ = ["user_create", "user_delete", "user_provided", "user_update"]

FIELDS = frozenset(
    {"username", "first_name", "last_name", "email", "role", "tenant", "language", "is_active", "password"}
)
DERIVED = frozenset({"is_staff", "is_superuser"})


@write()
def user_create(
    *,
    username: str,
    password: str | None = None,
    role: Role | str = Role.VIEWER,
    tenant: Tenant | str | None = None,
    email: str = "",
    first_name: str = "",
    last_name: str = "",
    language: str = "",
    is_active: bool = True,
    oidc_subject: str = "",
) -> User:
    """Create a user; without a password or `oidc_subject`, the user can only use tokens. Raises Invalid, Conflict."""
    tenant = tenant_named(tenant, "/tenant")
    _refuse_tenant_of_administrator(role, tenant)
    user = User(
        username=username,
        role=role,
        tenant=tenant,
        email=email,
        first_name=first_name,
        last_name=last_name,
        language=language,
        is_active=is_active,
        oidc_subject=oidc_subject,
        **_derived(role),
    )
    _set_password(user, password)
    return row_create(user)


@write()
def user_update(*, user: User, changes: Mapping[str, Any]) -> User:
    """Set those fields; a new password ends the user's sessions. Raises Invalid, NotFound, Conflict.

    The last active administrator stays one.
    """
    changes = dict(changes)
    password = changes.pop("password", None)
    if "tenant" in changes:
        changes["tenant"] = tenant_named(changes["tenant"], "/tenant")
    if "role" in changes:
        changes |= _derived(changes["role"])
    user = row_update(user, changes, allowed=FIELDS | DERIVED if "role" in changes else FIELDS)
    if {"role", "tenant"} & changes.keys():
        _refuse_tenant_of_administrator(user.role, user.tenant)
    if password is not None:
        _set_password(user, password)
        user.save(update_fields=["password"])
        change_record(kind=user.audit_kind, key=user.audit_key, before={}, after={"password": "changed"})
    _require_administrator()
    return user


@write()
def user_provided(*, subject: str, username: str, role: Role | None, **details: Any) -> User | None:
    """Return the user of that subject at the OpenID provider, made or brought up to date; None if it has no role.

    Whoever was known and has no role any more is left with the least. Raises Invalid, Conflict.
    """
    user = User.objects.filter(oidc_subject=subject).first()
    if user is not None:
        updated = user_update(user=user, changes={"role": role or Role.VIEWER, **details})
        return updated if role else None
    return user_create(username=username, role=role, oidc_subject=subject, **details) if role else None


@write()
def user_delete(*, user: User) -> None:
    """Delete a user with all of its tokens; raises NotFound, Conflict."""
    row_delete(user)
    _require_administrator()


def _refuse_tenant_of_administrator(role: Role | str, tenant: Tenant | None) -> None:
    """Raise Invalid for an administrator with a tenant: as administrators write accounts, it would bound nothing."""
    if role == Role.ADMIN and tenant is not None:
        raise Invalid("tenant_not_allowed", _("an administrator belongs to no tenant"), "/tenant")


def _derived(role: Role | str) -> dict[str, bool]:
    """Return Django's own flags, which let all but portals, which are programs, into the admin."""
    return {"is_staff": role != Role.PORTAL, "is_superuser": role == Role.ADMIN}


def _set_password(user: User, password: str | None) -> None:
    if password is not None:
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise Invalid.of(
                FieldError("/password", item.code or "invalid", Message(" ".join(item.messages)))
                for item in error.error_list
            ) from None
    user.set_password(password)


def _require_administrator() -> None:
    administrators = User.objects.filter(role=Role.ADMIN, is_active=True)
    if not administrators.exists():
        raise Conflict("last_admin", _("somebody must remain an active administrator"))
