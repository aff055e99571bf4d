"""A fleet whose IDCs have providers, and workers that do at once whatever is to be done."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.placement.models import Machine, MachineState, Placement, Provider, SimulatedMachine
from idcsched.placement.services import placements_reconcile
from idcsched.provisioning.services import machine_tend, provider_create, provider_update

__all__ = ["at_once", "equip", "reconfigure", "standing", "work", "work_once"]

AT_WORK = [MachineState.PENDING, MachineState.CREATING, MachineState.DELETING, MachineState.FAILED]


def at_once(**config: Any) -> dict[str, Any]:
    """A simulated provider that needs no time."""
    return {"up_after_seconds": 0, "gone_after_seconds": 0, **config}


def equip(**configs: dict[str, Any]) -> None:
    """Give IDCs a provider each, of the same code as the IDC."""
    for code, config in configs.items():
        provider_create(code=code, kind="simulated", config=config)
        idc_update(idc=Idc.objects.get(code=code), changes={"provider": code})


def reconfigure(code: str, **config: Any) -> None:
    provider_update(provider=Provider.objects.get(code=code), changes={"config": at_once(**config)})


def work_once(states: Iterable[str] = AT_WORK) -> None:
    """Give every machine in one of these states one turn, however long it should wait for its next one."""
    machines = Machine.objects.filter(state__in=list(states))
    machines.update(next_try_at=timezone.now() - timedelta(seconds=1), claimed_until=None)
    for machine_id in machines.values_list("pk", flat=True):
        machine_tend(machine_id=machine_id)


def work(until: Callable[[], bool] | None = None, *, turns: int = 60) -> None:
    """Give turns until no machine needs one, or until `until` holds."""
    for _ in range(turns):
        if until is not None and until():
            return
        if until is None and not Machine.objects.filter(state__in=AT_WORK).exists():
            placements_reconcile(now=timezone.now() + timedelta(minutes=1))
            if not Machine.objects.filter(state__in=AT_WORK).exists():
                return
        work_once()
    raise AssertionError(f"still at work after {turns} turns: {list(Machine.objects.values('state', 'error'))}")


def standing(placement: Placement | None = None) -> set[str]:
    """The tokens of the simulated machines that are up, or of the active machines of one placement."""
    if placement is None:
        return {each.token for each in SimulatedMachine.objects.filter(gone_at__isnull=True)}
    machines = Machine.objects.filter(attempt__placement=placement, state=MachineState.ACTIVE)
    return {str(pk) for pk in machines.values_list("pk", flat=True)}
