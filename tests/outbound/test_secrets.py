"""A secret is a reference to what an administrator has listed, read when it is needed and never stored."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from idcsched.framework.errors import Invalid, Unavailable
from idcsched.outbound.secrets import secret_ref_check, secret_resolve

HOST = "prometheus.example.com"


def resolved(ref: str, *hosts: str) -> str:
    return secret_resolve(ref, hosts or [HOST], setting="SOURCE_SECRETS")


def check(ref: str, *hosts: str) -> None:
    secret_ref_check(ref, hosts or [HOST], setting="SOURCE_SECRETS")


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    """A folder of secrets that is listed, beside two variables."""
    (tmp_path / "secrets").mkdir()
    settings.SOURCE_SECRETS = [f"{ref}@{HOST}" for ref in ("env:SOURCE_*", "env:PROM", f"file:{tmp_path}/secrets/")]
    return tmp_path / "secrets"


def test_it_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "prometheus").write_text(" of the file\n")
    monkeypatch.setenv("SOURCE_TOKEN", "of the environment")
    assert resolved(f"file:{folder}/prometheus") == "of the file"
    assert resolved("env:SOURCE_TOKEN") == "of the environment"
    check("env:SOURCE_TOKEN")


@pytest.mark.parametrize("said", ["hunter2", "", "env:A B", "file:relative", "vault:hunter2", "env:A\n"])
def test_what_is_no_reference_is_refused_unseen(folder: Path, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(said)
    assert caught.value.code == "invalid_secret_ref"
    assert caught.value.errors[0].pointer == "/secret_ref"
    assert not said or said not in str(caught.value)


@pytest.mark.parametrize("said", ["env:SECRET_KEY", "env:PROMETHEUS", "file:/etc/passwd", "file:{}/../outside"])
def test_what_is_not_listed_is_refused_on_saving_and_on_reading(folder: Path, said: str) -> None:
    ref = said.format(folder)
    with pytest.raises(Invalid) as caught:
        check(ref)
    assert caught.value.code == "secret_not_allowed"
    with pytest.raises(Unavailable) as refused:
        resolved(ref)
    assert refused.value.code == "secret_not_allowed"


def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder.parent / "outside").write_text("of somebody else")
    (folder / "link").symlink_to(folder.parent / "outside")
    with pytest.raises(Unavailable) as refused:
        resolved(f"file:{folder}/link")
    assert refused.value.code == "secret_not_allowed"


def test_a_listed_folder_may_be_a_link_itself(settings: Any, folder: Path) -> None:
    (folder / "token").write_text("found")
    link = folder.parent / "by-another-name"
    link.symlink_to(folder)
    settings.SOURCE_SECRETS = [f"file:{link}/@{HOST}"]
    assert resolved(f"file:{link}/token") == "found"


def test_one_that_is_gone_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_TOKEN", raising=False)
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    for ref in ("env:SOURCE_TOKEN", f"file:{folder}/nobody", f"file:{folder}/binary"):
        with pytest.raises(Unavailable) as refused:
            resolved(ref)
        assert refused.value.code == "secret_missing"


@pytest.mark.parametrize(
    ("listed", "host", "allowed"),
    [
        ("prometheus.example.com", "prometheus.example.com", True),
        ("prometheus.example.com", "Prometheus.Example.com.", True),
        ("prometheus.example.com", "other.example.com", False),
        ("prometheus.example.com", "prometheus.example.com.evil.example", False),
        (".example.com", "prometheus.example.com", True),
        (".example.com", "evilexample.com", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "prometheus.example.com", False),
        ("2001:db8::/32", "2001:db8::1", True),
        ("*", "prometheus.example.com", True),
        ("*", "8.8.8.8", True),
        ("*", "10.1.2.3", False),
        ("*", "", False),
    ],
)
def test_a_secret_is_for_the_hosts_of_its_entries(settings: Any, listed: str, host: str, allowed: bool) -> None:
    settings.SOURCE_SECRETS = ["env:OTHER@*", f"env:SOURCE_*@{listed}"]
    with nullcontext() if allowed else pytest.raises(Invalid) as caught:
        check("env:SOURCE_A", host)
    if not allowed:
        assert caught.value.code == "secret_not_allowed"
        assert f"SOURCE_SECRETS does not let env:SOURCE_A be sent to {host}" in str(caught.value)


def test_all_entries_of_a_reference_count(settings: Any) -> None:
    settings.SOURCE_SECRETS = ["env:SOURCE_A@one.example", "env:SOURCE_*@two.example"]
    check("env:SOURCE_A", "one.example", "two.example")
    with pytest.raises(Invalid):
        check("env:SOURCE_B", "one.example")
