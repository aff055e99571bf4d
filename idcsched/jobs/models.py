from django.db import models
from django.utils.translation import gettext_lazy as _

from idcsched.db.fields import one_of, unique

__all__ = ["Claimable", "Heartbeat", "Lease", "NightlyJob", "ProcessKind"]


class ProcessKind(models.TextChoices):
    WORKER = "worker", _("worker")
    BEAT = "beat", _("beat")


class Heartbeat(models.Model):
    """The last sign of life of a worker or beat; a process that ends in order deletes its row."""

    trade = models.CharField(_("trade"), max_length=10, choices=ProcessKind.choices)
    name = models.CharField(_("name"), max_length=255)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("sign of life")
        verbose_name_plural = _("signs of life")
        ordering = ["trade", "name"]
        constraints = [
            unique("trade", "name", name="heartbeat_unique"),
            one_of("trade", ProcessKind, name="heartbeat_trade_known"),
        ]

    def __str__(self) -> str:
        return f"{self.trade} {self.name}"


class Lease(models.Model):
    """The right to do some work that one process alone does at a time, with its holder and its end."""

    name = models.CharField(_("name"), max_length=100)
    holder = models.UUIDField(_("holder"))
    until = models.DateTimeField(_("until"))

    class Meta:
        verbose_name = _("lease")
        verbose_name_plural = _("leases")
        ordering = ["name"]
        constraints = [unique("name", name="lease_unique")]

    def __str__(self) -> str:
        return self.name


class Claimable(models.Model):
    """A row that one worker at a time works at; see `claims.py`."""

    claim = models.UUIDField(_("claim"), null=True, blank=True, editable=False)
    claimed_until = models.DateTimeField(_("claimed until"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class NightlyJob(models.Model):
    """What became of the work of one name that is done once a night: its last begin, its last success, its last error.

    `error` is empty after a success, and while nothing has failed yet; `known_since` is when it was first begun.
    """

    name = models.CharField(_("name"), max_length=100)
    known_since = models.DateTimeField(_("known since"))
    begun_at = models.DateTimeField(_("begun"), null=True)
    succeeded_at = models.DateTimeField(_("succeeded"), null=True)
    error = models.TextField(_("error"), default="", db_default="")

    class Meta:
        verbose_name = _("nightly job")
        verbose_name_plural = _("nightly jobs")
        ordering = ["name"]
        constraints = [unique("name", name="nightly_job_unique")]

    def __str__(self) -> str:
        return self.name
