from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.db.fields import one_of

__all__ = ["Import", "Missing", "State"]


class Missing(models.TextChoices):
    """What an import does to rows that the files don't have."""

    KEEP = "keep", _("stay as they are")
    RETIRE = "retire", _("IDCs are retired")
    DELETE = "delete", _("are deleted")


class State(models.TextChoices):
    """The state of an import.

    Queued and confirmed imports wait for a worker, checking and applying ones have one, checked ones wait for the user;
    the others are over.
    """

    QUEUED = "queued", _("waiting to be looked through")
    CHECKING = "checking", _("being looked through")
    CHECKED = "checked", _("waiting for your go-ahead")
    CONFIRMED = "confirmed", _("waiting to be imported")
    APPLYING = "applying", _("being imported")
    APPLIED = "applied", _("imported")
    REFUSED = "refused", _("refused")
    FAILED = "failed", _("failed")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Import(models.Model):
    """A file that a user has uploaded: checked first, then, once the user confirms, imported.

    The worker that checks or imports the file holds the row's `claim`, and sets `beat_at` as a sign of life.
    """

    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, verbose_name=_("user"), null=True)
    actor = models.CharField(_("actor"), max_length=150)
    language = models.CharField(_("language"), max_length=20, default="en")
    request_id = models.CharField(_("request id"), max_length=128, blank=True)
    message = models.CharField(_("message"), max_length=500, blank=True)
    file_name = models.CharField(_("file"), max_length=255)
    content = models.BinaryField(_("content"), help_text=_("Kept until the import is over."))
    kind = models.CharField(_("kind"), max_length=20, blank=True)
    missing = models.CharField(_("missing rows"), max_length=10, choices=Missing.choices, default=Missing.KEEP)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    moved_at = models.DateTimeField(_("in this state since"), default=timezone.now)
    claim = models.UUIDField(_("claim"), null=True, editable=False)
    beat_at = models.DateTimeField(_("last sign of life"), null=True, editable=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    done = models.PositiveIntegerField(_("rows done"), default=0)
    total = models.PositiveIntegerField(_("rows"), default=0)
    notes = models.JSONField(_("how it was read"), default=list, blank=True)
    counts = models.JSONField(_("rows by what becomes of them"), default=dict, blank=True)
    changes = models.JSONField(_("changes"), default=list, blank=True)
    faults = models.JSONField(_("what is wrong"), default=list, blank=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True)

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "moved_at"], name="import_by_state")]
        constraints = [
            one_of("state", State, name="import_state_known"),
            one_of("missing", Missing, name="import_missing_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} ({timezone.localtime(self.created_at):%Y-%m-%d %H:%M})"

    @property
    def working(self) -> bool:
        """Whether a worker has the import, or will take it."""
        return self.state in {State.QUEUED, State.CHECKING, State.CONFIRMED, State.APPLYING}
