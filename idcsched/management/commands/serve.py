import os
import sys
from argparse import ArgumentParser
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

HEADERS_WITHIN_MS = 60_000
"""How long a connection may be silent, also between two requests; a proxy in front closes idle ones sooner."""
CONNECTIONS = 4096
"""The most connections that a process holds open; all but a few of them are idle at any time."""
ENDS_WITHIN_S = 8
"""Seconds that running requests have to finish at shutdown; Docker kills the server after ten."""


class Command(BaseCommand):
    help = (
        "Serve API and admin: WEB_WORKERS processes of WEB_THREADS threads each, until the command is stopped. Other "
        "machines are served behind a reverse proxy only, which TRUSTED_PROXIES names: a request keeps a thread until "
        "its body has arrived, so that a few slow clients would stop everybody."
    )
    requires_system_checks: list[str] = []  # each process runs the checks when it starts

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
        parser.add_argument(
            "--port", type=int, default=settings.PORT, help="the port to listen on (default: %(default)s)"
        )

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        if not settings.TRUSTED_PROXIES and not _is_loopback(host):
            raise CommandError(
                f"Without a reverse proxy a few slow clients stop everybody, so {host} is not listened on. Put a proxy "
                "in front, with deploy/nginx.conf for example, and name it in TRUSTED_PROXIES; or listen on 127.0.0.1."
            )
        granian = [
            *(sys.executable, "-m", "granian", "--interface", "wsgi", "--host", host, "--port", port),
            *("--workers", settings.WEB_WORKERS, "--blocking-threads", settings.WEB_THREADS),
            *("--respawn-failed-workers", "--workers-kill-timeout", ENDS_WITHIN_S),
            *("--http", 1, "--no-ws", "--http1-header-read-timeout", HEADERS_WITHIN_MS),
            *("--backlog", CONNECTIONS, "--backpressure", CONNECTIONS),
            "idcsched.wsgi:application",
        ]
        os.execv(sys.executable, [str(part) for part in granian])  # noqa: S606  # a command of our own, and no shell


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
