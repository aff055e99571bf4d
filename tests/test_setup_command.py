"""`manage.py setup`: what a new installation begins with."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from idcsched.accounts.models import ApiToken, User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import token_authenticate, user_create
from idcsched.audit.models import Change
from idcsched.inventory.models import Region
from idcsched.inventory.services import region_create

pytestmark = pytest.mark.usefixtures("db")

PASSWORD = "correct horse battery"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def agreed(settings: Settings) -> None:
    settings.CURRENCY, settings.BILLING_ZONE = "EUR", "Europe/Berlin"


@pytest.fixture
def file(tmp_path: Path) -> str:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n", encoding="utf-8")
    return str(file)


def setup(*arguments: str) -> tuple[str, str]:
    """What the command wrote to standard output, and what it said."""
    printed, said = StringIO(), StringIO()
    call_command("setup", *arguments, stdout=printed, stderr=said)
    return printed.getvalue(), said.getvalue()


def regions() -> dict[str, str | None]:
    return dict(Region.objects.values_list("code", "parent__code"))


def test_it_works(file: str) -> None:
    told = ("--currency", "EUR", "--billing-zone", "Europe/Berlin", "--regions", "A, B/B-north,B/B-south")
    printed, said = setup("--admin", "alice", "--password-file", file, *told)

    alice = User.objects.get()
    assert (alice.username, alice.role, alice.is_superuser) == ("alice", Role.ADMIN, True)
    assert alice.check_password(PASSWORD)
    assert regions() == {"A": None, "B": None, "B-north": "B", "B-south": "B"}
    found = token_authenticate(text=printed.strip(), address="192.0.2.1", now=timezone.now())
    assert (found.username, found.read_only) == ("alice", False)
    assert ApiToken.objects.get().expires_at is not None
    changes = Change.objects.filter(kind__in=["user", "token", "region"])
    assert {(change.via, change.message) for change in changes} == {("command", "setup")}
    assert "load_demo" in said
    assert PASSWORD not in said


def test_passwords_that_differ_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter([PASSWORD, "correct horse", PASSWORD, PASSWORD])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("idcsched.management.commands.setup.getpass", lambda _: next(typed))
    _, said = setup("--admin", "alice", "--regions", "A")
    assert "The two differ. Once more:" in said
    assert User.objects.get().check_password(PASSWORD)


def test_a_second_run_leaves_all_as_it_is(file: str) -> None:
    setup("--admin", "alice", "--password-file", file, "--regions", "A")
    changes = Change.objects.count()

    printed, said = setup("--admin", "bob", "--regions", "A")

    assert printed == ""
    assert "There is an administrator already: alice." in said
    assert "There is a token already." in said
    assert Change.objects.count() == changes


def test_it_asks_for_what_no_argument_says(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("\nEurope/Berlin\nA\nalice\n"))
    _, said = setup("--password-file", file)
    assert User.objects.get().username == "alice"
    assert regions() == {"A": None}
    assert "Currency of all prices [EUR]: " in said


def test_it_creates_the_missing_regions_only(file: str) -> None:
    region_create(code="A")
    setup("--password-file", file, "--regions", "A/A-north")
    assert regions() == {"A": None, "A-north": "A"}


def test_an_administrator_who_may_not_log_in_is_none(file: str) -> None:
    User.objects.filter(pk=user_create(username="root", role=Role.ADMIN).pk).update(is_active=False)
    setup("--password-file", file)
    assert User.objects.filter(username="admin").exists()


@pytest.mark.parametrize(
    ("arguments", "typed", "message"),
    [
        pytest.param([], PASSWORD, "no terminal", id="nobody to ask"),
        pytest.param(["--password-file", "/nonexistent"], "", "No such file", id="no such file"),
        pytest.param(["--password-file", "-"], "1234\n", "too short", id="a poor password"),
        pytest.param(["--password-file", "-"], "\n", "too short", id="no password"),
        pytest.param(["--currency", "CNY"], "", "CURRENCY is EUR. Set CURRENCY=CNY", id="another currency"),
        pytest.param(["--billing-zone", "Asia/Shanghai"], "", "Set BILLING_ZONE=Asia/Shanghai", id="another zone"),
        pytest.param(["--regions", "A, no code"], "", "A code starts with", id="a region's name"),
    ],
)
def test_it_refuses(arguments: list[str], typed: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(typed))
    with pytest.raises(CommandError, match=message):
        setup(*arguments)
    assert not User.objects.exists()
    assert not ApiToken.objects.exists()
    assert not Region.objects.exists()


def test_it_asks_for_the_upgrade_first() -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        with pytest.raises(CommandError, match="upgrade"):
            setup()
        transaction.set_rollback(True)
