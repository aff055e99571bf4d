"""The API as a client that keeps its connection calls it."""

import http.client
import json
from http import HTTPStatus
from typing import Any

__all__ = ["Api", "Failed"]


class Failed(Exception):
    """An answer that is no success, or none at all."""


class Api:
    """One connection, to be closed in the end; no use of several threads at once."""

    def __init__(self, address: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What is answered, decoded; raises Failed."""
        sent = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, f"/api/v1{path}", sent, self._headers)
            response = self._connection.getresponse()
            told = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Failed(f"{method} {path}: {type(error).__name__} {error}") from error
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise Failed(f"{method} {path}: {response.status} {told[:300].decode(errors='replace')}")
        return json.loads(told) if told else None
