"""What each role may do."""

import pytest

from idcsched.accounts.models import Tenant, User
from idcsched.accounts.roles import CAPABILITIES, Principal, Role, principal_of, role_can
from idcsched.framework.errors import Forbidden

MATRIX = {
    "read": "viewer portal operator admin",
    "own_tokens": "viewer portal operator admin",
    "schedule": "portal operator admin",
    "read_all_tenants": "operator admin",
    "write_taints": "operator admin",
    "write_affinities": "operator admin",
    "write_profiles": "operator admin",
    "write_shapes": "operator admin",
    "write_metrics": "operator admin",
    "write_samples": "operator admin",
    "write_sources": "operator admin",
    "give_up_placements": "operator admin",
    "read_accounts": "admin",
    "write_inventory": "admin",
    "write_tenants": "admin",
    "write_tokens": "admin",
    "write_users": "admin",
}


def principal(role: Role, *, read_only: bool = False) -> Principal:
    return Principal(user_id=1, username="u", role=role, read_only=read_only, all_tenants=True)


def test_it_works():
    assert principal(Role.OPERATOR).can("write_taints")
    assert not principal(Role.PORTAL).can("write_taints")


def test_every_capability_stands_in_this_table():
    assert set(MATRIX) == set(CAPABILITIES)


@pytest.mark.parametrize("capability", MATRIX)
@pytest.mark.parametrize("role", Role)
def test_a_role_can(role, capability):
    assert role_can(role, capability) == (role.value in MATRIX[capability].split())


@pytest.mark.parametrize("capability", MATRIX)
def test_a_read_only_token_leaves_an_admin_only_reading(capability):
    assert principal(Role.ADMIN, read_only=True).can(capability) == capability.startswith("read")


def test_an_unknown_capability_is_a_mistake():
    with pytest.raises(KeyError):
        principal(Role.ADMIN).can("write_poems")


@pytest.mark.parametrize(
    ("who", "code"),
    [
        pytest.param(principal(Role.VIEWER), "role_not_allowed", id="too small a role"),
        pytest.param(principal(Role.ADMIN, read_only=True), "read_only_token", id="a token that may only read"),
        pytest.param(principal(Role.VIEWER, read_only=True), "role_not_allowed", id="both: the role is named"),
    ],
)
def test_what_is_required_and_not_there_is_forbidden(who, code):
    with pytest.raises(Forbidden) as caught:
        who.require("write_taints")
    assert caught.value.code == code


def test_what_is_there_is_not_forbidden():
    principal(Role.OPERATOR).require("write_taints")


def test_a_session_is_the_user():
    user = User(pk=7, username="olga", role="operator", tenant=Tenant(code="live-cn"))
    assert principal_of(user) == Principal(user_id=7, username="olga", role=Role.OPERATOR, tenant="live-cn")


def test_a_user_without_a_tenant_belongs_to_all():
    found = principal_of(User(pk=7, username="olga", role="viewer"))
    assert (found.tenant, found.all_tenants) == (None, True)
