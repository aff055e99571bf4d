"""docs/deploying.md without Docker: what systemd and nginx would start runs in a folder that stands for `/`."""

import os
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path

import psycopg2
import pytest
from psycopg2.extensions import ISOLATION_LEVEL_AUTOCOMMIT

from idcsched.demo.processes import Child, start, stop
from tests.architecture.repository import ROOT
from tests.deploy.test_files import unit
from tests.docs.pages import blocks, page, section
from tests.e2e.installation import wait_for
from tests.servers import free_port, nginx, postgresql
from tests.servers.postgresql import programs

NAME = "idc.example.com"
REDIS_DATABASE = 62
RUNUSER = re.compile(r"^runuser -u \w+ -- ")
BY_THE_HOST = (
    "apt-get install", "useradd ", "(cd /opt/idcsched && PYTHON=", "runuser -u postgres -- ", "chgrp ",
    "cp -r /opt/idcsched/deploy/systemd/", "systemctl ",
)  # fmt: skip
"""Commands that change the machine itself: other tests install the requirements, and systemd takes the units."""


class Host:
    """A host on which the page is followed."""

    def __init__(self, folder: Path, *, postgresql: Mapping[str, str], redis: str) -> None:
        self.folder, self.web, self.tls, self.plain = folder, free_port(), free_port(), free_port()
        self.children: list[Child] = []
        self.postgresql = postgresql
        """The variables by which its programs find the server."""
        self.here = {
            "/opt/idcsched/.venv/bin": str(Path(sys.executable).parent),
            "/opt/idcsched": str(ROOT),
            "/etc/": f"{folder}/etc/",
            "/var/": f"{folder}/var/",
            "/run/postgresql": postgresql["PGHOST"],
            "redis://127.0.0.1:6379/0": redis,
            "127.0.0.1:8000": f"127.0.0.1:{self.web}",
            "listen 80/": f"listen {self.plain}/",
            "/443/": f"/{self.tls}/",
            "-m 750 -g idcsched ": "-m 750 ",
            "/usr/local/sbin/": f"{folder}/sbin/",
            "exec runuser -u idcsched -- ": "exec ",
        }

    def moved(self, text: str) -> str:
        for there, replaced in self.here.items():
            text = text.replace(there, replaced)
        return text

    def follow(self, block: str) -> None:
        """Run a page's block, without the commands that change the machine itself."""
        lines = [line for line in block.splitlines() if not line.startswith(BY_THE_HOST)]
        subprocess.run(["bash", "-euc", self.moved("\n".join(lines))], check=True, capture_output=True)

    def command(self, name: str) -> list[str]:
        return self.moved(unit(f"idcsched-{name}.service")["Service"]["ExecStart"].replace("%%", "%")).split()

    @property
    def environment(self) -> dict[str, str]:
        written = (self.folder / "etc/idcsched/environment").read_text(encoding="utf-8")
        variables = dict(line.split("=", 1) for line in written.splitlines())
        return {"PATH": os.environ["PATH"], "PORT": str(self.web)} | self.postgresql | variables

    def start(self, name: str, *command: str | Path, folder: Path = ROOT) -> Child:
        child = start(name, command, log=self.folder / f"{name}.log", folder=folder, environment=self.environment)
        self.children.append(child)
        return child

    def follow_nightly(self, block: str) -> None:
        """Make the dump that the timer has made each night; those of two weeks ago are deleted, younger ones kept."""
        enable, begin, look = block.splitlines()
        assert enable == "systemctl enable --now idcsched-dump.timer"
        assert begin == "systemctl start idcsched-dump"
        dumps = self.folder / "var/lib/idcsched-dumps"
        dumps.mkdir()
        for days in (13, 15):
            (dumps / f"idcsched-{days}-days.dump").touch()
            then = time.time() - timedelta(days=days).total_seconds()
            os.utime(dumps / f"idcsched-{days}-days.dump", (then, then))
        environment = self.environment | {"PATH": f"{programs()}:{os.environ['PATH']}"}
        subprocess.run(self.command("dump"), env=environment, check=True, timeout=250)
        names = subprocess.run(["sh", "-c", self.moved(look)], check=True, capture_output=True, text=True).stdout
        assert "idcsched-13-days.dump" in names
        assert "idcsched-15-days.dump" not in names
        (made,) = dumps.glob("idcsched-2*.dump")
        listed = subprocess.run(
            [f"{programs()}/pg_restore", "--list", made], check=True, capture_output=True, text=True
        )
        assert "TABLE DATA public placement_placement" in listed.stdout
        assert "TABLE DATA public audit_feedentry" not in listed.stdout

    def restored(self, block: str) -> str:
        """Make a dump and restore it, as a page's block does; returns what its last command printed."""
        printed = ""
        for line in block.splitlines():
            if line.startswith("systemctl stop "):
                stop(*self.children)
            if line.startswith(("systemctl ", "cd ")):
                continue
            command = self.moved(RUNUSER.sub("", line))
            environment = {"PATH": f"{self.folder}/sbin:{programs()}:{os.environ['PATH']}"} | self.postgresql
            done = subprocess.run(
                ["bash", "-euc", command],
                cwd=self.folder, env=environment, capture_output=True, text=True, timeout=250, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            printed = done.stdout.strip()
        return printed

    def asked(self, path: str) -> int:
        """The status of a page, by TLS under the installation's own name."""
        trusting = ssl.create_default_context(cafile=self.folder / "etc/idcsched/secrets/tls-certificate")
        with (
            socket.create_connection(("127.0.0.1", self.tls), timeout=30) as plain,
            trusting.wrap_socket(plain, server_hostname=NAME) as encrypted,
            closing(HTTPConnection(NAME)) as connection,
        ):
            connection.sock = encrypted
            connection.request("GET", path)
            return connection.getresponse().status

    def led_to(self, path: str) -> str | None:
        """Where whoever comes without TLS is sent."""
        with closing(HTTPConnection("127.0.0.1", self.plain, timeout=30)) as connection:
            connection.request("GET", path, headers={"Host": NAME})
            return connection.getresponse().headers["Location"]


@pytest.fixture
def host(redis_server: str, tmp_path: Path) -> Iterator[Host]:
    for place in ("etc/systemd/system", "etc/nginx", "var/lib/idcsched", "sbin"):
        (tmp_path / place).mkdir(parents=True)
    with postgresql.running() as url:
        with closing(psycopg2.connect(url)) as connection:
            connection.set_isolation_level(ISOLATION_LEVEL_AUTOCOMMIT)
            cursor = connection.cursor()
            cursor.execute("CREATE DATABASE idcsched")
            cursor.execute("SELECT current_setting('unix_socket_directories'), current_setting('port')")
            sockets, port = cursor.fetchone()
        access = {"PGHOST": sockets, "PGPORT": port, "PGUSER": "idcsched"}
        host = Host(tmp_path, postgresql=access, redis=f"{redis_server}/{REDIS_DATABASE}")
        try:
            yield host
        finally:
            stop(*host.children)


def commands(heading: str) -> list[str]:
    return blocks(section(page("deploying.md"), heading), "shell")


@pytest.mark.long
@pytest.mark.postgresql
def test_it_works(host: Host) -> None:
    install, certificate, proxy, setup = commands("With systemd, without Docker")
    _upgrade, nightly, backup, trial = commands("Upgrade, back up and restore with systemd")
    host.follow(install)
    host.follow(setup.removesuffix("idcsched setup\n"))
    assert (host.folder / "etc/idcsched/secrets/secret-key").stat().st_mode & 0o777 == 0o640
    upgraded = subprocess.run(
        host.command("upgrade"),
        cwd=ROOT,
        env=host.environment,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert upgraded.returncode == 0, upgraded.stderr
    web = host.start("web", *host.command("web"))
    worker = host.start("worker", *host.command("worker"))

    host.follow(certificate)
    *sed, check, probe = proxy.splitlines()
    assert check == "nginx -t && systemctl restart nginx"
    assert probe == "curl -sS --connect-to ::127.0.0.1 https://idc.example.com/health/ready/"
    host.follow("\n".join(sed))
    configuration = host.folder / "etc/nginx/nginx.conf"
    configuration.write_text(host.moved(configuration.read_text(encoding="utf-8")), encoding="utf-8")
    with nginx.present() as program:
        host.start(
            "nginx", program, "-c", configuration, "-g",
            f"daemon off; pid {host.folder}/nginx.pid; user root;",
        )  # fmt: skip

        def ready() -> bool:
            assert web.running, web.last_words()
            with suppress(OSError):
                return host.asked("/health/ready/") == 200
            return False

        wait_for(ready, "the web server")
    assert host.asked("/admin/login/") == 200
    assert host.asked("/metrics") == 404
    assert host.led_to("/admin/login/") == f"https://{NAME}/admin/login/"
    assert worker.running, worker.last_words()
    host.follow_nightly(nightly)
    assert host.restored(backup) == "The ledger agrees with the placements."
    assert (host.folder / "idcsched.dump").stat().st_mode & 0o777 == 0o600
    host.restored(trial)
