"""Secrets by reference: rows hold `env:NAME` or `file:PATH`, and what that leads to is read when it is needed.

Whoever may write a reference could have any variable or file of this machine sent to a server of theirs: so only what
`SECRET_REFS` lists can be referred to.
"""

import os
from pathlib import Path
from re import fullmatch

from django.conf import settings

from idcsched.framework.errors import Invalid, Unavailable

__all__ = ["secret_ref_check", "secret_resolve"]

LONGEST = 64 * 1024
SHAPE = r"env:[A-Za-z_][A-Za-z0-9_]*|file:/[^\x00]+"


def secret_ref_check(ref: str, pointer: str = "/secret_ref") -> None:
    """Raises Invalid unless this is a reference, and one that `SECRET_REFS` lists."""
    if not fullmatch(SHAPE, ref):
        raise Invalid("invalid_secret_ref", "this must be env:NAME or file:/PATH, never the secret itself", pointer)
    if not _listed(ref):
        raise Invalid("secret_not_allowed", "SECRET_REFS does not list {ref}", pointer, ref=ref)


def secret_resolve(ref: str) -> str:
    """What the reference leads to, without blanks around it; raises Unavailable."""
    if not fullmatch(SHAPE, ref) or not _listed(ref):
        raise Unavailable("secret_not_allowed", "SECRET_REFS does not list {ref}", ref=ref)
    kind, _, name = ref.partition(":")
    found = os.environ.get(name, "") if kind == "env" else _read(Path(name), ref)
    if not found.strip():
        raise Unavailable("secret_missing", "the secret {ref} is not there, or empty", ref=ref)
    return found.strip()


def _listed(ref: str) -> bool:
    """`env:NAME`, `env:BEGIN*`, `file:/path`, `file:/folder/` with all below; links are followed before that."""
    kind, _, name = ref.partition(":")
    meant = ref if kind == "env" else f"file:{Path(name).resolve()}"
    return any(meant == item or (item[-1] in "*/" and meant.startswith(item.rstrip("*"))) for item in _allowed())


def _allowed() -> list[str]:
    """As listed, with the links in the folders' names followed, too."""
    return [item if item.startswith("env:") else _followed(item) for item in settings.SECRET_REFS]


def _followed(item: str) -> str:
    return f"file:{Path(item.removeprefix('file:')).resolve()}" + ("/" if item.endswith("/") else "")


def _read(file: Path, ref: str) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(LONGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Unavailable(
            "secret_missing", "the secret {ref} can't be read: {reason}", ref=ref, reason=reason
        ) from None
