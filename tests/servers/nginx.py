"""The reverse proxy that docker-compose.yml starts, by its own configuration, in front of a web server here."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from idcsched.demo.processes import port_is_free, start, stop
from tests.architecture.repository import ROOT
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["in_front_of"]

KEEPING = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""What nginx writes to files; its image has folders for them."""
CONFIGURATION = ROOT / "deploy" / "nginx.conf"


@contextmanager
def in_front_of(web: int) -> Iterator[int]:
    """The port of a proxy whose web server listens on port `web`."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if program is None:
        debian.install("nginx-light")
        program = "/usr/sbin/nginx"
    port = free_port()
    with scratch_folder() as folder:
        written = CONFIGURATION.read_text(encoding="utf-8")
        for shipped, here in (
            ("web:8000", f"127.0.0.1:{web}"),
            ("listen 8080", f"listen 127.0.0.1:{port}"),
            ("http {", "http {\n" + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in KEEPING)),
        ):
            assert shipped in written
            written = written.replace(shipped, here)
        (folder / "nginx.conf").write_text(written, encoding="utf-8")
        command = [program, "-c", folder / "nginx.conf", "-p", folder, "-g", f"daemon off; pid {folder}/nginx.pid;"]
        child = start("nginx", command, log=folder / "nginx.log")
        try:
            until = monotonic() + 20
            while port_is_free(port):
                if not child.running or monotonic() > until:
                    raise Unavailable(f"nginx does not start: {child.last_words()}")
                sleep(0.05)
            yield port
        finally:
            stop(child)
