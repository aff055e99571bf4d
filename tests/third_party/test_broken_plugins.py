"""A distribution whose plugins cannot be loaded is named in `manage.py check` and takes nothing down."""

import json
import subprocess

import pytest

from tests.e2e.installation import Installation
from tests.third_party.packages import installed

SAID = {
    "a module that is not there": "absent (idcsched-broken) cannot be loaded: ModuleNotFoundError: No module named",
    "a name that is taken": "impostor (idcsched-broken) cannot be loaded: PluginBroken: a plugin named taint is",
    "a module that ends the process": "leaving (idcsched-broken) cannot be loaded: SystemExit: no licence was found",
    "something that is no plugin": "number (idcsched-broken) cannot be loaded: PluginBroken: 42 is not a subclass",
    "a module that raises": "raising (idcsched-broken) cannot be loaded: RuntimeError: the licence has expired",
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("broken")
    return Installation(folder, PYTHONPATH=str(installed(folder, "broken", "carbon")))


@pytest.fixture(scope="module")
def check(installation: Installation) -> subprocess.CompletedProcess[str]:
    return installation.tried("check")


def test_it_works(check: subprocess.CompletedProcess[str]) -> None:
    assert check.returncode == 0
    assert check.stderr.count("idcsched.W101") == len(SAID)


@pytest.mark.parametrize("said", SAID.values(), ids=SAID.keys())
def test_each_is_named_with_its_distribution_and_its_error(said: str, check: subprocess.CompletedProcess[str]) -> None:
    assert f"the scheduling plugin {said}" in check.stderr


def test_everything_else_is_registered(installation: Installation) -> None:
    code = (
        "import json; from idcsched.scheduling.plugins import registry; "
        "print(json.dumps({name: plugin.__module__ for name, plugin in registry().plugins.items()}))"
    )
    registered = json.loads(installation.python(code))

    assert registered["carbon"] == "idcsched_carbon"
    assert registered["taint"] == "plugins.taint"


def test_decisions_are_made_all_the_same(installation: Installation) -> None:
    installation.manage("migrate", "--verbosity", "0")
    installation.python("from idcsched.inventory.services import region_create; region_create(code='north')")
    done = installation.tried("recommend", "--region", "north", "--json")

    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["reason_code"] == "no_idc_in_region"
