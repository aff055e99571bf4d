"""Region scopes: in which regions an operator may write."""

import pytest

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, Role, principal_of
from idcsched.accounts.services import user_create
from idcsched.framework.errors import Conflict, Forbidden, Invalid
from idcsched.inventory.scope import scope_check, scope_check_many, scoped
from idcsched.inventory.services import (
    idc_create,
    region_create,
    region_delete,
    region_scope_create,
    region_scope_delete,
)

from .recorded import changes, feed

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def olga() -> User:
    return user_create(username="olga", role=Role.OPERATOR)


def seen(user: User) -> Principal:
    return scoped(principal_of(user))


def test_it_works(olga, south, guangzhou, idc):
    north = region_create(code="north")
    scope = region_scope_create(user=olga, region="south")
    assert str(scope) == "olga/south"
    principal = seen(olga)
    assert principal.regions == ("south",)
    for target in (south, guangzhou, idc):
        scope_check(principal, target)
    with pytest.raises(Forbidden) as caught:
        scope_check(principal, north)
    assert (caught.value.code, caught.value.detail) == ("region_not_allowed", "north lies outside of your regions")
    region_scope_delete(region_scope=scope)
    assert ("create", "region_scope", "olga/south") in changes()
    assert ("delete", "region_scope", "olga/south") in changes()
    assert ("tokens", "olga/south") in feed()


def test_a_scope_does_not_reach_upwards(olga, south, guangzhou):
    region_scope_create(user=olga, region=guangzhou)
    with pytest.raises(Forbidden):
        scope_check(seen(olga), south)


def test_without_a_scope_everywhere(olga, idc):
    assert seen(olga).regions is None
    scope_check(seen(olga), idc)
    scope_check(seen(olga), None)


def test_with_a_scope_not_everywhere_at_once(olga, south):
    region_scope_create(user=olga, region=south)
    with pytest.raises(Forbidden) as caught:
        scope_check(seen(olga), None)
    assert caught.value.code == "region_not_allowed"


def test_scopes_bind_operators_alone(olga, south):
    admin = user_create(username="root", role=Role.ADMIN)
    region_scope_create(user=admin, region=south)
    assert seen(admin).regions is None


def test_many_cost_one_query(olga, guangzhou, django_assert_num_queries):
    region_scope_create(user=olga, region="south")
    principal = seen(olga)
    idcs = [idc_create(code=f"gz-{number}", region=guangzhou) for number in range(5)]
    with django_assert_num_queries(1):
        scope_check_many(principal, idcs)


def test_a_region_that_is_a_scope_stays(olga, south):
    region_scope_create(user=olga, region=south)
    with pytest.raises(Conflict) as caught:
        region_delete(region=south)
    assert caught.value.code == "in_use"


def test_an_unknown_region_is_named(olga):
    with pytest.raises(Invalid) as caught:
        region_scope_create(user=olga, region="nowhere")
    assert (caught.value.code, caught.value.errors[0].pointer) == ("unknown_region", "/region")


def test_a_scope_is_there_once(olga, south):
    region_scope_create(user=olga, region=south)
    with pytest.raises(Conflict):
        region_scope_create(user=olga, region=south)
