"""The life of a placement: which state may follow which, by what move.

    – ──────── wait ──→ waiting ─── expire, release ──→ expired, released
    – ──── reserve ──→ reserved ←── reserve ── waiting
    reserved ── confirm ──→ active          reserved ── release, expire ──→ released, expired
    reserved ── provision ──→ provisioning ── up ──→ active
                              provisioning ── fall ──→ provisioning, in another IDC
                              provisioning ── fail ──→ failed ── retry ──→ provisioning
    provisioning, active ── release ──→ releasing ── gone, give_up ──→ released
    active ── lost, found ──→ active, without machines that should be there, and with them again
    failed ── release ──→ released

Anything else is no legal move. What a move does to capacity and machines is the services' business.
"""

from collections.abc import Mapping
from types import MappingProxyType

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from idcsched.framework.errors import Conflict

__all__ = ["ENDED", "HOLDING", "MOVES", "Action", "Move", "State", "next_state"]


class Action(TextChoices):
    """What an order wants in the end."""

    RESERVE = "reserve", _("reserve")
    PROVISION = "provision", _("provision")


class State(TextChoices):
    WAITING = "waiting", _("waiting")
    RESERVED = "reserved", _("reserved")
    PROVISIONING = "provisioning", _("provisioning")
    ACTIVE = "active", _("active")
    RELEASING = "releasing", _("releasing")
    RELEASED = "released", _("released")
    EXPIRED = "expired", _("expired")
    FAILED = "failed", _("failed")


class Move(TextChoices):
    """What can be done to a placement. Clients ask for `provision`, `confirm`, `release` and `retry`, operators for
    `give_up`.
    """

    WAIT = "wait", _("wait")
    RESERVE = "reserve", _("reserve")
    PROVISION = "provision", _("provision")
    CONFIRM = "confirm", _("confirm")
    UP = "up", _("machines are up")
    FALL = "fall", _("fall to another IDC")
    FAIL = "fail", _("fail")
    RETRY = "retry", _("retry")
    RELEASE = "release", _("release")
    GONE = "gone", _("machines are gone")
    GIVE_UP = "give_up", _("give up")
    LOST = "lost", _("machines are missing")
    FOUND = "found", _("machines are there again")
    EXPIRE = "expire", _("expire")


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
    """What the move leads to; raises Conflict `invalid_transition`."""
    known = None if state is None else State(state)
    try:
        return MOVES[known][move]
    except KeyError:
        raise Conflict(
            "invalid_transition", "a placement that is {state} cannot {move}", state=state or "new", move=move.value
        ) from None
