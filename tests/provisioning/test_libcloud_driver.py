"""The driver for EC2 and similar clouds, against a small server that speaks the same protocol."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.utils import timezone

from idcsched.framework.errors import Unavailable
from idcsched.outbound.errors import HostRefused
from idcsched.provisioning.driver import Call, Condition, NotHere
from idcsched.provisioning.driver_testing import check_driver, wanted
from idcsched.provisioning.drivers.libcloud import Libcloud, LibcloudConfig, Size
from tests.outbound.peers import Exchange, loopback_allowed, peer, raw_reply
from tests.servers import moto

AMI = "ami-12c6146b"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with moto.running() as url:
        yield url


@pytest.fixture
def driver(server: str, settings: Any) -> Iterator[Libcloud]:
    with loopback_allowed(settings):
        yield made(server)


def made(url: str, **given: Any) -> Libcloud:
    sizes = (Size(id="t2.small", cpu=1, memory_gib=2), Size(id="m5.large", cpu=2, memory_gib=8))
    return Libcloud(LibcloudConfig(**{"url": url, "access_key": "key", "image": AMI, "sizes": sizes, **given}))


def call(secret: str | None = "secret") -> Call:
    return Call(provider="p", now=timezone.now(), timeout=60, secret=secret)


def test_it_works(driver: Libcloud) -> None:
    check_driver(driver, call)


def test_what_is_created_is_what_was_ordered(driver: Libcloud) -> None:
    order = wanted(name="edge-1", shape={"cpu": 2.0, "params": {"userdata": "#!/bin/sh"}})
    driver.create(call(), order)
    (existing,) = driver.find(call(), order.token)
    assert existing.condition in (Condition.STARTING, Condition.UP)
    assert existing.addresses
    (node,) = driver._cloud(call()).list_nodes(ex_node_ids=[existing.id])
    assert (node.name, node.extra["instance_type"], node.extra["image_id"]) == ("edge-1", "m5.large", AMI)
    assert node.extra["tags"]["idcsched-placement"] == order.placement


@pytest.mark.parametrize(
    ("shape", "given", "code"),
    [
        ({"cpu": 64.0}, {}, "no_such_size"),
        ({"cpu": 1.0}, {"image": None}, "no_image"),
        ({"cpu": 1.0, "params": {"sudo": True}}, {}, "invalid_params"),
    ],
)
def test_what_cannot_be_had_is_not_asked_for(driver: Libcloud, shape: Any, given: Any, code: str) -> None:
    with pytest.raises(NotHere) as refusal:
        made(driver.config.url, **given).create(call(), wanted(shape=shape))
    assert refusal.value.code == code


def refusing(code: str) -> bytes:
    return f"<Response><Errors><Error><Code>{code}</Code><Message>no</Message></Error></Errors></Response>".encode()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("InsufficientInstanceCapacity", NotHere),
        ("InvalidAMIID.NotFound", NotHere),
        ("RequestLimitExceeded", Unavailable),
        ("AuthFailure", Unavailable),
        ("InvalidInstanceID.Malformed", Unavailable),
    ],
)
def test_what_is_refused_for_good_and_what_for_now(settings: Any, code: str, error: type[Exception]) -> None:
    with loopback_allowed(settings), peer(raw_reply(refusing(code), 400)) as server:
        with pytest.raises(Unavailable) as refusal:
            made(server.url).create(call(), wanted())
        assert (isinstance(refusal.value, NotHere), refusal.value.code) == (error is NotHere, "provider_refused")
        assert code in str(refusal.value)


def test_a_reply_that_is_none_is_no_empty_list(settings: Any) -> None:
    """A reply that cannot be read is an error. If it were read as no machines, one would be created a second time."""
    for reply in (b"<html>", b"", b"<html><p>Welcome</p></html>"):
        with loopback_allowed(settings), peer(raw_reply(reply)) as server, pytest.raises(Unavailable):
            made(server.url).find(call(), "x")


def test_requests_are_signed_as_the_cloud_will_check_it(settings: Any) -> None:
    """The signature is the same as that of botocore, another implementation of the same rules."""
    reply = b"<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>"
    paths: list[str] = []

    def behave(exchange: Exchange) -> None:
        paths.append(exchange.path)
        raw_reply(reply)(exchange)

    with loopback_allowed(settings), peer(behave) as server:
        assert made(server.url).find(call(), "a token") == []
        (headers,), (path,) = server.seen_headers, paths
    told = {name.lower(): value for name, value in headers.items()}
    signed = told["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    request = AWSRequest("GET", f"http://127.0.0.1{path}", headers={name: told[name] for name in signed})
    request.context["timestamp"] = told["x-amz-date"]
    auth = SigV4Auth(Credentials("key", "secret"), "ec2", "us-east-1")
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    assert told["authorization"].endswith(f"Signature={signature}")


def test_it_needs_a_secret(driver: Libcloud) -> None:
    with pytest.raises(Unavailable) as refusal:
        driver.find(call(secret=None), "x")
    assert refusal.value.code == "secret_missing"


def test_it_calls_nobody_who_is_not_listed(server: str) -> None:
    with pytest.raises(HostRefused):
        made(server).find(call(), "x")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"url": "ftp://a/"}, "invalid_url"),
        ({"url": "http://a:b@c/"}, "invalid_url"),
        ({"region": "mars"}, "unknown_region"),
    ],
)
def test_a_configuration_that_cannot_be_used(given: dict[str, str], code: str) -> None:
    assert [error.code for error in made(**{"url": "http://a/", **given}).check()] == [code]
