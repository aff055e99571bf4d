"""Every write of this package: profiles as immutable revisions, and the records of decisions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from django.db import IntegrityError, transaction
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.audit.context import origin
from idcsched.audit.services import change_record
from idcsched.audit.writing import row_check, write
from idcsched.feed.services import feed_append
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.framework.messages import _
from idcsched.framework.profile import ProfileBody
from idcsched.ledger.taking import oversold
from idcsched.scheduling.snapshot_archive import pictures, pictures_expire

from .models import Decision, Profile, ProfileRevision
from .outcomes import outcomes_insert
from .profile_checks import profile_check, profile_check_secrets
from .records import DecisionRecord
from .selectors import revision_named

__all__ = [
    "DRAFT",
    "decisions_expire",
    "decisions_insert",
    "decisions_record",
    "profile_activate",
    "profile_create",
    "profile_delete",
    "profile_revise",
    "with_pictures",
]

T = TypeVar("T")

DEFAULT_PROFILE = "default"
DRAFT: Final = "draft"
"""What the results of a backtest call a draft; no profile has this code."""
PIECE = 40
"""The most records that one statement writes."""


@write()
def profile_create(*, code: str, name: str = "", body: Mapping[str, Any], message: str = "") -> Profile:
    """Create a profile with its first revision in force; raises Invalid or Conflict.

    Under the code of a deleted profile the numbers of revisions continue, since decisions name the old ones.
    """
    if code == DRAFT:
        raise Invalid("reserved_code", _("backtests call a draft by this name: a profile needs another code"), "/code")
    profile_check(code, body)
    profile = Profile.with_deleted.select_for_update().filter(code=code).first() or Profile(code=code)
    if profile.active_id is not None:
        raise Conflict("already_exists", _("there is a profile {name} already"), name=code)
    profile.name = name
    row_check(profile)
    profile.save()
    profile.active = revision = _revision(profile, body, message)
    profile.save(update_fields=["active"])
    change_record(kind="profile", key=code, before=None, after={"name": name, "revision": revision.number, **body})
    feed_append(topic="profiles", key=code)
    return profile


@write()
def profile_revise(
    *, profile: Profile, body: Mapping[str, Any], name: str | None = None, message: str = "", activate: bool = True
) -> ProfileRevision:
    """Make the next revision of a profile, in force at once unless `activate` is false; raises Invalid, NotFound.

    With `activate`, a body equal to that of the revision in force makes no new revision.
    """
    profile, active = _in_force(profile)
    profile_check(profile.code, body)
    before = {"name": profile.name, **active.body}
    after = {"name": profile.name if name is None else name, **body}
    if name is not None:
        profile.name = name
        row_check(profile)
    if activate and convert(active.body, ProfileBody) == convert(dict(body), ProfileBody):
        if profile.name != before["name"]:
            profile.save(update_fields=["name"])
            change_record(kind="profile", key=profile.code, before=before, after={**before, "name": profile.name})
            feed_append(topic="profiles", key=profile.code)
        return active
    revision = _revision(profile, body, message)
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
    profile, before = _in_force(profile)
    revision = revision_named(profile, number)
    profile_check(profile.code, revision.body)
    profile.active = revision
    profile.save(update_fields=["active"])
    change_record(kind="profile", key=profile.code, before={"revision": before.number}, after={"revision": number})
    feed_append(topic="profiles", key=profile.code)
    return revision


@write()
def profile_delete(*, profile: Profile) -> None:
    """Take a profile that no tenant and no placement needs out of force; raises Conflict, NotFound.

    Recommendations that are not recorded yet do not prevent that. The profile's revisions stay, so that each decision
    can be explained.
    """
    profile, active = _in_force(profile)
    used = Tenant.objects.filter(default_profile=profile.code).exists()
    placed = Decision.objects.filter(profile=profile.code, placement__isnull=False)
    if profile.code == DEFAULT_PROFILE or used or placed.exists():
        raise Conflict("in_use", _("profile {name} is in use: placements or tenants name it"), name=profile.code)
    profile.active = None
    profile.save(update_fields=["active"])
    change_record(kind="profile", key=profile.code, before={"name": profile.name, **active.body}, after=None)
    feed_append(topic="profiles", key=profile.code)


def decisions_record(*, records: Sequence[DecisionRecord]) -> int:
    """Store decisions in one transaction; one that is stored already stays as it is. Returns the number of records."""
    return with_pictures(lambda: _stored(_rows(records)))  # the rows anew: a tenant may have been deleted


def with_pictures(write: Callable[[], T]) -> T:
    """Run a transaction that inserts decisions.

    Where a row that it names is missing it runs once more, with all pictures: the database may have been emptied or
    restored, and lack those that this process stored.
    """
    try:
        return write()
    except IntegrityError as error:
        if oversold(error):
            raise
        pictures.forget()
        return write()


def _rows(records: Sequence[DecisionRecord]) -> list[Decision]:
    """Return the rows of the records, with the tenants that still exist."""
    codes = {record.tenant for record in records if record.tenant}
    tenants = dict(Tenant.objects.filter(code__in=codes).values_list("code", "pk")) if codes else {}
    return [record.row(tenants, pictures) for record in records]


def _stored(rows: Sequence[Decision]) -> int:
    with transaction.atomic():
        decisions_insert(rows, ignore_conflicts=True)
    return len(rows)


def decisions_insert(rows: Sequence[Decision], *, ignore_conflicts: bool = False) -> None:
    """Insert decisions with their pictures and what became of their IDCs, in the transaction that is open."""
    pictures.store(rows)
    Decision.objects.bulk_create(rows, batch_size=PIECE, ignore_conflicts=ignore_conflicts)
    outcomes_insert(rows)


def decisions_expire(*, before: datetime, batch: int = 1000) -> int:
    """Delete decisions made before `before`, then unused pictures, a batch at a time; returns how many decisions."""
    deleted = 0
    while ids := list(Decision.objects.filter(created_at__lt=before).values_list("pk", flat=True)[:batch]):
        deleted += Decision.objects.filter(pk__in=ids).delete()[1][Decision._meta.label]
    pictures_expire(now=timezone.now())
    return deleted


def _in_force(profile: Profile) -> tuple[Profile, ProfileRevision]:
    """Return the profile, locked until the transaction ends, and its revision in force; raises NotFound if deleted."""
    locked = Profile.objects.select_for_update(of=("self",)).select_related("active").filter(pk=profile.pk).first()
    if locked is None or locked.active is None:
        raise NotFound("not_found", _("there is no such {kind} any more"), kind="profile")
    return locked, locked.active


def _revision(profile: Profile, body: Mapping[str, Any], message: str) -> ProfileRevision:
    """Make the next revision; raises Invalid for an address with a secret, which older revisions may have."""
    profile_check_secrets(body)
    latest = profile.revisions.order_by("-number").values_list("number", flat=True).first() or 0
    return ProfileRevision.objects.create(
        profile=profile, number=latest + 1, body=dict(body), message=message, created_by=origin().actor
    )
