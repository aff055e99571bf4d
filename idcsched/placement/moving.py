"""Moving a placement: a second one reserves the new place, and replaces the first when the portal confirms it.

Until then both hold what they take. If the second is released or expires, the first stays as it is.
"""

from typing import Annotated, Any

import msgspec
from django.db import IntegrityError, transaction

from idcsched.accounts.roles import Principal
from idcsched.framework.claiming import narrowed_to
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, Invalid
from idcsched.framework.messages import Message, _
from idcsched.framework.request import Code, Planned, Request, TtlSeconds
from idcsched.framework.snapshot import Snapshot
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, decide_request
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder

from .callbacks import callback_host_check
from .candidates import Candidate, candidate_of
from .events import placement_locked
from .lifecycle import Action, State
from .models import Placement
from .ordering import NoFeasible
from .orders import Order, Take, order_of
from .reserving import take_together

__all__ = ["Destination", "placement_move"]


class Destination(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a placement is to go: an IDC, and the lines that are used there; without `lines` the profile chooses.

    `saves_at_least`: what the move must save a month, else it is refused; `ttl_seconds`: for how long the new place is
    held until it is confirmed.
    """

    idc: Code
    lines: Annotated[tuple[Code, ...], msgspec.Meta(min_length=1, max_length=1000)] | None = None
    saves_at_least: Annotated[float, msgspec.Meta(ge=0)] | None = None
    ttl_seconds: TtlSeconds | None = None


def placement_move(
    *,
    placement: Placement,
    destination: Destination,
    principal: Principal,
    http_request_id: str,
    promised: float | None = None,
) -> Placement:
    """Reserve the place and return the new placement that holds it. All filters of today's profile must pass it.

    `promised`, what the advice says that the move saves a month, stands in the new placement's first event.

    Raises Invalid `unknown_idc`, `unknown_line`, Conflict `not_movable`, `stands_there`, `move_underway`,
    `order_outdated`, NoFeasible `move_does_not_fit`, PluginFailed.
    """
    live.catch_up()
    _names_check(destination, live.current().snapshot)
    _movable_check(placement)
    order, made = _decided(placement, destination, principal, http_request_id)
    candidate = _chosen(made, destination)
    stays = placement.idc is not None and candidate.idc == placement.idc.code
    if stays and {code for code, _isp in candidate.lines} == {use["line"] for use in placement.lines}:
        raise Conflict("stands_there", _("the placement stands there already"))
    try:
        with transaction.atomic():
            _movable_check(placement_locked(placement.pk))  # another call may have been quicker
            return take_together([Take(order=order, made=made, candidate=candidate, promised=promised)])[0]
    except IntegrityError as error:
        if oversold(error):
            raise _refused(
                made, _("{idc} does not fit any more: a concurrent order was quicker"), idc=candidate.idc
            ) from error
        raise


def _names_check(destination: Destination, snapshot: Snapshot) -> None:
    row = snapshot.idcs.row_of.get(destination.idc)
    if row is None:
        raise Invalid("unknown_idc", _("there is no IDC {name}"), "/idc", name=destination.idc)
    there = snapshot.lines.codes_of(row)
    for number, line in enumerate(destination.lines or ()):
        if line not in there:
            raise Invalid(
                "unknown_line", _("{idc} has no line {name}"), f"/lines/{number}", idc=destination.idc, name=line
            )


def _movable_check(placement: Placement) -> None:
    """Raise Conflict unless the portal has confirmed the placement, and no move of it is underway."""
    if placement.state != State.ACTIVE:
        raise Conflict(
            "not_movable", _("only a placement that is active can be moved; this is {state}"), state=placement.state
        )
    if placement.action != Action.RESERVE or placement.attempts.exists():
        raise Conflict("not_movable", _("its machines were started by a provider, and can't be moved from here"))
    shares = Placement.objects.filter(group_id=placement.group_id, decision_id=placement.decision_id)
    if placement.group_id is not None and shares.exclude(pk=placement.pk).exists():
        raise Conflict("not_movable", _("it is a part of an order over several IDCs"))
    other = Placement.objects.filter(replaces=placement.pk, state=State.RESERVED).values_list("pk", flat=True).first()
    if other is not None:
        raise Conflict(
            "move_underway", _("it is being moved already: confirm or release placement {other}"), other=str(other)
        )


def _decided(
    placement: Placement, destination: Destination, principal: Principal, http_request_id: str
) -> tuple[Order, MadeDecision]:
    """Decide the placement's order again, with the destination as what is planned.

    Raises Conflict `order_outdated` where the order names what is gone by now.
    """
    asked = convert(placement.request, Request)
    if asked.only is not None and destination.idc not in asked.only:
        raise Conflict("move_does_not_fit", _("the order names the IDCs that it may use, and this is none of them"))
    ttl = asked.ttl_seconds if destination.ttl_seconds is None else destination.ttl_seconds
    kept = msgspec.structs.replace(asked, action="reserve", wait_seconds=None, ttl_seconds=ttl)
    there = msgspec.structs.replace(
        kept,
        only=(destination.idc,),
        planned=Planned(idc=destination.idc, lines=destination.lines),
        hypothetical=None,
        explain="full",
    )
    tenant, actor = placement.tenant.code, principal.username
    try:
        order = order_of(kept, tenant=tenant, actor=actor, replaces=placement.pk, group_id=placement.group_id)
        callback_host_check(kept.callback_url, order.tenant)
        return order, decide_request(request=there, tenant=tenant, actor=actor, http_request_id=http_request_id)
    except Invalid as error:
        detail = _("its order can't be decided any more: {reason}")
        raise Conflict("order_outdated", detail, reason=error.errors[0]) from error


def _chosen(made: MadeDecision, destination: Destination) -> Candidate:
    """Return the destination as a candidate; raises NoFeasible that says why it is none."""
    decision = made.decision
    if not decision.scheduled:
        reasons = {row.idc: row.reason for row in made.answer.rejected or ()}
        reason = reasons.get(destination.idc, made.answer.summary)
        raise _refused(made, _("{idc} does not fit: {reason}"), idc=destination.idc, reason=reason)
    candidate = candidate_of(narrowed_to(decision, decision.picked), decision.profile, rank=1)
    if candidate.refusal:
        raise _refused(
            made,
            _("{idc} does not fit: a plugin does not permit it ({reason})"),
            idc=candidate.idc,
            reason=candidate.refusal,
        )
    if destination.lines is not None and {code for code, _isp in candidate.lines} != set(destination.lines):
        lines = ", ".join(destination.lines)
        raise _refused(made, _("{idc} does not fit: the order can't use {lines} there"), idc=candidate.idc, lines=lines)
    return candidate


def _refused(made: MadeDecision, detail: Message, **params: Any) -> NoFeasible:
    recorder.hand_in(made.record)
    return NoFeasible("move_does_not_fit", detail, made, **params)
