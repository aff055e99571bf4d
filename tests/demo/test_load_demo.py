"""`manage.py load_demo` fills an empty database, once, and tells its users' secrets to nobody else."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.services import token_authenticate
from idcsched.demo.documents import demo
from idcsched.framework.errors import Unauthenticated
from idcsched.inventory.models import Affinity, Idc, Line, Region, Taint
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling.models import Profile
from metrics_ingest.models import BandwidthRollup

pytestmark = pytest.mark.usefixtures("db")

ROLES = ["viewer", "portal", "operator", "admin"]


@pytest.fixture
def load(var: Path, django_capture_on_commit_callbacks: Any) -> Callable[..., str]:
    """Runs the command, commits what it did, and gives what it said."""

    def run(*options: str) -> str:
        said = StringIO()
        with django_capture_on_commit_callbacks(execute=True):
            call_command("load_demo", *options, stdout=said)
        return said.getvalue()

    return run


def secrets_in(var: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((var / "demo-credentials.json").read_text())
    return found


def test_it_works(load: Callable[..., str], var: Path) -> None:
    said = load()

    assert Idc.objects.count() == 47
    assert Line.objects.count() == BandwidthRollup.objects.count() == 68
    assert Region.objects.count() == 52
    assert Taint.objects.count() == 1 + len(demo("taints"))
    assert Affinity.objects.count() == 1 + len(demo("affinities"))
    assert Profile.objects.filter(code="seed-example").exists()
    assert "Loaded 47 IDCs with 68 lines" in said
    assert str(var / "demo-credentials.json") in said


def test_its_users_secrets_are_for_their_owner_alone_and_work(load: Callable[..., str], var: Path) -> None:
    """Viewer and portal belong to the tenant; operator and administrator act for it but see all."""
    load()

    assert (var / "demo-credentials.json").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in var.iterdir()] == ["demo-credentials.json"]
    assert list(secrets_in(var)) == ROLES
    assert all(set(each) == {"username", "password", "token"} for each in secrets_in(var).values())
    for role, told in secrets_in(var).items():
        principal = token_authenticate(text=told["token"], address="127.0.0.1", now=timezone.now())

        assert User.objects.get(username=told["username"]).check_password(told["password"])
        assert (principal.username, principal.role, principal.tenant) == (role, role, "demo")
        assert principal.all_tenants is (role in {"operator", "admin"})
        assert principal.regions is None


@pytest.mark.parametrize("options", [pytest.param([], id="loading"), pytest.param(["--if-empty"], id="--if-empty")])
def test_an_inventory_that_is_there_is_left_alone(options: list[str], load: Callable[..., str], var: Path) -> None:
    idc_create(code="own", region=region_create(code="R"))
    if options:
        assert "nothing was loaded" in load(*options)
    else:
        with pytest.raises(CommandError, match="there are 1 IDCs already"):
            load()

    assert Idc.objects.get().code == "own"
    assert not Tenant.objects.exists()
    assert list(var.iterdir()) == []


def test_a_name_that_is_taken_is_said_and_nothing_is_loaded(load: Callable[..., str], var: Path) -> None:
    region_create(code="huanan")
    with pytest.raises(CommandError, match="the demo can't be loaded: "):
        load()

    assert not Idc.objects.exists()
    assert not User.objects.exists()
    assert list(var.iterdir()) == []


def test_a_second_time_it_only_catches_up_and_issues_lost_secrets_anew(load: Callable[..., str], var: Path) -> None:
    load()
    before = secrets_in(var)

    assert "The demo is there already" in load("--if-empty")
    assert secrets_in(var) == before
    assert Idc.objects.count() == 47

    (var / "demo-credentials.json").unlink()
    load("--if-empty")
    after = secrets_in(var)

    assert after.keys() == before.keys()
    for role in ROLES:
        assert after[role]["password"] != before[role]["password"]
        assert token_authenticate(text=after[role]["token"], address="::1", now=timezone.now()).username == role
        with pytest.raises(Unauthenticated):
            token_authenticate(text=before[role]["token"], address="::1", now=timezone.now())
    assert ApiToken.objects.count() == 8


def test_a_folder_that_cannot_be_written_to_is_one_line_and_nothing_is_loaded(
    load: Callable[..., str], var: Path, settings: Any
) -> None:
    settings.VAR_DIR = var / "file"
    settings.VAR_DIR.touch()

    with pytest.raises(CommandError, match=r"cannot write .*/demo-credentials\.json: "):
        load()
    assert not Idc.objects.exists()
