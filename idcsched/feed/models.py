from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .transactions import TransactionNumber

__all__ = ["FeedEntry", "Topic"]


class Topic(models.TextChoices):
    """A part of the data that snapshots are made of and that the feed announces as moved."""

    INVENTORY = "inventory", _("inventory")
    TAINTS = "taints", _("taints")
    AFFINITIES = "affinities", _("affinities")
    METRICS = "metrics", _("metric values")
    METRIC_DEFINITIONS = "metric_definitions", _("metric definitions")
    LEDGER = "ledger", _("ledger")
    PROFILES = "profiles", _("profiles")
    SHAPES = "shapes", _("traffic shapes")
    TOKENS = "tokens", _("tokens")  # also tenants, users, region scopes: all that decides what a token may do
    SOURCES = "sources", _("sources")
    PROVIDERS = "providers", _("providers")
    KEPT_FREE = "kept_free", _("room kept for orders that wait")


class FeedEntry(models.Model):
    """An announcement that something moved. Read entries through `reading.FeedReader` only.

    `content` tells what moved, in the topic's own way, where readers need not read the rows. `xid` is the writing
    transaction's number where the database has such numbers (PostgreSQL).
    """

    at = models.DateTimeField(_("at"), default=timezone.now)
    topic = models.CharField(_("topic"), max_length=30, choices=Topic.choices)
    key = models.CharField(
        _("key"), max_length=255, blank=True, help_text=_("What moved; empty: anything of the topic.")
    )
    idcs = models.JSONField(
        _("IDCs"),
        null=True,
        editable=False,
        help_text=_("The primary keys of the IDCs of which it moved; empty: of any."),
    )
    content = models.TextField(_("content"), blank=True, editable=False, db_default="")
    xid = models.BigIntegerField(_("transaction"), null=True, editable=False, db_default=TransactionNumber())

    class Meta:
        db_table = "audit_feedentry"
        verbose_name = _("feed entry")
        verbose_name_plural = _("feed entries")
        ordering = ["id"]
        indexes = [
            models.Index(fields=["xid"], name="feed_by_transaction"),
            models.Index(fields=["at"], name="feed_when"),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.key}".rstrip()
