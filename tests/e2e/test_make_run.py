"""`make run` from outside: it starts, answers, stops with all its processes, and says in one line what hinders it."""

import json
import os
import signal
import socket
import stat
import subprocess
from http import HTTPStatus
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.e2e.installation import Installation, post, wait_for
from tests.e2e.running import command, ended, made, said, supervisor
from tests.servers import free_port

RUNS = """
from metrics_ingest.models import Run
print(*Run.objects.exclude(state="running").values_list("state", flat=True))
"""


def test_it_works(demo: Installation) -> None:
    address = f"http://127.0.0.1:{demo.environment['PORT']}"
    with made(demo) as run:
        with urlopen(f"{address}/health/ready/", timeout=60) as response:
            assert json.load(response)["status"] == "ok"
        file = demo.var / "demo-credentials.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        credentials = json.loads(file.read_text(encoding="utf-8"))
        assert set(credentials) == {"viewer", "portal", "operator", "admin"}
        body = {"region": "A", "profile": "seed-example", "request_id": "order-8812"}
        answer = post(f"{address}/api/v1/schedule/", body, credentials["portal"]["token"])
        assert answer["idc"]["code"] == "d"
        os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does it
        ended(run)
        assert not demo.processes()


@pytest.mark.long
def test_the_second_time_is_quick_and_a_second_at_once_refused(demo: Installation) -> None:
    with made(demo):
        pass
    with made(demo, seconds=15) as run:
        assert "The demo is there already" in said(run)
        assert_refused(demo.tried("demo_run"), "already going on")


@pytest.mark.long
def test_its_sources_are_measured_from_the_first_run_on(demo: Installation) -> None:
    """The demo's sources answer before beat asks them, so no run fails."""
    demo.tried("flush", "--noinput")
    with made(demo):
        wait_for(lambda: len(demo.python(RUNS).split()) >= 2, "the sources to be asked", seconds=60)
    assert set(demo.python(RUNS).split()) == {"succeeded"}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_stops_everything(demo: Installation, number: signal.Signals) -> None:
    with made(demo) as run:
        os.kill(supervisor(demo), number)
        assert ended(run) == 0
        assert not demo.processes()


@pytest.mark.long
def test_when_the_supervisor_is_killed_nothing_is_left(demo: Installation) -> None:
    with made(demo):
        os.kill(supervisor(demo), signal.SIGKILL)
        wait_for(lambda: not demo.processes(), "its processes to follow")


@pytest.mark.long
def test_when_make_is_killed_nothing_is_left(demo: Installation) -> None:
    with made(demo) as run:
        run.process.kill()
        wait_for(lambda: not demo.processes(), "its processes to follow")


@pytest.mark.long
def test_what_a_killed_run_left_does_not_hinder_the_next(demo: Installation) -> None:
    with made(demo):
        web = [pid for pid in demo.processes() if b"granian" in command(pid)]
        for pid in (supervisor(demo), min(web)):
            os.kill(pid, signal.SIGKILL)  # the web server's own worker is an orphan for a while, and holds the port
    with made(demo):
        assert not set(web) & set(demo.processes())


@pytest.mark.long
def test_a_process_that_dies_is_started_again(demo: Installation) -> None:
    with made(demo) as run:
        worker = min(pid for pid in demo.processes() if b"worker" in command(pid))
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: "The worker process ended by itself (-9)" in said(run), "the word of it")
        wait_for(lambda: any(b"worker" in command(pid) for pid in demo.processes()), "another worker")
        os.kill(supervisor(demo), signal.SIGTERM)
        ended(run)
        assert not demo.processes()


@pytest.mark.long
def test_a_web_server_that_dies_again_and_again_comes_back(demo: Installation) -> None:
    """granian starts a worker anew that has died, and gives up where it dies again within seconds."""
    with made(demo) as run:
        for _ in range(2):
            workers = serving(demo)
            os.kill(max(workers), signal.SIGKILL)
            wait_for(lambda: max(serving(demo), default=0) > max(workers) or "ended by itself" in said(run), "a worker")  # noqa: B023  # waited for here
        wait_for(lambda: "The web process ended by itself" in said(run), "the web server to be started again")
        wait_for(lambda: answers(demo), "the web server")


def serving(demo: Installation) -> list[int]:
    return [pid for pid in demo.processes() if b"granian" in command(pid)]


def answers(demo: Installation) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{demo.environment['PORT']}/health/ready/", timeout=60) as response:
            return bool(response.status == HTTPStatus.OK)
    except OSError:
        return False


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = Installation(tmp_path, PORT=str(port)).tried("demo_run")
    assert_refused(done, f"port {port} is taken")


def test_wrong_settings_are_a_line_each(tmp_path: Path) -> None:
    done = Installation(tmp_path, PORT="http", MAX_LEVEL="9").tried("demo_run")
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stderr.splitlines()] == ["PORT", "MAX_LEVEL"]


@pytest.mark.long
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("a file where the folder should be", encoding="utf-8")
    assert_refused(Installation(tmp_path).tried("demo_run"), "")
    assert_refused(Installation(tmp_path, SECRET_KEY="x").tried("demo_run"), "cannot write to")


@pytest.mark.long
def test_a_database_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    done = Installation(tmp_path, DATABASE_URL=url, PORT=str(free_port())).tried("demo_run")
    assert_refused(done, "the database cannot be used")


def assert_refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 1
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
