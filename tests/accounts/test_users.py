"""Users: each has a role and perhaps a tenant, and the last administrator stays."""

import pytest
from django.db import IntegrityError, transaction

from idcsched.accounts.models import ApiToken, User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import tenant_create, token_issue, user_create, user_delete, user_update
from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid

pytestmark = pytest.mark.usefixtures("db")

PASSWORD = "correct horse battery"


@pytest.fixture
def root() -> User:
    return user_create(username="root", password=PASSWORD, role=Role.ADMIN)


def test_it_works():
    user = user_create(username="olga", password=PASSWORD, role="operator", tenant=tenant_create(code="live-cn"))
    assert user.check_password(PASSWORD)
    change = Change.objects.get(kind="user")
    assert (change.key, change.after["role"], change.after["tenant"]) == ("olga", "operator", "live-cn")
    assert FeedEntry.objects.filter(topic="tokens", key="olga").exists()


def test_a_password_is_never_recorded(root):
    user_update(user=root, changes={"password": "another long phrase"})
    root.refresh_from_db()
    assert root.check_password("another long phrase")
    for change in Change.objects.filter(kind="user"):
        assert PASSWORD not in str(change.after)
        assert root.password not in str(change.after)
    assert Change.objects.filter(kind="user", after={"password": "changed"}).count() == 1


def test_without_a_password_only_tokens_let_in():
    assert not user_create(username="shop", role=Role.PORTAL).has_usable_password()


@pytest.mark.parametrize(
    ("role", "staff", "superuser"),
    [("viewer", True, False), ("portal", False, False), ("operator", True, False), ("admin", True, True)],
)
def test_the_role_decides_who_enters_the_admin(root, role, staff, superuser):
    created = user_create(username="a", role=role)
    changed = user_update(user=user_create(username="b"), changes={"role": role})
    for user in (created, changed):
        assert (user.is_staff, user.is_superuser) == (staff, superuser)


def test_the_superuser_of_djangos_own_command_is_an_administrator():
    assert User.objects.create_superuser("root", password=PASSWORD).role == Role.ADMIN


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"username": ""}, "/username", "required", id="no name"),
        pytest.param({"username": "a b"}, "/username", "wrong_type", id="a name with a blank"),
        pytest.param({"role": "king"}, "/role", "invalid_choice", id="an unknown role"),
        pytest.param({"email": "nowhere"}, "/email", "wrong_type", id="no address"),
        pytest.param({"password": "12"}, "/password", "password_too_short", id="too short a password"),
    ],
)
def test_a_user_is_not_created(fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        user_create(**({"username": "olga"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)


def test_a_user_has_a_name_of_its_own(root):
    with pytest.raises(Conflict) as caught:
        user_create(username="root")
    assert caught.value.code == "already_exists"


@pytest.mark.parametrize("field", ["is_superuser", "is_staff", "id", "date_joined"])
def test_a_field_can_not_be_set(root, field):
    with pytest.raises(Invalid) as caught:
        user_update(user=root, changes={field: True})
    assert caught.value.code == "unknown_field"


def test_a_weak_password_changes_nothing(root):
    with pytest.raises(Invalid):
        user_update(user=root, changes={"email": "root@example.com", "password": "1"})
    root.refresh_from_db()
    assert (root.email, root.check_password(PASSWORD)) == ("", True)


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda user: user_update(user=user, changes={"role": "viewer"}), id="another role"),
        pytest.param(lambda user: user_update(user=user, changes={"is_active": False}), id="locked out"),
        pytest.param(lambda user: user_delete(user=user), id="deleted"),
    ],
)
def test_the_last_administrator_remains(root, act):
    with pytest.raises(Conflict) as caught:
        act(root)
    assert caught.value.code == "last_admin"
    root.refresh_from_db()
    assert (root.role, root.is_active) == (Role.ADMIN, True)
    user_create(username="second", role=Role.ADMIN)
    act(root)


def test_tokens_go_with_their_user(root):
    user = user_create(username="shop", role=Role.PORTAL)
    token_issue(user=user, name="orders")
    user_delete(user=user)
    assert not ApiToken.objects.exists()
    assert Change.objects.filter(kind="user", key="shop", action="delete").count() == 1


def test_the_database_knows_the_roles(root):
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.update(role="king")
