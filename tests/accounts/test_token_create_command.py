"""`manage.py token_create`."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from idcsched.accounts.models import ApiToken
from idcsched.accounts.services import tenant_create, token_authenticate, user_create
from idcsched.audit.models import Change

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture(autouse=True)
def user():
    tenant_create(code="live-cn")
    return user_create(username="shop", role="portal")


def test_it_works(capsys):
    call_command("token_create", "shop", "orders", "--tenant", "live-cn", "--read-only", "--network", "10.0.0.0/8")
    text = capsys.readouterr().out.strip()
    found = token_authenticate(text=text, address="10.0.0.1", now=timezone.now())
    assert (found.username, found.tenant, found.read_only) == ("shop", "live-cn", True)
    change = Change.objects.get(kind="token")
    assert (change.via, change.message) == ("command", "token_create")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("30d", timezone.now() + timedelta(days=30), timezone.now() + timedelta(days=31)),
        ("2130-01-31T00:00Z", None, None),
        ("2130-01-31T00:00", None, None),
    ],
)
def test_it_expires(text, low, high):
    call_command("token_create", "shop", "orders", "--expires", text)
    found = ApiToken.objects.get().expires_at
    assert found is not None
    assert (low or found) <= found <= (high or found)
    assert low is not None or found.isoformat() == "2130-01-31T00:00:00+00:00"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["nobody", "x"], "There is no user nobody", id="an unknown user"),
        pytest.param(["shop", "x", "--tenant", "y"], "There is no tenant y", id="an unknown tenant"),
        pytest.param(["shop", "x", "--expires", "soon"], "neither a number of days", id="no time"),
        pytest.param(["shop", "x", "--expires", "2030-02-31T00:00"], "neither a number of days", id="no such day"),
        pytest.param(["shop", "x", "--expires", "2001-01-01T00:00Z"], "must expire after", id="in the past"),
        pytest.param(["shop", "x", "--network", "here"], "list of networks", id="no network"),
    ],
)
def test_it_refuses(arguments, message):
    with pytest.raises(CommandError, match=message):
        call_command("token_create", *arguments)
    assert not ApiToken.objects.exists()
