"""Checks of a request that comes in; requests read from old records are not checked."""

from collections.abc import Iterator, Sequence

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.matching import Term, unknown_facts
from idcsched.framework.messages import _
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.profile import Profile
from idcsched.framework.request import RESOURCES, Hypothetical, Machine, Planned, Request
from idcsched.framework.snapshot import Snapshot

__all__ = ["planned_check", "request_check", "supposition_check"]

LEAST = 10.0**-DECIMALS
"""The smallest amount that figures can show."""


def request_check(request: Request) -> None:
    """Check a request without data; raises Invalid for parts that would mean nothing."""
    errors = [*_amounts(request.machines), *unknown_facts(_terms(request))]
    if request.isp_match is not None and request.isp is None:
        errors.append(FieldError("/isp_match", "isp_required", _("this means nothing without `isp`")))
    if request.partition == "":
        errors.append(
            FieldError("/partition", "required", _("this may not be empty; leave it out to take any partition"))
        )
    if errors:
        raise Invalid.of(errors)


def planned_check(planned: Planned | None, snapshot: Snapshot) -> None:
    """Raise Invalid where there is no IDC of the planned code."""
    if planned is not None and planned.idc not in snapshot.idcs.row_of:
        raise Invalid("unknown_idc", _("there is no IDC {name}"), "/planned/idc", name=planned.idc)


def supposition_check(supposed: Hypothetical | None, snapshot: Snapshot, profile: Profile) -> None:
    """Raise Invalid where a supposition about taints would change nothing."""
    if supposed is None:
        return
    if supposed.taints and profile.of_plugin("taint") is None:
        detail = _("profile {profile} does not look at taints")
        raise Invalid("taints_not_judged", detail, "/hypothetical/taints", profile=profile.code)
    for position, ignored in enumerate(supposed.ignore_taints or ()):
        taints, row = snapshot.taints, snapshot.idcs.row_of.get(ignored.idc)
        held = [taints.kinds[kind] for kind in taints.kind[taints.idc == row].tolist()]
        if row is not None and not any(
            key == ignored.key and ignored.effect in (None, effect) for key, _, effect in held
        ):
            raise Invalid(
                "unknown_taint",
                _("{idc} has no taint {name}"),
                f"/hypothetical/ignore_taints/{position}/key",
                idc=ignored.idc,
                name=ignored.key,
            )


def _amounts(machines: Sequence[Machine] | None) -> Iterator[FieldError]:
    """Yield the amounts above 0 that are too small to be shown."""
    for index, machine in enumerate(machines or ()):
        for name in RESOURCES:
            if 0 < (getattr(machine, name) or 0) < LEAST:
                detail = _("this must be 0, or at least {low:g}")
                yield FieldError(f"/machines/{index}/{name}", "out_of_range", detail, {"low": LEAST})


def _terms(request: Request) -> Iterator[tuple[str, Term]]:
    """Yield the terms of a request, with their JSON pointers."""
    if isinstance(request.selector, Term):
        yield "/selector", request.selector
    lists = {
        "selector": request.terms if isinstance(request.selector, tuple) else (),
        "prefer": request.prefer,
        "fallback": request.fallback,
    }
    for name, terms in lists.items():
        for position, term in enumerate(terms or ()):
            yield f"/{name}/{position}", term
