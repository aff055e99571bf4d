"""Imports in the background: uploaded, checked, confirmed or withdrawn, applied."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from django.utils.translation import gettext, override
from structlog.contextvars import bound_contextvars

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, principal_of
from idcsched.audit.context import origin, origin_set
from idcsched.audit.row_check import row_check
from idcsched.framework.errors import Conflict, Forbidden, IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.scope import scoped
from idcsched.jobs.announcing import announce
from idcsched.language.wording import explained

from .importing import Outcome, import_inventory
from .jobs import ClaimHeartbeat, claimable, claimed
from .models import Import, Missing, State
from .reading import MAX_BYTES, read_files

__all__ = ["import_confirm", "import_create", "import_run", "import_withdraw", "imports_prune", "imports_resume"]

SHOWN = 1000
"""How many changes of each kind and action are kept to be shown."""
ATTEMPTS = 3
GRACE = timedelta(seconds=10)
"""How long a message may take before the sweep sends another."""


@transaction.atomic
def import_create(
    *,
    user: User,
    file_name: str,
    content: bytes,
    kind: str = "",
    missing: str = Missing.KEEP,
    message: str = "",
    language: str = "en",
) -> Import:
    """Create an import of a file in the name of the user, and have the file checked; raises Invalid."""
    if len(content) > MAX_BYTES:
        raise Invalid("too_large", _("the file has more than {limit} MiB"), "/file", limit=MAX_BYTES >> 20)
    job = Import(
        user=user,
        actor=user.get_username(),
        file_name=file_name,
        content=content,
        kind=kind,
        missing=missing,
        message=message,
        language=language,
        request_id=origin().request_id,
    )
    row_check(job)
    job.save(force_insert=True)
    _announce(job.pk)
    return job


@transaction.atomic
def import_confirm(*, job: Import, user: User) -> None:
    """Confirm that the import is to be done as previewed; only its uploader may. Raises Forbidden, Conflict."""
    _move(job, user, State.CONFIRMED)
    _announce(job.pk)


@transaction.atomic
def import_withdraw(*, job: Import, user: User) -> None:
    """Withdraw an import after its preview; only its uploader may. Raises Forbidden, Conflict."""
    _move(job, user, State.WITHDRAWN, content=b"")


def import_run(*, import_id: int) -> dict[str, int]:
    """Check or apply an import, whichever is next, unless another worker has it; return how many rows were changed.

    A worker killed at any moment has changed nothing or everything, and the sweep has the import taken up again.
    """
    job = claimed(import_id)
    if job is None:
        return {"changed": 0}
    if job.attempts > ATTEMPTS:
        _end(job, State.FAILED, faults=[_text_fault(gettext("it was interrupted too often"))])
        return {"changed": 0}
    try:
        with override(job.language), ClaimHeartbeat(job) as beat:
            return {"changed": _run(job, beat)}
    except IdcschedError as refusal:
        with override(job.language):
            _end(job, State.REFUSED, faults=[_text_fault(explained(refusal))])
    except (OperationalError, InterfaceError):
        raise  # the database is away: the sweep will find the import without a sign of life
    except Exception as error:
        _end(job, State.FAILED, faults=[_text_fault(f"{type(error).__name__}: {error}")])
        raise
    return {"changed": 0}


def imports_resume(*, now: datetime) -> dict[str, int]:
    """Announce to the workers the imports that none of them has: the message was lost, or the worker is gone."""
    waiting = Import.objects.filter(claimable(), moved_at__lt=now - GRACE).order_by("pk")
    import_ids = list(waiting.values_list("pk", flat=True)[:100])
    for import_id in import_ids:
        _announce(import_id)
    return {"resumed": len(import_ids)}


def imports_prune(*, before: datetime) -> dict[str, int]:
    """Delete imports that were over by that time, and previews that were not confirmed since."""
    over = [State.CHECKED, State.APPLIED, State.REFUSED, State.FAILED, State.WITHDRAWN]
    return {"pruned": Import.objects.filter(state__in=over, moved_at__lt=before).delete()[0]}


def _move(job: Import, user: User, state: State, **values: Any) -> None:
    if job.user_id != user.pk:
        raise Forbidden("not_yours", _("only who brought the file may do this"))
    waiting = Import.objects.filter(pk=job.pk, state=State.CHECKED)
    if waiting.update(state=state, moved_at=timezone.now(), attempts=0, **values) != 1:
        raise Conflict("invalid_transition", _("this import is not waiting for a go-ahead"))


def _run(job: Import, beat: ClaimHeartbeat) -> int:
    apply = job.state == State.APPLYING
    contents = read_files([(job.file_name, bytes(job.content))], job.kind)
    on_behalf = origin_set(actor=job.actor, via="import", request_id=job.request_id, message=job.message)
    with on_behalf, bound_contextvars(request_id=job.request_id):
        outcome = import_inventory(
            contents,
            principal=_principal(job),
            missing=job.missing,
            dry_run=not apply,
            expected=job.fingerprint if apply else "",
            progress=beat.progress,
            finish=lambda outcome: _end(job, State.APPLIED, **_result(outcome)),
        )
    if outcome.faults:
        _end(job, State.REFUSED, notes=contents.notes, **_result(outcome))
    elif not apply:
        _end(job, State.CHECKED, notes=contents.notes, fingerprint=outcome.fingerprint, **_result(outcome))
    return len(outcome.changes) if apply else 0


def _principal(job: Import) -> Principal:
    """Return the uploader's principal, with the present role and regions; raises Forbidden for an inactive user."""
    if job.user is None or not job.user.is_active:
        raise Forbidden("user_gone", _("{user} may not log in any more"), user=job.actor)
    return scoped(principal_of(job.user))


def _end(job: Import, state: State, **values: Any) -> None:
    """Set the import's state and release the claim; raises Conflict if another worker has taken the import over."""
    if state != State.CHECKED:
        values["content"] = b""
    own = Import.objects.filter(pk=job.pk, claim=job.claim)
    if own.update(state=state, moved_at=timezone.now(), claim=None, **values) != 1:
        raise Conflict("claim_lost", _("another worker has taken this import over"))


def _result(outcome: Outcome) -> dict[str, Any]:
    total = sum(sum(counts.values()) for counts in outcome.counts.values())
    groups: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for change in outcome.changes:
        if len(group := groups[change.kind, change.action]) < SHOWN:
            fields = [[name, old, new] for name, (old, new) in change.changes.items() if old != new]
            named = {"row": change.row, "kind": change.kind, "key": change.key, "action": change.action}
            group.append({**named, "fields": fields})
    faults = [{"row": fault.row, "column": fault.column, "text": explained(fault.error)} for fault in outcome.faults]
    changes = [change for group in groups.values() for change in group]
    return {"counts": outcome.counts, "changes": changes, "faults": faults, "done": total, "total": total}


def _text_fault(text: str) -> Mapping[str, str]:
    return {"row": "", "column": "", "text": text}


def _announce(import_id: int) -> None:
    transaction.on_commit(lambda: announce("idcsched.imports.tasks.import_run", import_id))
