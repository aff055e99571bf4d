"""The settings as a whole: defaults need no environment, wrong values are refused, and a page lists all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from idcsched.config.checks import environment_required
from idcsched.config.env import Environment, secret_list, web_address

ROOT = Path(settings.BASE_DIR)


def manage(var: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return python(var, "manage.py", *command, **variables)


def python(var: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment | {"VAR_DIR": str(var)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_works(tmp_path: Path) -> None:
    done = manage(tmp_path, "check")
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == ["secret-key"]


def test_wrong_settings_are_all_said_at_once_with_ids_and_hints(tmp_path: Path) -> None:
    """The message about a setting that was removed names the settings that replace it."""
    done = manage(tmp_path, "check", PORT="http", THROTTLE="often", IDCSCHED_DEBUG="1", SECRET_REFS="env:SOURCE_*")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for text in ("idcsched.E001", "PORT is 'http'", "THROTTLE is 'often'", "idcsched.W001", "Did you mean DEBUG?"):
        assert text in done.stderr
    for text in ("idcsched.E005", "SECRET_REFS is set", "SOURCE_SECRETS", "PROVIDER_SECRETS", "REF@HOST"):
        assert text in done.stderr


@pytest.mark.parametrize(
    "text", ["env:SOURCE_A", "env:SOURCE_A@", "env:SOURCE_A@a b", "SOURCE_A@host", "env:*@host", "file:a@host"]
)
def test_a_secret_without_its_host_is_refused(text: str) -> None:
    environment = Environment({"SOURCE_SECRETS": text})
    assert environment.read("SOURCE_SECRETS", secret_list, default=[], help="") == []
    assert [problem.code for problem in environment.problems] == ["E001"]


def test_a_secret_with_its_host() -> None:
    text = "env:SOURCE_*@Prometheus.example.com, file:/run/a@b/@10.0.0.0/8, env:X@*"
    read = Environment({"SOURCE_SECRETS": text}).read("SOURCE_SECRETS", secret_list, default=[], help="")
    assert read == ["env:SOURCE_*@prometheus.example.com", "file:/run/a@b/@10.0.0.0/8", "env:X@*"]


def test_an_openid_provider_without_what_it_needs_is_refused(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", OIDC_ISSUER="https://id.example.com", OIDC_ROLES="noc=root")
    assert "idcsched.E006" in done.stderr
    assert "OIDC_CLIENT_ID is not" in done.stderr
    assert "OIDC_ROLES is not" not in done.stderr  # it is wrong, which is said
    assert "OIDC_ROLES is 'noc=root'" in done.stderr


def test_a_database_that_was_not_meant_is_never_written_to(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate", "--skip-checks", DATABASE_URL="postgres//oops")
    assert done.returncode != 0
    assert not (tmp_path / "db.sqlite3").exists()


def test_a_server_refuses_to_start_with_wrong_settings(tmp_path: Path) -> None:
    done = manage(tmp_path, "shell", "-c", "import idcsched.wsgi", PORT="0")
    assert done.returncode == 1
    assert "idcsched does not start with wrong settings" in done.stderr
    assert "PORT is '0'" in done.stderr


def test_traces_are_refused_where_their_packages_are_not_installed(tmp_path: Path) -> None:
    without = "import sys; sys.modules['opentelemetry'] = None; sys.argv = ['manage.py', 'check']; import runpy"
    checked = f"{without}; runpy.run_path('manage.py', run_name='__main__')"
    done = python(tmp_path, "-c", checked, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318")
    assert done.returncode == 1
    assert "idcsched.E007" in done.stderr
    assert "Install requirements/traces.lock" in done.stderr


@pytest.mark.parametrize("text", ["127.0.0.1:4318", "http://", "http://user:secret@collector:4318", "grpc://collector"])
def test_what_is_no_address_of_a_collector(text: str) -> None:
    environment = Environment({"X": text})
    assert environment.read("X", web_address, default="", help="") == ""
    assert [problem.code for problem in environment.problems] == ["E001"]


def test_matrices_are_multiplied_on_one_thread(tmp_path: Path) -> None:
    """The settings limit NumPy to one thread. They must be read before NumPy is imported, because it starts its threads
    then.
    """
    code = "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    assert manage(tmp_path, "shell", "--verbosity", "0", "-c", code).stdout.strip() == "1"


def test_right_settings_let_a_server_start() -> None:
    environment_required()
