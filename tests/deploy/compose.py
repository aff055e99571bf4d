"""docker-compose.yml without Docker: its services run as processes here, and a page's commands act on them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from idcsched.demo.processes import Child, start, stop
from tests.architecture.repository import ROOT
from tests.servers import free_port, nginx
from tests.servers.postgresql import programs

__all__ = ["DOCKERFILE", "FILE", "OWN", "Compose", "composed", "image_command"]

FILE, DOCKERFILE = ROOT / "docker-compose.yml", ROOT / "Dockerfile"
OWN = ("web", "worker", "collector", "provisioner", "deliverer", "beat")
"""The services that run for good and are not somebody else's program."""
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::-([^}]*))?\}")
INSTRUCTION = re.compile(r"^CMD (\[.*\])$", re.MULTILINE)
DEFAULTS = re.compile(r"^ENV ((?:.*\\\n)*.*)", re.MULTILINE)
STARTED_BY_DRIVER = re.compile(r"docker compose (up|stop)\b(.*)")
AS_ON_THE_PAGE = "127.0.0.1:8000"
DOCKER = """#!{python}
import json, os, sys
_, *words = sys.argv
assert words[0] == "compose" and words[1] in ("run", "exec"), words
words = [word for word in words[2:] if word not in ("--rm", "-T")]
service = json.load(open({services!r}))[words[0]]
command = words[1:] or service["command"]
if service["folder"]:
    os.chdir(service["folder"])
os.execvpe(command[0], command, os.environ | service["environment"])
"""


def composed(file: Path = FILE, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The file with its variables replaced, as Docker Compose reads it."""
    document: dict[str, Any] = _replaced(_parsed(file), variables or {})
    return document


@cache
def _parsed(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def _replaced(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(each, variables) for name, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, variables) for each in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: variables.get(found[1], found[2] or ""), value).replace("$$", "$")
    return value


def image_command() -> list[str]:
    """What a container of the image runs unless told otherwise."""
    command: list[str] = json.loads(INSTRUCTION.findall(DOCKERFILE.read_text(encoding="utf-8"))[-1])
    return command


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    (block,) = DEFAULTS.findall(DOCKERFILE.read_text(encoding="utf-8"))
    return dict(pair.split("=", 1) for pair in block.replace("\\\n", " ").split())


class Compose:
    """An installation in `folder`, whose PostgreSQL and Redis are servers that run already."""

    def __init__(self, folder: Path, *, postgresql: str, redis: str) -> None:
        self.folder, self.web, self.children = folder, free_port(), dict[str, Child]()
        self._postgresql, self._redis = postgresql, redis
        self._kept = ExitStack()
        (folder / "bin").mkdir()
        docker = folder / "bin" / "docker"
        docker.write_text(DOCKER.format(python=sys.executable, services=str(folder / "services.json")))
        docker.chmod(0o755)

    @cached_property
    def proxy(self) -> int:
        """The port of the reverse proxy."""
        return self._kept.enter_context(nginx.in_front_of(self.web))

    def shell(self, block: str, **variables: str) -> str:
        """Run a page's block; returns what its last command printed."""
        printed = ""
        for command in block.replace("\\\n", " ").splitlines():
            if found := STARTED_BY_DRIVER.fullmatch(command.partition(" #")[0].strip()):
                (self.up if found[1] == "up" else self.stop)(*(word for word in found[2].split() if word[0] != "-"))
                continue
            printed = self.run(command, **variables)
        return printed

    def run(self, command: str, **variables: str) -> str:
        """Run one command; returns what it printed."""
        done = subprocess.run(**self._shell(command, **variables), capture_output=True, timeout=100, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def typed(self, command: str, *lines: tuple[str, str]) -> str:
        """Run one command at a terminal; returns what was on the screen.

        `lines`: each prompt, in their order, and the line that is typed once it is shown.
        """
        ours, terminal = os.openpty()
        options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        with os.fdopen(ours, "rb+", buffering=0) as screen, subprocess.Popen(**self._shell(command) | options):
            os.close(terminal)
            shown = b""
            for prompt, line in lines:
                begun = len(shown)
                while not shown[begun:].endswith(f"{prompt}: ".encode()):
                    shown += screen.read(1)
                screen.write(f"{line}\n".encode())
            with suppress(OSError):  # the end
                while part := screen.read(1000):
                    shown += part
        return shown.decode()

    def _shell(self, command: str, **variables: str) -> dict[str, Any]:
        self._describe()
        return {
            "args": ["bash", "-euo", "pipefail", "-c", command.replace(AS_ON_THE_PAGE, f"127.0.0.1:{self.proxy}")],
            "cwd": self.folder,
            "env": {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"} | variables,
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,  # without the terminal of the test
            "text": True,
        }

    def up(self, *names: str) -> None:
        """Upgrade, as the service `migrate` does, and start what does not run, or those named."""
        url = self.folder / "secrets" / "database-url"
        url.write_text(url.read_text().replace("@postgresql:5432", f"@{self._postgresql}"))
        self.run("docker compose run --rm migrate")
        for name in names or OWN:
            if name not in self.children:
                command, environment = self._command(name), self._environment(name)
                log = self.folder / f"{name}.log"
                self.children[name] = start(name, command, log=log, folder=ROOT, environment=environment)

    def stop(self, *names: str) -> None:
        stop(*(self.children.pop(name) for name in names))

    def close(self) -> None:
        stop(*self.children.values(), grace=0)
        self._kept.close()

    def _command(self, name: str) -> list[str]:
        words = composed()["services"][name].get("command") or image_command()
        program = {"python": [sys.executable], "celery": [sys.executable, "-m", "celery"]}[words[0]]
        return [*program, *words[1:]]

    def _environment(self, name: str) -> dict[str, str]:
        """Its variables, with the names of other services, of secrets and of folders replaced by those of here."""
        written = self._written()
        variables = written | {"TRUSTED_PROXIES": "127.0.0.0/8"}  # the network is another one
        service = composed(variables=variables)["services"][name]
        (self.folder / "var").mkdir(exist_ok=True)
        here = {
            "/run/secrets": f"{self.folder}/secrets",
            "/var/lib/idcsched": f"{self.folder}/var",
            "redis://redis:6379/0": self._redis,
        }
        environment = image_environment() | written | service["environment"] | {"PATH": os.environ["PATH"]}
        if name == "web":
            environment["PORT"] = str(self.web)
        for there, replaced in here.items():
            environment = {variable: value.replace(there, replaced) for variable, value in environment.items()}
        return environment

    def _written(self) -> dict[str, str]:
        """The variables of the file `.env`."""
        file = self.folder / ".env"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def _describe(self) -> None:
        """Tell the `docker` of this folder how to run commands of the services."""
        own = {
            name: {"command": self._command(name), "environment": self._environment(name), "folder": str(ROOT)}
            for name in (*OWN, "migrate")
        }
        for service in own.values():
            service["environment"] |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        host, _, port = self._postgresql.partition(":")
        its = {"PGHOST": host, "PGPORT": port, "PATH": f"{programs()}:{os.environ['PATH']}"}
        own["postgresql"] = {"command": [], "environment": its, "folder": ""}
        (self.folder / "services.json").write_text(json.dumps(own))
