"""A Prometheus server that scrapes a given target, and its tool `promtool`."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

from prometheus_client import CollectorRegistry, start_http_server

from idcsched.demo.processes import Child, start, stop
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["exporting", "present", "running"]

CONFIG = """
global: {{scrape_interval: 3s, scrape_timeout: 3s, evaluation_interval: 1s}}
rule_files: {rules}
scrape_configs:
  - job_name: {job}
    static_configs: [{{targets: ["{target}"]}}]
"""


@contextmanager
def present() -> Iterator[str]:
    """The program's path, installed first where it is missing."""
    if shutil.which("prometheus") is None:
        debian.install("prometheus")
    yield str(shutil.which("prometheus"))


@contextmanager
def running(target: str, *, job: str = "lines", rules: Path | None = None) -> Iterator[str]:
    """A fresh server that scrapes `target` (host:port) every 3 s and evaluates `rules`; yields its address."""
    with present() as program, scratch_folder() as folder:
        (folder / "prometheus.yml").write_text(
            CONFIG.format(target=target, job=job, rules=[str(rules)] if rules else [])
        )
        port = free_port()
        options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        child = start(
            "prometheus", [program, *options, f"--web.listen-address=127.0.0.1:{port}"], log=folder / "prometheus.log"
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(child, address)
            yield address
        finally:
            stop(child)


@contextmanager
def exporting(registry: CollectorRegistry) -> Iterator[str]:
    """A fresh server that scrapes an exporter of these figures; yields its address."""
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    try:
        with running(f"127.0.0.1:{server.server_port}") as address:
            yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _wait(child: Child, address: str) -> None:
    """Wait until it has scraped its target."""
    until = monotonic() + 120
    while child.running and monotonic() < until:
        try:
            with urlopen(f"{address}/api/v1/query?query=up==1", timeout=30) as response:
                if json.load(response)["data"]["result"]:
                    return
        except (URLError, OSError):
            pass
        sleep(0.1)
    raise Unavailable(f"prometheus does not scrape: {child.last_words()}")
