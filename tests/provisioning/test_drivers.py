"""Every kind of provider keeps the laws that starting and removing machines depends on."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from idcsched.framework.errors import PluginBroken, Unavailable
from idcsched.outbound.errors import TooSlow
from idcsched.placement.models import SimulatedMachine
from idcsched.provisioning.driver import Call, Condition, Driver, NotHere
from idcsched.provisioning.driver_kinds import check_driver_class, driver_kinds
from idcsched.provisioning.driver_testing import check_driver, wanted
from idcsched.provisioning.drivers.simulated import Simulated, SimulatedConfig

pytestmark = pytest.mark.usefixtures("db")


def call() -> Call:
    return Call(provider="p", now=timezone.now(), timeout=60)


def simulated(**given: float) -> Simulated:
    return Simulated(SimulatedConfig(**{"up_after_seconds": 0.1, "gone_after_seconds": 0.1, **given}))


def test_it_works() -> None:
    """The simulated driver is checked here; the drivers that need a server have test files of their own."""
    check_driver(simulated(), call)


def test_every_kind_is_known_and_tested() -> None:
    assert driver_kinds().broken == {}
    assert set(driver_kinds().classes) == {"libcloud", "openstack", "simulated", "webhook"}


def test_what_is_simulated_stays_when_everything_restarts() -> None:
    order = wanted()
    made = simulated().create(call(), order)
    (found,) = simulated().find(call(), order.token)
    assert found.id == made.id


@pytest.mark.parametrize(
    ("trouble", "error", "left"),
    [({"refused": 1.0}, Unavailable, 0), ({"unanswered": 1.0}, TooSlow, 1), ({"at_most": 0}, NotHere, 0)],
)
def test_a_simulated_create_that_fails(trouble: dict[str, float], error: type[Exception], left: int) -> None:
    order = wanted()
    with pytest.raises(error):
        simulated(**trouble).create(call(), order)
    assert len(simulated().find(call(), order.token)) == left


def test_a_simulated_machine_that_breaks() -> None:
    assert simulated(broken=1.0).create(call(), wanted()).condition == Condition.BROKEN


def test_a_simulated_machine_that_cannot_be_removed() -> None:
    made = simulated().create(call(), wanted())
    with pytest.raises(Unavailable):
        simulated(stuck=1.0).delete(call(), made.id)
    assert SimulatedMachine.objects.get().gone_at is None


class Half(Driver):
    """A driver that implements only `create`."""

    kind = "half"

    def create(self, call, wanted):
        raise NotImplementedError


class Nameless(Simulated):
    """A driver whose kind is not a valid name."""

    kind = "No Name"


class Lax(Simulated):
    """A driver that accepts any configuration."""

    kind = "lax"
    Config = dict  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("offered", "code"),
    [(Half, "no_method"), (Nameless, "bad_name"), (Lax, "bad_config"), (object, "wrong_class"), (3, "wrong_class")],
)
def test_a_class_that_is_no_driver(offered: object, code: str) -> None:
    with pytest.raises(PluginBroken) as refusal:
        check_driver_class(offered)
    assert refusal.value.code == code


class Forgetful(Simulated):
    """A driver that never finds the machines that it has started."""

    kind = "forgetful"

    def find(self, call, token):
        return []


class Clinging(Simulated):
    """A driver that never removes a machine."""

    kind = "clinging"

    def delete(self, call, machine_id):
        return None


@pytest.mark.parametrize(
    ("driver", "law"), [(Forgetful, "found by its token"), (Clinging, "what is deleted goes within 3 s")]
)
def test_the_laws_have_teeth(driver: Callable[..., Driver], law: str) -> None:
    config = SimulatedConfig(up_after_seconds=0.1, gone_after_seconds=0.1)
    with pytest.raises(AssertionError, match=law):
        check_driver(driver(config), call, patience=3)
