"""The second factor: each code counts once, also when two send it at once, and a reset is part of the history."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import get_resolver
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from idcsched.accounts.models import User
from idcsched.accounts.services import (
    second_factor_enrol,
    second_factor_reset,
    second_factor_verify,
    user_create,
    user_update,
)
from idcsched.audit.models import Change

pytestmark = pytest.mark.usefixtures("db")
STEP = 30
PASSWORD = "correct horse battery"  # of this test alone


@pytest.fixture
def ann() -> User:
    _ = get_resolver().url_patterns  # the addresses that there are without settings, before a test has some
    return user_create(username="ann", role="admin", password=PASSWORD)


def code_of(key: str, *, later: int = 0) -> str:
    """Return the code that an app with this key shows so many steps from now."""
    return f"{totp(bytes.fromhex(key), t0=-later * STEP):06}"


def enrolled(user: User) -> tuple[str, list[str]]:
    key = random_hex(20)
    codes = second_factor_enrol(user=user, key=key, code=code_of(key))
    assert len(set(codes)) == 10
    return key, codes


def told(user: User) -> list[Any]:
    """What the history says of the user's second factor."""
    changes = Change.objects.filter(kind="user", key=user.username).order_by("pk")
    return [change.after["second_factor"] for change in changes if "second_factor" in (change.after or {})]


def test_it_works(ann: User) -> None:
    key, codes = enrolled(ann)
    assert second_factor_verify(user=ann, code=code_of(key, later=1)) == 0
    assert second_factor_verify(user=ann, code=codes[3]) == 0
    assert second_factor_reset(user=ann)
    assert not second_factor_reset(user=ann)
    assert told(ann) == ["set up", "recovery code used", "reset"]
    assert not TOTPDevice.objects.exists()
    assert not StaticToken.objects.exists()


def test_a_wrong_code_sets_nothing_up(ann: User) -> None:
    key = random_hex(20)
    assert second_factor_enrol(user=ann, key=key, code=code_of(random_hex(20))) == []
    assert not TOTPDevice.objects.exists()
    assert told(ann) == []


def test_nobody_sets_up_a_second_app_beside_the_first(ann: User) -> None:
    key, codes = enrolled(ann)
    other = random_hex(20)
    assert second_factor_enrol(user=ann, key=other, code=code_of(other)) == []
    assert second_factor_verify(user=ann, code=code_of(other)) == 1
    assert [device.key for device in TOTPDevice.objects.all()] == [key]
    assert StaticToken.objects.count() == len(codes)


def test_somebody_without_one_has_no_right_code(ann: User) -> None:
    assert second_factor_verify(user=ann, code="000000") == 1
    assert second_factor_verify(user=ann, code="abcdefgh") == 1


def test_another_users_codes_do_not_count(ann: User) -> None:
    bob = user_create(username="bob", role="admin")
    enrolled(ann)
    key, codes = enrolled(bob)
    assert second_factor_verify(user=ann, code=code_of(key, later=1)) == 1
    assert second_factor_verify(user=ann, code=codes[0]) == 1


@pytest.mark.both
@pytest.mark.parametrize("recovering", [True, False])
def test_of_two_at_once_one_gets_in(ann: User, recovering: bool) -> None:
    key, codes = enrolled(ann)
    code = codes[0] if recovering else code_of(key, later=1)
    together = Barrier(2)

    def enter(_: int) -> int:
        together.wait()
        try:
            return second_factor_verify(user=ann, code=code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        waits = list(pool.map(enter, range(2)))
    assert sorted(wait > 0 for wait in waits) == [False, True]


def test_a_deleted_user_leaves_nothing_behind(ann: User) -> None:
    user_create(username="root", role="admin")
    enrolled(ann)
    User.objects.get(pk=ann.pk).delete()
    assert not TOTPDevice.objects.exists()


def test_administrators_reset_that_of_others_in_the_admin(ann: User, settings: Any) -> None:
    bob = user_create(username="bob", role="operator")
    enrolled(bob)
    settings.SECOND_FACTOR = "everybody"
    client = Client()
    client.force_login(ann, backend="django.contrib.auth.backends.ModelBackend")
    form = {"action": "reset_second_factor", "_selected_action": bob.pk}
    assert b"reset_second_factor" in client.get("/admin/accounts/user/").content
    answer = client.post("/admin/accounts/user/", form, follow=True, headers={"accept-language": "en"})
    assert "They set up a new one when they sign in next." in answer.content.decode()
    assert told(bob) == ["set up", "reset"]
    assert Change.objects.latest("pk").actor == "ann"


def test_the_command_resets_one(ann: User, capsys: pytest.CaptureFixture[str]) -> None:
    enrolled(ann)
    call_command("second_factor_reset", "ann")
    call_command("second_factor_reset", "ann")
    assert capsys.readouterr().out == "The second factor of ann is deleted.\nann has none.\n"
    assert told(ann) == ["set up", "reset"]
    with pytest.raises(CommandError, match="there is no user nobody"):
        call_command("second_factor_reset", "nobody")


def test_sessions_end_when_a_second_factor_is_needed_from_now_on(ann: User, settings: Any) -> None:
    bob = user_create(username="bob", role="operator")
    sessions = {}
    for user in (ann, bob):
        sessions[user.username] = client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        assert client.get("/admin/").status_code == 200
    settings.SECOND_FACTOR = "administrators"
    assert sessions["ann"].get("/admin/").status_code == 302
    assert sessions["bob"].get("/admin/").status_code == 200
    user_update(user=bob, changes={"role": "admin"})
    assert sessions["bob"].get("/console/").status_code == 302


def test_without_settings_there_is_nothing_of_it(ann: User) -> None:
    """Without the settings there is no page, button or action for a second factor, and one that was set up before is
    not asked for.
    """
    enrolled(ann)
    client = Client()
    login = client.get("/admin/login/").content
    assert b'id="oidc"' not in login
    answer = client.post("/admin/login/", {"username": "ann", "password": PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
    for path in ("second-factor/", "oidc/", "oidc/callback/", "otp_totp/totpdevice/", "otp_static/staticdevice/"):
        assert client.get(f"/admin/{path}").status_code == 404, path
    assert b"reset_second_factor" not in client.get("/admin/accounts/user/").content
