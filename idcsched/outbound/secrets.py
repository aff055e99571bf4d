"""Secrets by reference: rows hold `env:NAME` or `file:PATH`, and the secret is read from there when it is needed.

A user who may write both a reference and an address could have any variable or file of this machine sent to a server
of their own. So a setting for each kind of row lists `REF@HOST`: the references allowed, and the hosts to which each
secret may be sent.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import fullmatch
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from idcsched.framework.errors import Invalid, Unavailable
from idcsched.framework.messages import _

from .hosts import AllowedHosts

__all__ = [
    "PROVIDER_SECRETS",
    "SOURCE_SECRETS",
    "Recipients",
    "configured_hosts",
    "host_of",
    "secret_ref_check",
    "secret_resolve",
]

LONGEST = 64 * 1024
SHAPE = r"env:[A-Za-z_][A-Za-z0-9_]*|file:/[^\x00]+"
SOURCE_SECRETS: Final = "SOURCE_SECRETS"
PROVIDER_SECRETS: Final = "PROVIDER_SECRETS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipients:
    """The hosts to which the secret of one reference may be sent, as the setting lists them."""

    ref: str
    setting: str

    def check(self, host: str) -> None:
        """Raise Unavailable `secret_not_allowed` unless the secret may be sent to that host."""
        if not host or not _allowed_hosts(self.ref, self.setting).lists(host, everybody=True):
            detail = _("{setting} does not let {ref} be sent to {host}: it needs the entry {ref}@{host}")
            raise Unavailable("secret_not_allowed", detail, setting=self.setting, ref=self.ref, host=host)


def secret_ref_check(ref: str, hosts: Iterable[str], *, setting: str, pointer: str = "/secret_ref") -> None:
    """Raise Invalid unless this is a reference that the setting lists for all of the hosts."""
    if not fullmatch(SHAPE, ref):
        raise Invalid("invalid_secret_ref", _("this must be env:NAME or file:/PATH, never the secret itself"), pointer)
    if not _hosts_listed(ref, setting):
        raise Invalid("secret_not_allowed", _("{setting} does not list {ref}"), pointer, setting=setting, ref=ref)
    try:
        _check_hosts(ref, hosts, setting)
    except Unavailable as error:
        raise Invalid(error.code, error.template, pointer, **error.params) from None


def secret_resolve(ref: str, hosts: Iterable[str], *, setting: str) -> str:
    """Read the secret, stripped, if it may be sent to these hosts; raises Unavailable."""
    if not fullmatch(SHAPE, ref) or not _hosts_listed(ref, setting):
        raise Unavailable("secret_not_allowed", _("{setting} does not list {ref}"), setting=setting, ref=ref)
    _check_hosts(ref, hosts, setting)
    kind, _colon, name = ref.partition(":")
    secret = os.environ.get(name, "") if kind == "env" else _read(Path(name), ref)
    if not secret.strip():
        raise Unavailable("secret_missing", _("the secret {ref} is not there, or empty"), ref=ref)
    return secret.strip()


def configured_hosts(config: Any) -> Iterator[str]:
    """Yield the hosts that a configuration names: its `host`, and that of its `url`."""
    if host := getattr(config, "host", None):
        yield str(host)
    if url := getattr(config, "url", None):
        yield host_of(str(url))


def host_of(url: str) -> str:
    """Return the host of a URL; where there is none an empty text, which no list names."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _check_hosts(ref: str, hosts: Iterable[str], setting: str) -> None:
    for host in hosts:
        Recipients(ref=ref, setting=setting).check(host)


def _allowed_hosts(ref: str, setting: str) -> AllowedHosts:
    return AllowedHosts.of(_hosts_listed(ref, setting), listed_in=setting)


def _hosts_listed(ref: str, setting: str) -> list[str]:
    """Return the hosts of all entries whose reference covers this one; symbolic links are followed before comparing.

    An entry's reference is `env:NAME`, `env:BEGIN*`, `file:/path`, or `file:/folder/` for all files below.
    """
    kind, _, name = ref.partition(":")
    target = ref if kind == "env" else f"file:{Path(name).resolve()}"
    entries = (entry.rpartition("@") for entry in getattr(settings, setting))
    return [host for listed, _, host in entries if _covers(listed if kind == "env" else _resolved(listed), target)]


def _covers(listed: str, ref: str) -> bool:
    return ref == listed or (listed[-1] in "*/" and ref.startswith(listed.rstrip("*")))


def _resolved(listed: str) -> str:
    """Return an entry's file reference with symbolic links followed."""
    if listed.startswith("env:"):
        return listed
    return f"file:{Path(listed.removeprefix('file:')).resolve()}" + ("/" if listed.endswith("/") else "")


def _read(file: Path, ref: str) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(LONGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Unavailable(
            "secret_missing", _("the secret {ref} can't be read: {reason}"), ref=ref, reason=reason
        ) from None
