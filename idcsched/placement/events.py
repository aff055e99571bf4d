"""Moves of a placement: its state, its version and its event are written in one transaction."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from idcsched.audit.context import origin
from idcsched.framework.errors import NotFound
from idcsched.framework.messages import _

from .callbacks import announce_on_commit, callbacks_of
from .lifecycle import Move, State, next_state
from .models import Delivery, Event, Placement

__all__ = ["advance", "first_events", "placement_locked"]


def placement_locked(placement_id: UUID | str, *, skip_locked: bool = False) -> Placement:
    """Lock the placement until the transaction ends and return its current row; raises NotFound.

    The IDC is not joined: after waiting for a lock, PostgreSQL returns the locked row as it is now, but joined rows as
    they were before.
    """
    placement = Placement.objects.select_for_update(skip_locked=skip_locked).filter(pk=placement_id).first()
    if placement is None:
        raise NotFound("not_found", _("there is no placement {id}"), id=str(placement_id))
    return placement


def advance(placement: Placement, move: Move, *, detail: Mapping[str, Any] | None = None, **changes: Any) -> None:
    """Make a move of a `held` placement, with other changes of its row; raises Conflict `invalid_transition`."""
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
    announce_on_commit(placement)


def first_events(placement: Placement, moves: Mapping[Move, Mapping[str, Any]]) -> list[Event]:
    """Return the events of a new placement that is not saved yet, and set its state to that of the last move."""
    events, state = [], None
    for version, (move, detail) in enumerate(moves.items(), 1):
        state = next_state(state, move)
        placement.state, placement.version = state, version
        events.append(_event(placement, move, detail))
    return events


def _event(placement: Placement, move: Move, detail: Mapping[str, Any]) -> Event:
    message = {"message": text} if (text := origin().message) else {}
    return Event(
        placement=placement,
        version=placement.version,
        at=placement.changed_at,
        move=move,
        state=placement.state,
        actor=origin().actor,
        detail={**detail, **message},
    )
