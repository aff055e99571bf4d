"""docs/callbacks.md: its receiver runs, takes what is genuine, once, and refuses what is not."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.callback_secrets import callback_secret, callback_secret_text
from idcsched.accounts.models import Tenant
from idcsched.placement import delivering
from idcsched.placement.delivering import delivery_resend, placement_deliver
from idcsched.placement.models import Delivery, DeliveryState, Placement
from idcsched.placement.signing import signed_headers
from tests.docs.pages import blocks, page, section
from tests.outbound.peers import closed_port
from tests.placement.conftest import fleet, order  # noqa: F401 - fixtures
from tests.placement.receiving import receiver

PAGE = page("callbacks.md")
(SENT,) = (json.loads(block) for block in blocks(section(PAGE, "What is sent"), "json"))


@pytest.fixture
def tenant(fleet: None) -> Tenant:  # noqa: F811
    Tenant.objects.update(callback_hosts=["127.0.0.1"], callback_secret_version=1)
    return Tenant.objects.get()


@pytest.fixture
def example(tenant: Tenant, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The page's receiver, started as a reader would, on a port that is free; its address, and what it prints."""
    (source,) = blocks(section(PAGE, "Checking the signature"), "python")
    port = closed_port()
    assert source.count("9000") == 1
    file, printed = tmp_path / "receiver.py", tmp_path / "printed"
    file.write_text(source.replace("9000", str(port)), encoding="utf-8")
    environment = os.environ | {"SECRET": callback_secret_text(tenant)}
    with (
        printed.open("wb") as output,
        receiver(),
        subprocess.Popen(
            [sys.executable, str(file)], stdout=output, stderr=subprocess.DEVNULL, env=environment
        ) as process,
    ):
        yield f"http://127.0.0.1:{port}/", printed
        process.terminate()


def deliver(placement: Placement) -> None:
    """As soon as the receiver has started."""
    until = monotonic() + 20
    while Delivery.objects.exclude(state=DeliveryState.DELIVERED).exists():
        assert monotonic() < until, Delivery.objects.first().error  # type: ignore[union-attr]
        Delivery.objects.update(next_try_at=timezone.now())
        placement_deliver(placement_id=placement.pk)
        sleep(0.1)


def status_of(url: str, headers: dict[str, str], body: bytes) -> int:
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_it_works(
    example: tuple[str, Path],
    order: Callable[..., Placement],  # noqa: F811
    tenant: Tenant,
) -> None:
    url, printed = example
    placement = order(callback_url=url, request_id="order-8812")
    deliver(placement)
    delivery_resend(delivery=Delivery.objects.get())
    deliver(placement)
    assert printed.read_text() == "order-8812 reserved\n"

    now, body, secret = timezone.now(), b'{"data": {"request_id": "x", "state": "y"}}', callback_secret(tenant, 1)
    genuine = signed_headers("m-1", now, body, [secret])
    assert status_of(url, genuine, body) == 204
    assert status_of(url, genuine, body + b" ") == 401
    assert status_of(url, genuine | {"webhook-id": "m-2"}, body) == 401
    assert status_of(url, signed_headers("m-2", now, body, [b"another"]), body) == 401
    assert status_of(url, signed_headers("m-2", now - timedelta(minutes=6), body, [secret]), body) == 401


def test_what_is_sent_has_the_shape_that_the_page_shows(order: Callable[..., Placement], tenant: Tenant) -> None:  # noqa: F811
    order(callback_url="http://127.0.0.1/", request_id="order-8812")
    sent = json.loads(Delivery.objects.get().payload)
    assert shape(sent) == shape(SENT)
    assert sent["type"] == SENT["type"]
    for name in ("request_id", "tenant", "state", "version", "move", "idc", "lines"):
        assert sent["data"][name] == SENT["data"][name]


def shape(document: Any) -> Any:
    """Names and types, in their order."""
    if isinstance(document, dict):
        return [(name, shape(value)) for name, value in document.items()]
    return type(document)


def test_the_figures_are_those_that_the_page_names() -> None:
    text = " ".join(PAGE.split())
    assert f"within {delivering.TIMEOUT_SECONDS:g} seconds" in text
    assert re.search(rf"after {delivering.SOONEST.seconds}, {delivering.SOONEST.seconds}, 10, 20, 40", text)
    assert (timedelta(hours=1), timedelta(days=1), 0.25) == (delivering.LATEST, delivering.LONGEST, delivering.JITTER)
    assert timedelta(seconds=60) == delivering.CLAIM
