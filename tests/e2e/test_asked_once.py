"""A request with an `Idempotency-Key`, killed half way, is done once."""

import signal
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg2
import pytest

from tests.e2e.installation import Installation

pytestmark = pytest.mark.long

USER = """
from idcsched.accounts.services import user_create
user_create(username="root", role="admin")
"""
ASK = """
import os, signal
from django.test import Client
from idcsched.api.views.inventory import RegionViewSet
from idcsched.inventory.services import region_create

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def make(**fields):
    region_create(**fields)
    die()

if {killed} == "before the answer is kept":
    RegionViewSet.create_service = staticmethod(make)
    RegionViewSet.create_many_service = None
client = Client(headers={{"authorization": "Bearer {token}", "idempotency-key": "order-1", "host": "localhost"}})
answer = client.post("/api/v1/regions/", {{"code": "R"}}, content_type="application/json")
if {killed} == "before the answer is sent":
    die()
print(answer.status_code, answer.headers.get("Idempotent-Replayed", "false"))
"""
REGIONS = "from idcsched.inventory.models import Region; print(Region.objects.filter(code='R').count())"


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Installation:
    variables = {}
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgresql_server")
        name = f"asked_{uuid4().hex}"
        server = psycopg2.connect(url)
        server.autocommit = True
        with closing(server), server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
        variables["DATABASE_URL"] = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    installed = Installation(tmp_path, **variables)
    installed.manage("migrate", "--verbosity", "0")
    installed.python(USER)
    return installed


def asked(installation: Installation, token: str, killed: str = "") -> str:
    done = installation.tried("shell", "--verbosity", "0", "--command", ASK.format(token=token, killed=repr(killed)))
    if killed:
        assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.strip()


def test_it_works(installation: Installation) -> None:
    """A process that is killed before it has kept the answer leaves no work behind; the next request does the work."""
    token = installation.manage("token_create", "root", "test").strip()
    asked(installation, token, killed="before the answer is kept")
    assert installation.python(REGIONS) == "0"
    assert asked(installation, token) == "201 false"
    assert asked(installation, token) == "201 true"
    assert installation.python(REGIONS) == "1"


def test_what_was_done_is_answered_though_nobody_heard_it(installation: Installation) -> None:
    token = installation.manage("token_create", "root", "test").strip()
    asked(installation, token, killed="before the answer is sent")
    assert asked(installation, token) == "201 true"
    assert installation.python(REGIONS) == "1"
