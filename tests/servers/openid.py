"""An OpenID provider with users whose groups a test decides."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

import requests

from idcsched.demo.processes import start, stop
from tests.servers import Unavailable, free_port, scratch_folder

__all__ = ["OpenIdProvider", "running"]


@dataclass(frozen=True, slots=True)
class OpenIdProvider:
    url: str
    pid: int

    def client(self, redirect_uri: str) -> dict[str, str]:
        """Register a client; returns its `client_id` and `client_secret`."""
        registered: dict[str, str] = self._send("POST", "/oauth2/clients", {"redirect_uris": [redirect_uri]})
        return registered

    def know(self, subject: str, **claims: Any) -> None:
        """Let a user have these claims, and no others, from now on."""
        self._send("PUT", f"/users/{subject}", claims)

    def approve(self, browser: requests.Session, address: str, subject: str) -> str:
        """Sign in at the provider as that user; returns the address to which it sends the browser back."""
        assert "<form" in browser.get(address).text
        answer = browser.post(address, {"sub": subject}, allow_redirects=False)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def _send(self, method: str, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(self.url + path, json.dumps(body).encode(), headers, method=method), timeout=60) as answer:
            content = answer.read()
        return json.loads(content) if content else None


@contextmanager
def running() -> Iterator[OpenIdProvider]:
    """Run a provider that knows no client and no user, and accepts no request without a nonce."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with scratch_folder() as folder:
        child = start("provider", [*command, "--require-registration", "--require-nonce"], log=folder / "log")
        try:
            until = monotonic() + 120
            while not _answers(port):
                if not child.running or monotonic() > until:
                    raise Unavailable(f"the OpenID provider does not start: {child.last_words()}")
                sleep(0.1)
            yield OpenIdProvider(f"http://127.0.0.1:{port}", child.process.pid)
        finally:
            stop(child)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/.well-known/openid-configuration", timeout=30):
            return True
    except OSError:
        return False
