"""How a placement moves: its state, its version and the event that tells of it change together, in one transaction."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from idcsched.audit.context import origin
from idcsched.framework.errors import NotFound
from idcsched.framework.messages import _

from .callbacks import announced, callbacks_of
from .lifecycle import Move, State, next_state
from .models import Delivery, Event, Placement

__all__ = ["advance", "first_events", "held"]


def held(placement_id: UUID | str, *, skip_locked: bool = False) -> Placement:
    """The placement as it stands in the database, held until the transaction ends; raises NotFound.

    Its IDC is read by itself: who has waited for the row finds it as it is now, but what PostgreSQL has joined to it as
    it was before.
    """
    found = Placement.objects.select_for_update(skip_locked=skip_locked).filter(pk=placement_id).first()
    if found is None:
        raise NotFound("not_found", _("there is no placement {id}"), id=str(placement_id))
    return found


def advance(placement: Placement, move: Move, *, detail: Mapping[str, Any] | None = None, **changes: Any) -> None:
    """Make the move, with other changes of the row; raises Conflict `invalid_transition`.

    The placement must be `held`.
    """
    if placement.state == State.WAITING:
        placement.awaits.clear()
    placement.state = next_state(placement.state, move)
    placement.version += 1
    placement.changed_at = timezone.now()
    for name, value in changes.items():
        setattr(placement, name, value)
    placement.save(update_fields=["state", "version", "changed_at", *changes])
    event = _event(placement, move, detail or {})
    event.save(force_insert=True)
    Delivery.objects.bulk_create(callbacks_of([event]))
    announced(placement)


def first_events(placement: Placement, moves: Mapping[Move, Mapping[str, Any]]) -> list[Event]:
    """The events of a placement that is about to be written, which comes out in the last move's state."""
    events, state = [], None
    for version, (move, detail) in enumerate(moves.items(), 1):
        state = next_state(state, move)
        placement.state, placement.version = state, version
        events.append(_event(placement, move, detail))
    return events


def _event(placement: Placement, move: Move, detail: Mapping[str, Any]) -> Event:
    said = {"message": message} if (message := origin().message) else {}
    return Event(
        placement=placement,
        version=placement.version,
        at=placement.changed_at,
        move=move,
        state=placement.state,
        actor=origin().actor,
        detail={**detail, **said},
    )
