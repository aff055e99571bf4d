from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _
from metrics_ingest.models import Source
from metrics_ingest.sources.periodic import schedule_drop, schedule_follow
from metrics_ingest.sources.preparing import source_check

__all__ = ["source_ask", "source_create", "source_delete", "source_update"]

FIELDS = frozenset({"code", "kind", "schedule", "config", "mapping", "secret_ref", "regions", "enabled"})
RESTARTING = ("kind", "schedule", "config", "mapping", "secret_ref", "enabled")
"""What is changed about a source to see it work: it is asked at once, not at the next turn."""


@write()
def source_create(
    *,
    code: str,
    kind: str,
    schedule: str,
    config: Mapping[str, Any] | None = None,
    mapping: Mapping[str, Any] | None = None,
    secret_ref: str = "",
    regions: Sequence[str] | None = None,
    enabled: bool = True,
) -> Source:
    """A new source, due at once, which writes in those regions, or everywhere.

    Raises Invalid with everything that is wrong, Conflict.
    """
    source = Source(
        code=code,
        kind=kind,
        schedule=schedule,
        config={} if config is None else config,
        mapping={} if mapping is None else mapping,
        secret_ref=secret_ref,
        regions=regions,
        enabled=enabled,
    )
    source_check(source)
    schedule_follow(row_create(source))
    return source


@write()
def source_update(*, source: Source, changes: Mapping[str, Any]) -> Source:
    """Set those fields; raises Invalid, NotFound, Conflict. A run that is going on ends as it began."""
    former = source.code
    changed = row_update(source, changes, allowed=FIELDS)
    source_check(changed)
    if any(name in changes and changes[name] != getattr(source, name) for name in RESTARTING):
        Source.objects.filter(pk=changed.pk).update(due_at=timezone.now(), failures=0)
    if former != changed.code:
        schedule_drop(former)
    schedule_follow(changed)
    changed.refresh_from_db()
    return changed


@write()
def source_delete(*, source: Source) -> None:
    """Remove a source with its runs; what it has brought stays. Raises NotFound."""
    row_delete(source)
    schedule_drop(source.code)


@write()
def source_ask(*, source: Source, now: datetime) -> Source:
    """Have it asked as soon as a worker is free; raises Conflict while it is switched off or being asked."""
    there = Source.objects.select_for_update().get(pk=source.pk)
    if not there.enabled:
        raise Conflict("source_disabled", _("the source is switched off"))
    if there.claimed_until is not None and there.claimed_until > now:
        raise Conflict("already_running", _("the source is being asked just now"))
    there.due_at = now
    there.save(update_fields=["due_at"])
    return there
