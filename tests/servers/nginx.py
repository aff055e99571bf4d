"""The reverse proxy that docker-compose.yml starts, by its own configuration, in front of web servers here."""

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from bench.processes import family
from idcsched.demo.processes import Child, port_is_free, start, stop
from tests.architecture.repository import ROOT
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["Proxy", "in_front_of", "present", "running"]

KEEPING = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""What nginx writes to files; its image has folders for them."""
CONFIGURATION, TLS = ROOT / "deploy" / "nginx.conf", ROOT / "deploy" / "nginx-tls.conf"
PLACES = "/usr/sbin:/usr/bin:/sbin:/bin"
SERVER = "server {web} fail_timeout=1s;"


@contextmanager
def present() -> Iterator[str]:
    """The program's path, installed first where it is missing; raises Unavailable."""
    if shutil.which("nginx", path=PLACES) is None:
        debian.install("nginx-light")
    yield str(shutil.which("nginx", path=PLACES))


@contextmanager
def in_front_of(web: int, *, secrets: Path | None = None) -> Iterator[int]:
    """The port of a proxy whose web server listens on port `web`; with the folder of its `secrets` it speaks TLS."""
    with running(web, secrets=secrets) as proxy:
        yield proxy.port


@contextmanager
def running(
    *webs: int | str, secrets: Path | None = None, changes: Sequence[tuple[str, str]] = ()
) -> Iterator["Proxy"]:
    """A proxy whose web servers listen on these ports, or addresses; with the folder of its `secrets` it speaks TLS.

    `changes`: parts of its configuration with what stands in their place.
    """
    with present() as program, scratch_folder() as folder:
        proxy = Proxy(folder, webs, secrets, changes)
        options = f"daemon off; pid {folder}/nginx.pid;"
        if os.geteuid() == 0:
            options += " user root;"  # nobody else may open the folder
        command = [program, "-c", folder / "nginx.conf", "-p", folder, "-g", options]
        proxy.child = start("nginx", command, log=folder / "nginx.log")
        try:
            until = monotonic() + 120
            while port_is_free(proxy.port):
                if not proxy.child.running or monotonic() > until:
                    raise Unavailable(f"nginx does not start: {proxy.child.last_words()}")
                sleep(0.05)
            yield proxy
        finally:
            stop(proxy.child)


class Proxy:
    """A proxy on `port`, in front of some web servers, which can be told to leave one of them out."""

    child: Child

    def __init__(
        self, folder: Path, webs: tuple[int | str, ...], secrets: Path | None, changes: Sequence[tuple[str, str]]
    ) -> None:
        self.port = free_port()
        self._folder, self._webs, self._changes = folder, webs, changes
        self._plain = free_port() if secrets else self.port
        self._configure()
        if secrets:
            _write(TLS, folder / "tls.conf", ("8443", f"127.0.0.1:{self.port}"), ("/run/secrets", str(secrets)))

    def leave_out(self, *webs: int | str) -> None:
        """Send nothing to these web servers any more; returns once no request sent before is under way."""
        self._configure(*webs)
        before = set(family(self.child.process.pid)) - {self.child.process.pid}
        self.child.process.send_signal(signal.SIGHUP)
        until = monotonic() + 120
        while before & set(family(self.child.process.pid)):
            assert monotonic() < until, "nginx does not end what it was at"
            sleep(0.05)

    def _configure(self, *left_out: int | str) -> None:
        servers = [SERVER.format(web=_address(web) + " down" * (web in left_out)) for web in self._webs]
        _write(
            CONFIGURATION,
            self._folder / "nginx.conf",
            (SERVER.format(web="web:8000"), "\n".join(servers)),
            ("listen 8080", f"listen 127.0.0.1:{self._plain}"),
            ("/etc/nginx/tls[.]conf", f"{self._folder}/tls[.]conf"),
            ("/var/cache/nginx", str(self._folder)),
            ("http {", "http {\n" + "".join(f"{kind}_temp_path {self._folder}/{kind};\n" for kind in KEEPING)),
            *self._changes,
        )


def _address(web: int | str) -> str:
    return web if isinstance(web, str) else f"127.0.0.1:{web}"


def _write(shipped: Path, written: Path, *changes: tuple[str, str]) -> None:
    text = shipped.read_text(encoding="utf-8")
    for there, here in changes:
        assert there in text, there
        text = text.replace(there, here)
    written.write_text(text, encoding="utf-8")
