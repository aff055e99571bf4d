"""The state machine of a placement: which move leads from which state to which.

    – ──────── wait ──→ waiting ─── expire, release ──→ expired, released
    – ──── reserve ──→ reserved ←── reserve ── waiting
    reserved ── confirm ──→ active          reserved ── release, expire ──→ released, expired
    reserved ── provision ──→ provisioning ── up ──→ active
                              provisioning ── fall ──→ provisioning, in another IDC
                              provisioning ── fail ──→ failed ── retry ──→ provisioning
    provisioning, active ── release ──→ releasing ── gone, give_up ──→ released
    active ── lost, found ──→ active, without machines that should be there, and with them again
    failed ── release ──→ released

Every other move is refused. The services do what a move means to capacity and machines.
"""

from collections.abc import Mapping
from types import MappingProxyType

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy

from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _

__all__ = ["ENDED", "HOLDING", "MOVES", "Action", "Move", "State", "next_state"]


class Action(TextChoices):
    """The aim of an order: reserved capacity, or started machines."""

    RESERVE = "reserve", gettext_lazy("reserve")
    PROVISION = "provision", gettext_lazy("provision")


class State(TextChoices):
    WAITING = "waiting", gettext_lazy("waiting")
    RESERVED = "reserved", gettext_lazy("reserved")
    PROVISIONING = "provisioning", gettext_lazy("provisioning")
    ACTIVE = "active", gettext_lazy("active")
    RELEASING = "releasing", gettext_lazy("releasing")
    RELEASED = "released", gettext_lazy("released")
    EXPIRED = "expired", gettext_lazy("expired")
    FAILED = "failed", gettext_lazy("failed")


class Move(TextChoices):
    """A move of a placement. Clients request `provision`, `confirm`, `release` and `retry`, operators `give_up`."""

    WAIT = "wait", gettext_lazy("wait")
    RESERVE = "reserve", gettext_lazy("reserve")
    PROVISION = "provision", gettext_lazy("provision")
    CONFIRM = "confirm", gettext_lazy("confirm")
    UP = "up", gettext_lazy("machines are up")
    FALL = "fall", gettext_lazy("fall to another IDC")
    FAIL = "fail", gettext_lazy("fail")
    RETRY = "retry", gettext_lazy("retry")
    RELEASE = "release", gettext_lazy("release")
    GONE = "gone", gettext_lazy("machines are gone")
    GIVE_UP = "give_up", gettext_lazy("give up")
    LOST = "lost", gettext_lazy("machines are missing")
    FOUND = "found", gettext_lazy("machines are there again")
    EXPIRE = "expire", gettext_lazy("expire")


HOLDING = frozenset({State.RESERVED, State.PROVISIONING, State.ACTIVE, State.RELEASING})
"""The states in which a placement holds capacity."""
ENDED = frozenset({State.RELEASED, State.EXPIRED})
"""The states that no move leaves."""

MOVES: Mapping[State | None, Mapping[Move, State]] = MappingProxyType(
    {
        None: {Move.WAIT: State.WAITING, Move.RESERVE: State.RESERVED},
        State.WAITING: {
            Move.RESERVE: State.RESERVED,
            Move.EXPIRE: State.EXPIRED,
            Move.RELEASE: State.RELEASED,
        },
        State.RESERVED: {
            Move.PROVISION: State.PROVISIONING,
            Move.CONFIRM: State.ACTIVE,
            Move.RELEASE: State.RELEASED,
            Move.EXPIRE: State.EXPIRED,
        },
        State.PROVISIONING: {
            Move.UP: State.ACTIVE,
            Move.FALL: State.PROVISIONING,
            Move.FAIL: State.FAILED,
            Move.RELEASE: State.RELEASING,
        },
        State.ACTIVE: {Move.RELEASE: State.RELEASING, Move.LOST: State.ACTIVE, Move.FOUND: State.ACTIVE},
        State.RELEASING: {Move.GONE: State.RELEASED, Move.GIVE_UP: State.RELEASED},
        State.FAILED: {Move.RETRY: State.PROVISIONING, Move.RELEASE: State.RELEASED},
        State.RELEASED: {},
        State.EXPIRED: {},
    }
)


def next_state(state: str | None, move: Move) -> State:
    """Return the state to which the move leads; raises Conflict `invalid_transition`."""
    known = None if state is None else State(state)
    try:
        return MOVES[known][move]
    except KeyError:
        raise Conflict(
            "invalid_transition", _("a placement that is {state} cannot {move}"), state=state or "new", move=move.value
        ) from None
