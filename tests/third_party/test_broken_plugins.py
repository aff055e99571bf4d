"""Plugins, collectors and drivers that cannot be loaded are named in `manage.py check` and take nothing down."""

import json
import subprocess

import pytest

from tests.e2e.installation import Installation
from tests.third_party.packages import installed

pytestmark = pytest.mark.long

SAID = {
    "a module that is not there": "absent (idcsched-broken) cannot be loaded: ModuleNotFoundError: No module named",
    "a name that is taken": "impostor (idcsched-broken) cannot be loaded: PluginBroken: a plugin named taint is",
    "a module that ends the process": "leaving (idcsched-broken) cannot be loaded: SystemExit: no licence was found",
    "something that is no plugin": "number (idcsched-broken) cannot be loaded: PluginBroken: 42 is not a subclass",
    "a module that raises": "raising (idcsched-broken) cannot be loaded: RuntimeError: the licence has expired",
}
COLLECTORS = {
    "a module that is not there": "absent (idcsched-broken) cannot be loaded: ModuleNotFoundError: No module named",
    "something that is no collector": "number (idcsched-broken) cannot be loaded: PluginBroken: 42 is not a subclass",
    "a module that raises": "raising (idcsched-broken) cannot be loaded: RuntimeError: the licence has expired",
    "a kind that is taken": "usurper (idcsched-broken) cannot be loaded: PluginBroken: a collector named csv is",
}
DRIVERS = {
    "a module that is not there": "absent (idcsched-broken) cannot be loaded: ModuleNotFoundError: No module named",
    "something that is no driver": "number (idcsched-broken) cannot be loaded: PluginBroken: 42 is not a subclass",
    "a module that raises": "raising (idcsched-broken) cannot be loaded: RuntimeError: the licence has expired",
}
LOADS = """
from metrics_ingest.services import source_create
source_create(code="loads", kind="csv", schedule="60", config={"file": "absent.csv"},
              mapping={"idc": "site", "values": {"cpu_load": "cpu"}})
"""
STATUS = """
import json
from django.test import Client
from idcsched.accounts.services import token_issue, user_create
token = token_issue(user=user_create(username="root", role="admin"), name="test").text
headers = {"authorization": f"Bearer {token}", "host": "localhost"}
answer = Client(headers=headers).get("/api/v1/status/")
found = answer.json()["background"]
print(json.dumps([found["broken_collectors"], found["broken_drivers"], found["degraded_because"]]))
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("broken")
    return Installation(folder, PYTHONPATH=str(installed(folder, "broken", "carbon")))


@pytest.fixture(scope="module")
def migrated(installation: Installation) -> Installation:
    installation.migrate()
    return installation


@pytest.fixture(scope="module")
def check(installation: Installation) -> subprocess.CompletedProcess[str]:
    return installation.tried("check")


def test_it_works(check: subprocess.CompletedProcess[str]) -> None:
    assert check.returncode == 0
    assert check.stderr.count("idcsched.W101") == len(SAID)


@pytest.mark.parametrize("said", SAID.values(), ids=SAID.keys())
def test_each_is_named_with_its_distribution_and_its_error(said: str, check: subprocess.CompletedProcess[str]) -> None:
    assert f"the scheduling plugin {said}" in check.stderr


@pytest.mark.parametrize("said", COLLECTORS.values(), ids=COLLECTORS.keys())
def test_each_collector_is_named_as_well(said: str, check: subprocess.CompletedProcess[str]) -> None:
    assert f"the collector {said}" in check.stderr
    assert check.stderr.count("idcsched.W102") == len(COLLECTORS)


@pytest.mark.parametrize("said", DRIVERS.values(), ids=DRIVERS.keys())
def test_each_driver_of_a_provider_is_named_as_well(said: str, check: subprocess.CompletedProcess[str]) -> None:
    assert f"the provider driver {said}" in check.stderr
    assert check.stderr.count("idcsched.W103") == len(DRIVERS)


def test_the_status_names_them_and_the_other_kinds_work(migrated: Installation) -> None:
    collectors, drivers, causes = json.loads(migrated.python(LOADS + STATUS))
    assert sorted(name.partition(" ")[0] for name in collectors) == ["absent", "number", "raising", "usurper"]
    assert sorted(name.partition(" ")[0] for name in drivers) == ["absent", "number", "raising"]
    assert not causes, "nothing needs them"


def test_everything_else_is_registered(installation: Installation) -> None:
    code = (
        "import json; from idcsched.scheduling.plugins import registry; "
        "print(json.dumps({name: plugin.__module__ for name, plugin in registry().plugins.items()}))"
    )
    registered = json.loads(installation.python(code))

    assert registered["carbon"] == "idcsched_carbon"
    assert registered["taint"] == "plugins.taint"


def test_decisions_are_made_all_the_same(migrated: Installation) -> None:
    migrated.python("from idcsched.inventory.services import region_create; region_create(code='north')")
    done = migrated.tried("recommend", "--region", "north", "--json")

    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["reason_code"] == "no_idc_in_region"
