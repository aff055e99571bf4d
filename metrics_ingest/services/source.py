from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from idcsched.audit.writing import row_create, row_delete, row_update, write
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _
from metrics_ingest.models import Source
from metrics_ingest.sources.periodic import periodic_task_delete, periodic_task_save
from metrics_ingest.sources.preparing import source_check

__all__ = ["source_ask", "source_create", "source_delete", "source_names_map", "source_update"]

FIELDS = frozenset({"code", "kind", "schedule", "config", "mapping", "secret_ref", "regions", "enabled"})
RESTARTING = ("kind", "schedule", "config", "mapping", "secret_ref", "enabled")
"""The fields whose change makes a source due at once, so that an operator sees the effect."""


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
    """Create a source, due at once, that writes samples of IDCs in these regions, or everywhere.

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
    periodic_task_save(row_create(source))
    return source


@write()
def source_update(*, source: Source, changes: Mapping[str, Any]) -> Source:
    """Change a source's fields; raises Invalid, NotFound, Conflict. A run under way keeps its former fields."""
    former_code = source.code
    changed = row_update(source, changes, allowed=FIELDS)
    source_check(changed)
    if any(name in changes and changes[name] != getattr(source, name) for name in RESTARTING):
        Source.objects.filter(pk=changed.pk).update(due_at=timezone.now(), failures=0)
    if former_code != changed.code:
        periodic_task_delete(former_code)
    periodic_task_save(changed)
    changed.refresh_from_db()
    return changed


@write()
def source_names_map(*, source: Source, idcs: Mapping[str, str], lines: Mapping[str, str]) -> Source:
    """Let names in the source's values stand for these IDCs and lines from now on; raises Invalid, NotFound, Conflict.

    A name that the mapping has translated so far to one that matches nothing is translated anew with it.
    """
    stored = Source.objects.select_for_update().get(pk=source.pk)
    mapping = {
        **stored.mapping,
        **{
            field: {**{name: chosen.get(code, code) for name, code in known.items()}, **chosen}
            for field, chosen in (("idcs", idcs), ("lines", lines))
            for known in [stored.mapping.get(field, {})]
            if chosen
        },
    }
    return source_update(source=stored, changes={"mapping": mapping})


@write()
def source_delete(*, source: Source) -> None:
    """Remove a source with its runs; its samples stay. Raises NotFound."""
    row_delete(source)
    periodic_task_delete(source.code)


@write()
def source_ask(*, source: Source, now: datetime) -> Source:
    """Make a source due now; raises Conflict while the source is switched off or being asked."""
    stored = Source.objects.select_for_update().get(pk=source.pk)
    if not stored.enabled:
        raise Conflict("source_disabled", _("the source is switched off"))
    if stored.claimed_until is not None and stored.claimed_until > now:
        raise Conflict("already_running", _("the source is being asked just now"))
    stored.due_at = now
    stored.save(update_fields=["due_at"])
    return stored
