"""Secrets written out in a row's headers or address, which everybody who reads the row would see.

A secret can't be recognised, but the name of the header or parameter that carries it can.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

from idcsched.framework.decoding import pointer_token
from idcsched.framework.errors import FieldError
from idcsched.framework.messages import _

__all__ = ["literal_secrets", "secret_parameter"]

WORDS = frozenset(
    {
        "auth",
        "authentication",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "jwt",
        "key",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "pwd",
        "secret",
        "sig",
        "signature",
        "token",
    }
)
ENDINGS = ("accesskey", "apikey", "authkey", "password", "secret", "secretkey", "token")
"""The ends of words that are written together, such as `accesstoken`."""
CAPITALISED = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def literal_secrets(config: Any) -> Iterator[FieldError]:
    """Yield an error for each header of a configuration, and for its `url`, that seems to hold a secret.

    If the configuration has an `auth`, the secret belongs under the name that this says, so nothing else may be there.
    """
    auth = getattr(config, "auth", None)
    kind, name = getattr(auth, "kind", None), getattr(auth, "name", None) or ""
    headers = getattr(config, "headers", None)
    for header in headers if isinstance(headers, Mapping) else ():
        if _is_secret(header) or (kind == "header" and header.lower() == name.lower()):
            yield _error(f"/headers/{pointer_token(header)}", header)
    parameter = secret_parameter(str(getattr(config, "url", None) or ""), also=name if kind == "parameter" else "")
    if parameter is not None:
        yield _error("/url", parameter)


def secret_parameter(url: str, *, also: str = "") -> str | None:
    """Return the first parameter of a URL whose name is that of a secret, or is `also`; None if there is none."""
    query = url.partition("#")[0].partition("?")[2]
    names = (name for name, _value in parse_qsl(query.replace(";", "&")))
    return next((name for name in names if _is_secret(name) or (also and name.lower() == also.lower())), None)


def _error(pointer: str, name: str) -> FieldError:
    detail = _("{name} is the name of a secret, which belongs into `secret_ref`")
    return FieldError(pointer, "secret_in_config", detail, {"name": name})


def _is_secret(name: str) -> bool:
    """Return whether one of the words in a header's or parameter's name is a word for a secret."""
    words = {*re.findall("[a-z]+", name.lower()), *(word.lower() for word in CAPITALISED.findall(name))}
    return any(word in WORDS or word.endswith(ENDINGS) for word in words)
