"""Two web processes with a Redis count the requests of one token together, and say when it may ask again."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from idcsched.demo.processes import port_is_free, start, stop
from idcsched.demo.supervisor import web_command
from tests.architecture.repository import ROOT
from tests.e2e.installation import wait_for
from tests.servers import free_port
from tests.stories.product import Answer, Caller, Product, until

pytestmark = pytest.mark.postgresql
RATE = 240
LEARNT = 60
"""Seconds within which a web process learns what the other let through; an idle machine takes a quarter of one."""


@pytest.fixture
def throttled(product: Product) -> Iterator[Product]:
    """Two more web processes of the same installation, which let a token ask less often."""
    port, running = free_port(), product.installation
    address, environment = (
        f"http://127.0.0.1:{port}",
        running.environment | {"THROTTLE": f"{RATE}/minute", "WEB_WORKERS": "2"},
    )
    command = web_command(port=port)
    child = start("throttled", command, log=running.logs / "throttled.log", environment=environment, folder=ROOT)
    try:
        found = replace(product, address=address, opened=[])
        wait_for(lambda: not port_is_free(port), "the throttled web processes")
        yield found
        found.close()
    finally:
        stop(child)


def spend(caller: Caller) -> int:
    """Ask until the caller's web process refuses; return how often it has answered."""
    for answered in range(2 * RATE):
        if caller.ask("GET", "/me/").status == 429:
            return answered
    raise AssertionError(f"{2 * RATE} requests were answered")


def test_it_works(throttled: Product) -> None:
    first, other = throttled.first_and_other()
    token = throttled.new_token()["token"]
    assert spend(first.as_(token)) > RATE * 0.9

    answers: list[Answer] = []

    def status() -> int:
        """The status of the other web process's answer to the same token."""
        answers.append(other.as_(token).ask("GET", "/me/"))
        return answers[-1].status

    until(lambda: status() == 429, "the refusal by the other web process", seconds=LEARNT)
    assert len(answers) < RATE * 0.9, "refused for what the first let through"
    assert answers[-1].body["code"] == "throttled"
    assert other.ask("GET", "/me/").status == 200, "another token has its own count"

    seconds = int(answers[-1].headers["Retry-After"])
    assert 0 < seconds < 60
    until(lambda: status() == 200, "the answer after Retry-After", seconds=seconds + LEARNT)
