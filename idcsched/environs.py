"""A request as granian describes it (RSGI), in the words of WSGI."""

import sys
from functools import lru_cache
from typing import Any, Final

__all__ = ["Environ", "environ_of"]

Environ = dict[str, Any]

_ALWAYS: Final[Environ] = {
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "granian",
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multiprocess": False,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
UNREADABLE: Final = "\xff"
"""What stands for the value of a header that is not ASCII, which granian leaves out: nobody accepts it for anything."""
LONG: Final = 100
"""Characters of a header's name that nobody has in earnest."""
_UNPREFIXED: Final = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def environ_of(scope: Any) -> Environ:
    """All but the body. Of headers that come twice both are kept; names with `_` are nobody's: they could pass for
    others, such as a proxy's `X-Forwarded-For`.
    """
    environ, headers = _ALWAYS.copy(), scope.headers
    given = headers.items()
    if len(readable := dict(given)) < len(headers):
        given += [(name, UNREADABLE) for name in headers.keys() if name not in readable]  # noqa: SIM118  # no dict
    for name, value in given:
        key = _known_key(name) if len(name) <= LONG else _key(name)
        if key in environ:
            environ[key] += ("; " if key == "HTTP_COOKIE" else ",") + value
        elif key:
            environ[key] = value
    if "HTTP_HOST" not in environ and scope.authority:
        environ["HTTP_HOST"] = scope.authority
    server, _, port = scope.server.rpartition(":")
    environ["REQUEST_METHOD"] = scope.method
    environ["PATH_INFO"] = _bytes_as_text(scope.path)
    environ["QUERY_STRING"] = scope.query_string
    environ["SERVER_NAME"] = server
    environ["SERVER_PORT"] = port
    environ["SERVER_PROTOCOL"] = f"HTTP/{scope.http_version}"
    environ["REMOTE_ADDR"] = scope.client.rpartition(":")[0].strip("[]")
    environ["wsgi.url_scheme"] = scope.scheme
    return environ


def _key(name: str) -> str:
    """Under which name WSGI has a header; empty where it has none."""
    if "_" in name:
        return ""
    return _UNPREFIXED.get(name) or "HTTP_" + name.upper().replace("-", "_")


_known_key: Final = lru_cache(maxsize=1000)(_key)


def _bytes_as_text(path: str) -> str:
    """WSGI's paths are bytes in the guise of Latin-1."""
    return path if path.isascii() else path.encode().decode("latin-1")
