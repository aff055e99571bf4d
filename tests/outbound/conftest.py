"""A client that may call this machine, and patience that tests have time for."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from idcsched.outbound.client import Client
from idcsched.outbound.health import Patience
from idcsched.outbound.hosts import AllowedHosts
from tests.outbound.peers import LOOPBACK


@pytest.fixture
def make_client() -> Iterator[Callable[..., Client]]:
    """`make_client(hosts, **patience)`: closed after the test."""
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
