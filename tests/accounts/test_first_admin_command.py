"""`manage.py first_admin`."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from idcsched.audit.models import Change

pytestmark = pytest.mark.usefixtures("db")

PASSWORD = "correct horse battery"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n", encoding="utf-8")
    return file


def test_it_works(file: Path) -> None:
    call_command("first_admin", "alice", "--email", "alice@example.com", "--password-file", str(file))
    alice = User.objects.get()
    assert (alice.role, alice.email, alice.is_superuser) == (Role.ADMIN, "alice@example.com", True)
    assert alice.check_password(PASSWORD)
    change = Change.objects.get(kind="user")
    assert (change.via, change.message) == ("command", "first_admin")


def test_with_an_administrator_it_does_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user_create(username="root", role=Role.ADMIN)
    call_command("first_admin", "alice", "--password-file", str(file))
    assert "There is an administrator already: root." in capsys.readouterr().out
    assert [user.username for user in User.objects.all()] == ["root"]


def test_an_administrator_who_may_not_log_in_is_none(file: Path) -> None:
    User.objects.filter(pk=user_create(username="root", role=Role.ADMIN).pk).update(is_active=False)
    call_command("first_admin", "alice", "--password-file", str(file))
    assert User.objects.filter(username="alice").exists()


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        pytest.param([], PASSWORD, "no terminal", id="nobody to ask"),
        pytest.param(["--password-file", "/nonexistent"], "", "No such file", id="no such file"),
        pytest.param(["--password-file", "-"], "1234\n", "too short", id="a poor password"),
        pytest.param(["--password-file", "-"], "\n", "too short", id="no password"),
    ],
)
def test_it_refuses(arguments: list[str], typed: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(typed))
    with pytest.raises(CommandError, match=message):
        call_command("first_admin", "alice", *arguments)
    assert not User.objects.exists()
