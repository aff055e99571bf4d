"""`manage.py serve` starts the web server; for other machines only where a reverse proxy keeps slow clients away."""

import os

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

PROXY = ["10.0.0.1"]


@pytest.mark.parametrize(
    ("host", "proxies"), [("127.0.0.1", []), ("127.0.0.2", []), ("::1", []), ("localhost", []), ("0.0.0.0", PROXY)]
)
def test_it_works(host: str, proxies: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TRUSTED_PROXIES, started = proxies, list[str]()
    monkeypatch.setattr(os, "execv", lambda _, command: started.extend(command))  # the server would take our place

    call_command("serve", "--host", host)

    assert started[started.index("--host") + 1] == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "idc.example.com"])
def test_other_machines_are_served_behind_a_proxy_only(host: str) -> None:
    with pytest.raises(CommandError, match="TRUSTED_PROXIES"):
        call_command("serve", "--host", host)
