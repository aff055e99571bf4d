"""Every write of this room: profiles as immutable revisions, and the records of decisions."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.at_once import give_way
from idcsched.audit.context import origin
from idcsched.audit.services import change_record, feed_append
from idcsched.audit.statements import insertion
from idcsched.audit.writing import row_check, write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, FieldError, Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.ranges import without_range
from metrics_ingest.models import Metric

from .models import Decision, Profile, ProfileRevision
from .pictures import pictures, pictures_expire
from .plugins import registry
from .records import DecisionRecord, DecisionRow
from .selectors import revision_named

__all__ = [
    "decisions_expire",
    "decisions_record",
    "profile_activate",
    "profile_create",
    "profile_delete",
    "profile_revise",
]

DEFAULT_PROFILE = "default"
PIECE = 40
"""Records that are written by one statement."""


@write()
def profile_create(*, code: str, name: str = "", body: Mapping[str, Any], message: str = "") -> Profile:
    """A new profile with its first revision in force; raises Invalid or Conflict."""
    _check_body(code, body)
    if Profile.objects.filter(code=code).exists():
        raise Conflict("already_exists", "there is a profile {name} already", name=code)
    profile = Profile(code=code, name=name)
    row_check(profile)
    profile.save()
    profile.active = _revision(profile, 1, body, message)
    profile.save(update_fields=["active"])
    change_record(kind="profile", key=code, before=None, after={"name": name, "revision": 1, **body})
    feed_append(topic="profiles", key=code)
    return profile


@write()
def profile_revise(
    *, profile: Profile, body: Mapping[str, Any], name: str | None = None, message: str = "", activate: bool = True
) -> ProfileRevision:
    """The next revision of a profile, in force at once unless `activate` is false; raises Invalid."""
    profile = Profile.objects.select_for_update().get(pk=profile.pk)
    _check_body(profile.code, body)
    before = {"name": profile.name, **(profile.active.body if profile.active else {})}
    latest = profile.revisions.order_by("-number").values_list("number", flat=True).first() or 0
    revision = _revision(profile, latest + 1, body, message)
    after = {"name": profile.name if name is None else name, **body}
    if name is not None:
        profile.name = name
        row_check(profile)
    if activate:
        profile.active = revision
    profile.save(update_fields=["name", "active"])
    change_record(
        kind="profile",
        key=profile.code,
        before=before,
        after={**after, "revision": revision.number, "active": activate},
    )
    feed_append(topic="profiles", key=profile.code)
    return revision


@write()
def profile_activate(*, profile: Profile, number: int) -> ProfileRevision:
    """Put a revision in force, an earlier one too; raises NotFound, or Invalid where its plugins are gone."""
    profile = Profile.objects.select_for_update().get(pk=profile.pk)
    revision = revision_named(profile, number)
    _check_body(profile.code, revision.body)
    before = profile.active.number if profile.active else None
    profile.active = revision
    profile.save(update_fields=["active"])
    change_record(kind="profile", key=profile.code, before={"revision": before}, after={"revision": number})
    feed_append(topic="profiles", key=profile.code)
    return revision


@write()
def profile_delete(*, profile: Profile) -> None:
    """Remove a profile that nothing needs; raises Conflict."""
    used = Tenant.objects.filter(default_profile=profile.code).exists()
    if profile.code == DEFAULT_PROFILE or used or Decision.objects.filter(profile=profile.code).exists():
        raise Conflict("in_use", "profile {name} is in use: decisions or tenants name it", name=profile.code)
    body = dict(profile.active.body) if profile.active else {}
    Profile.objects.filter(pk=profile.pk).update(active=None)
    profile.delete()
    change_record(kind="profile", key=profile.code, before={"name": profile.name, **body}, after=None)
    feed_append(topic="profiles", key=profile.code)


def decisions_record(*, records: Sequence[DecisionRecord]) -> int:
    """Keep answers that were given, in one transaction; one that is kept already stays as it is. Says how many."""
    codes = {record.tenant for record in records if record.tenant}
    tenants = dict(Tenant.objects.filter(code__in=codes).values_list("code", "pk")) if codes else {}
    rows = []
    for record in records:
        give_way()
        rows.append(record.row(tenants, pictures))
    try:
        return _stored(rows)
    except IntegrityError:  # a database that was emptied or restored has none of the pictures that this process stored
        pictures.forget()
        return _stored(rows)


def _stored(rows: Sequence[DecisionRow]) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        pictures.store(row.picture for row in rows if row.picture)
        for start in range(0, len(rows), PIECE):  # the driver puts a statement together without letting anybody else on
            give_way()
            cursor.execute(*insertion(rows[start : start + PIECE], into=Decision, unless_there=True))
    return len(rows)


def decisions_expire(*, before: datetime, batch: int = 1000) -> int:
    """Forget decisions made before `before`, and what only they saw, a batch at a time; says how many decisions."""
    gone = 0
    while ids := list(Decision.objects.filter(created_at__lt=before).values_list("pk", flat=True)[:batch]):
        gone += Decision.objects.filter(pk__in=ids).delete()[0]
    pictures_expire(now=timezone.now())
    return gone


def _check_body(code: str, body: Mapping[str, Any]) -> None:
    """That the document is a profile which the registered plugins can run; raises Invalid."""
    document = convert(dict(body), ProfileBody)
    profile = compile_profile(document, registry(), code=code, revision=0)
    fields = ("code", "scope", "direction", "low", "high")
    known = [MetricFact(**row) for row in Metric.objects.values(*fields)]
    codes = {fact.code for fact in known}
    errors = [
        FieldError(pointer, "unknown_metric", "there is no metric {name}", {"name": name})
        for pointer, name in _metrics_named(document)
        if name not in codes
    ]
    unranged = without_range(profile, known)
    errors += [
        FieldError(
            f"/plugins/{index}/normalizer",
            "range_required",
            "`fixed` needs low and high here: the values have no range of their own",
        )
        for index, part in enumerate(document.plugins)
        if part.name in unranged
    ]
    if errors:
        raise Invalid.of(errors)


def _metrics_named(document: ProfileBody) -> Iterator[tuple[str, str]]:
    """Every metric that an entry names, with its pointer."""
    for index, part in enumerate(document.plugins):
        if isinstance(name := (part.args or {}).get("metric"), str):
            yield f"/plugins/{index}/args/metric", name
        if part.dynamic_weight is not None:
            yield f"/plugins/{index}/dynamic_weight/metric", part.dynamic_weight.metric


def _revision(profile: Profile, number: int, body: Mapping[str, Any], message: str) -> ProfileRevision:
    return ProfileRevision.objects.create(
        profile=profile, number=number, body=dict(body), message=message, created_by=origin().actor
    )
