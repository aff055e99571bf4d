"""Checks of a request that comes in; requests read from old records are not checked."""

from collections.abc import Iterator, Sequence

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.matching import Term, pointed_terms, unknown_facts, unknown_values
from idcsched.framework.messages import _
from idcsched.framework.profile import Profile
from idcsched.framework.request import LEAST, RESOURCES, Hypothetical, Machine, Request
from idcsched.framework.snapshot import Snapshot

__all__ = ["names_check", "request_check", "supposition_check"]


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


def names_check(request: Request, snapshot: Snapshot) -> None:
    """Raise Invalid where the plan or a selector names what is not there.

    Other names are checked with each decision, also in a replay. These can't be: a record has the IDCs and regions that
    its request could see, and a selector may name others.
    """
    idcs, planned = snapshot.idcs.row_of, request.planned
    if planned is not None and planned.idc not in idcs:
        raise Invalid("unknown_idc", _("there is no IDC {name}"), "/planned/idc", name=planned.idc)
    known = {"idc/code": idcs, "idc/isp": snapshot.isps, "idc/region": snapshot.regions}
    if errors := list(unknown_values(_terms(request), lambda fact, name: name in known[fact])):
        raise Invalid.of(errors)


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
    for name in ("selector", "prefer", "fallback"):
        yield from pointed_terms(getattr(request, name), f"/{name}")
