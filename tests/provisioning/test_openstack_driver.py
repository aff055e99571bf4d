"""The driver for OpenStack, against a small Keystone and Nova that check what they are sent."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.errors import Unavailable
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.outbound.errors import HostRefused, OutboundError
from idcsched.placement.models import Machine, Placement
from idcsched.placement.services import placement_release
from idcsched.provisioning.driver import Call, Condition, NotHere
from idcsched.provisioning.driver_testing import check_driver, wanted
from idcsched.provisioning.drivers import openstack
from idcsched.provisioning.drivers.openstack import Flavor, OpenStack, OpenStackConfig
from idcsched.provisioning.services import provider_create
from tests.outbound.peers import json_reply, loopback_allowed, peer
from tests.provisioning.starting import work
from tests.servers.openstack import IMAGE, PASSWORD, OpenStackServer, running


@pytest.fixture
def cloud(settings: Any) -> Iterator[OpenStackServer]:
    openstack._tokens.cache_clear()
    with loopback_allowed(settings), running() as found:
        yield found


def config(cloud: OpenStackServer) -> dict[str, Any]:
    flavors = [{"id": "small", "cpu": 1, "memory_gib": 2}, {"id": "large", "cpu": 8, "memory_gib": 32}]
    return {"url": cloud.url, "username": "u", "project": "edge", "image": IMAGE, "flavors": flavors, "region": "R1"}


def made(cloud: OpenStackServer, **given: Any) -> OpenStack:
    flavors = tuple(Flavor(**flavor) for flavor in config(cloud)["flavors"])
    return OpenStack(OpenStackConfig(**{**config(cloud), "flavors": flavors, **given}))


def call(secret: str | None = PASSWORD) -> Call:
    return Call(provider="p", now=timezone.now(), timeout=60, secret=secret)


def test_it_works(cloud: OpenStackServer) -> None:
    check_driver(made(cloud), call)
    assert cloud.standing() == []
    assert cloud.logins == 1, "a token serves until it runs out"


def test_what_is_created_is_what_was_ordered(cloud: OpenStackServer) -> None:
    order = wanted(name="edge-1", shape={"cpu": 2.0, "params": {"userdata": "#!/bin/sh", "keyname": "own"}})
    given = {"networks": ("n-1",), "security_groups": ("web",), "availability_zone": "az1"}
    existing = made(cloud, **given).create(call(), order)
    (server,) = cloud.standing()
    assert (server["id"], server["name"]) == (existing.id, f"edge-1-{order.token}")
    assert (server["flavorRef"], server["imageRef"], server["key_name"]) == ("large", IMAGE, "own")
    assert (server["networks"], server["security_groups"]) == ([{"uuid": "n-1"}], [{"name": "web"}])
    assert (server["availability_zone"], server["user_data"]) == ("az1", "IyEvYmluL3No")
    assert server["metadata"]["idcsched-placement"] == order.placement


@pytest.mark.parametrize(
    ("shape", "given", "code"),
    [
        ({"cpu": 64.0}, {}, "no_such_size"),
        ({"cpu": 1.0}, {"image": None}, "no_image"),
        ({"cpu": 1.0, "params": {"sudo": True}}, {}, "invalid_params"),
        ({"cpu": 1.0, "spec": "gigantic"}, {}, "provider_refused"),
        ({"cpu": 1.0, "image": "img-9"}, {}, "provider_refused"),
    ],
)
def test_what_cannot_be_had(cloud: OpenStackServer, shape: Any, given: Any, code: str) -> None:
    with pytest.raises(NotHere) as refusal:
        made(cloud, **given).create(call(), wanted(shape=shape))
    assert refusal.value.code == code
    assert cloud.standing() == []


def test_beyond_the_quota(cloud: OpenStackServer) -> None:
    cloud.quota = 0
    with pytest.raises(NotHere, match="Quota exceeded"):
        made(cloud).create(call(), wanted())


def test_a_wrong_password(cloud: OpenStackServer) -> None:
    for secret in ("another", None):
        with pytest.raises(Unavailable) as refusal:
            made(cloud).create(call(secret), wanted())
        assert not isinstance(refusal.value, NotHere)
    made(cloud).find(call(), "x")
    with pytest.raises(Unavailable):
        made(cloud).find(call("another"), "x")


def test_tokens_that_are_not_known_any_more(cloud: OpenStackServer) -> None:
    """The driver logs in again when its token has expired."""
    driver = made(cloud)
    assert driver.find(call(), "x") == []
    cloud.expire_tokens()
    assert driver.find(call(), "x") == []
    assert cloud.logins == 2


def test_a_server_that_breaks_says_why(cloud: OpenStackServer) -> None:
    cloud.broken, cloud.boot_seconds = True, 0
    order = wanted()
    made(cloud).create(call(), order)
    (existing,) = made(cloud).find(call(), order.token)
    assert (existing.condition, existing.error) == (Condition.BROKEN, "No valid host was found.")


def test_a_reply_that_is_none_is_no_empty_list(cloud: OpenStackServer, settings: Any) -> None:
    """A reply that cannot be read is an error. If it were read as no machines, one would be created a second time."""
    for reply in ({}, {"servers": None}, []):
        with peer(json_reply(reply)) as nova:
            driver = made(cloud)
            found = driver._cloud(call())
            found.connection._ex_force_base_url = nova.url
            driver._cloud = lambda call, found=found: found  # type: ignore[method-assign]
            with pytest.raises(Unavailable):
                driver.find(call(), "x")


def test_only_hosts_that_are_listed(cloud: OpenStackServer, settings: Any) -> None:
    settings.OUTBOUND_HOSTS = []
    with pytest.raises(HostRefused):
        made(cloud).find(call(), "x")


def test_an_address_that_is_none(cloud: OpenStackServer) -> None:
    (wrong,) = made(cloud, url="keystone").check()
    assert (wrong.pointer, wrong.code) == ("/url", "invalid_url")


def test_a_reply_that_is_lost(cloud: OpenStackServer) -> None:
    """A machine whose creation got no reply exists all the same, and is found by its token."""
    cloud.unanswered, order = 1, wanted()
    with pytest.raises(OutboundError):
        made(cloud).create(call(), order)
    (existing,) = made(cloud).find(call(), order.token)
    assert [server["id"] for server in cloud.standing()] == [existing.id]


def test_an_order_through_replies_that_are_lost(
    cloud: OpenStackServer, order: Callable[..., Placement], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three creations get no reply. Still exactly three machines run, and none is left after the release."""
    monkeypatch.setenv("PROVIDER_CLOUD", PASSWORD)
    provider_create(code="cloud", kind="openstack", config=config(cloud), secret_ref="env:PROVIDER_CLOUD")
    idc_update(idc=Idc.objects.get(code="a"), changes={"provider": "cloud"})
    cloud.unanswered, cloud.boot_seconds = 2, 0
    placement = order(action="provision", only=["a"], region=None)
    work()
    placement.refresh_from_db()
    assert placement.state == "active"
    listed = set(Machine.objects.values_list("provider_id", flat=True))
    assert {server["id"] for server in cloud.standing()} == listed
    assert len(listed) == 3
    placement_release(placement=placement)
    work()
    placement.refresh_from_db()
    assert placement.state == "released"
    assert cloud.standing() == []
