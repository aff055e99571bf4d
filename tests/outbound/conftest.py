"""A client that may call this machine."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from idcsched.outbound.client import Client
from idcsched.outbound.health import Patience
from idcsched.outbound.hosts import AllowedHosts
from tests.outbound.peers import LOOPBACK


@pytest.fixture
def make_client() -> Iterator[Callable[..., Client]]:
    """A function that returns a client for these hosts, with this patience; it is closed after the test."""
    made: list[Client] = []

    def make(hosts: list[str] | None = None, **patience: Any) -> Client:
        made.append(Client(AllowedHosts.of(LOOPBACK if hosts is None else hosts), Patience(**patience)))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(make_client: Callable[..., Client]) -> Client:
    return make_client()
