"""The models of sources and their runs; `metrics_ingest.models` re-exports them."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.audit.models import Recorded
from idcsched.db.fields import CodeField, DocumentField, one_of, unique
from idcsched.feed.models import Topic

__all__ = ["CounterReadings", "Run", "RunState", "Source"]


class Source(Recorded):
    """A system that is asked for values: how, how often, and how its answers are mapped to samples.

    The fields from `due_at` on are kept by the runs. While a run goes on, `claim` is that run's `claim`, a UUID that
    keeps other workers from asking the source, and `claimed_until` is the time after which the run counts as lost;
    `failures` counts the failed runs since the last success. The last four are totals over all runs since the source
    was created.
    """

    audit_kind = "source"
    feed_topic = Topic.SOURCES
    unrecorded = frozenset(
        {
            *("due_at", "claim", "claimed_until", "started_at", "succeeded_at", "failures"),
            *("runs_total", "runs_failed", "samples_stored", "samples_refused"),
        }
    )

    code = CodeField(_("code"))
    kind = models.CharField(_("kind"), max_length=30)
    schedule = models.CharField(
        _("schedule"),
        max_length=200,
        help_text=_(
            "A number of seconds, or cron's five fields, such as */5 * * * *, in the time zone of the setting "
            "BILLING_ZONE."
        ),
    )
    config = DocumentField(_("configuration"), default=dict, blank=True)
    mapping = DocumentField(_("mapping"), default=dict, blank=True)
    secret_ref = models.CharField(
        _("secret"), max_length=300, blank=True, help_text=_("env:NAME or file:/PATH; never the secret itself.")
    )
    regions = DocumentField(
        _("regions"),
        null=True,
        blank=True,
        help_text=_("It writes samples of IDCs in these regions and their sub-regions; empty: everywhere."),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    due_at = models.DateTimeField(_("due"), default=timezone.now, editable=False)
    claim = models.UUIDField(_("claimed by"), null=True, editable=False)
    claimed_until = models.DateTimeField(_("claimed until"), null=True, editable=False)
    started_at = models.DateTimeField(_("last run"), null=True, editable=False)
    succeeded_at = models.DateTimeField(_("last success"), null=True, editable=False)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    runs_total = models.PositiveBigIntegerField(_("runs"), default=0, editable=False)
    runs_failed = models.PositiveBigIntegerField(_("failed runs"), default=0, editable=False)
    samples_stored = models.PositiveBigIntegerField(_("samples stored"), default=0, editable=False)
    samples_refused = models.PositiveBigIntegerField(_("samples refused"), default=0, editable=False)

    class Meta:
        verbose_name = _("source")
        verbose_name_plural = _("sources")
        ordering = ["code"]
        constraints = [
            unique("code", name="source_code_unique"),
            models.CheckConstraint(
                condition=Q(claim__isnull=True, claimed_until__isnull=True)
                | Q(claim__isnull=False, claimed_until__isnull=False),
                name="source_claim_has_an_end",
                violation_error_message=_("A claim needs a time at which it ends."),
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="source_by_due", condition=Q(enabled=True))]

    def __str__(self) -> str:
        return self.code


class RunState(models.TextChoices):
    """The state of a run.

    `lost`: the run was not ended before its claim ran out, most often since its worker was killed or cut off from the
    database.
    """

    RUNNING = "running", _("running")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    LOST = "lost", _("lost")


class Run(models.Model):
    """One run: a source was asked once. `fetched` counts values, each of which was stored, refused or unmatched.

    `refusals` and `unmatched_names` have a few examples of values that were not stored; `error` says why a run failed.
    Reasons are kept as message templates with parameters, so that they can be shown in the reader's language.
    """

    source = models.ForeignKey(Source, models.CASCADE, verbose_name=_("source"), related_name="runs")
    claim = models.UUIDField(_("claim"), editable=False)
    state = models.CharField(_("state"), max_length=10, choices=RunState.choices, default=RunState.RUNNING)
    started_at = models.DateTimeField(_("started"))
    finished_at = models.DateTimeField(_("finished"), null=True)
    fetched = models.PositiveIntegerField(_("fetched"), default=0)
    stored = models.PositiveIntegerField(_("stored"), default=0)
    refused = models.PositiveIntegerField(_("refused"), default=0)
    unmatched = models.PositiveIntegerField(_("unmatched"), default=0)
    refusals = DocumentField(_("refusals"), default=list)
    unmatched_names = DocumentField(_("names that match nothing"), default=list)
    error = DocumentField(_("error"), null=True)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-id"]
        constraints = [
            unique("claim", name="run_claim_unique"),
            one_of("state", RunState, name="run_state_known"),
            models.CheckConstraint(
                condition=Q(state=RunState.RUNNING, finished_at__isnull=True)
                | (~Q(state=RunState.RUNNING) & Q(finished_at__isnull=False)),
                name="run_finished_when_over",
                violation_error_message=_("A run that is over has a time at which it ended."),
            ),
            models.CheckConstraint(
                condition=Q(fetched=F("stored") + F("refused") + F("unmatched")),
                name="run_counts_add_up",
                violation_error_message=_("Every value is stored, refused or unmatched."),
            ),
        ]
        indexes = [
            models.Index(fields=["source", "-id"], name="run_by_source"),
            models.Index(fields=["started_at"], name="run_when"),
        ]

    def __str__(self) -> str:
        return f"{self.source.code} {timezone.localtime(self.started_at):%Y-%m-%d %H:%M:%S}"


class CounterReadings(models.Model):
    """The last readings of all counters of a source, with which the next readings are compared.

    `held` packs them into one row, since each run reads and writes all of them. `rules` is a hash of the source's
    kind, configuration and mapping when the readings were taken; once one of these has changed, the same name may mean
    another counter.
    """

    source = models.OneToOneField(
        Source, models.CASCADE, verbose_name=_("source"), primary_key=True, related_name="counter_readings"
    )
    rules = models.CharField(_("rules"), max_length=64)
    held = models.BinaryField(_("readings"))

    class Meta:
        verbose_name = _("readings of counters")
        verbose_name_plural = _("readings of counters")

    def __str__(self) -> str:
        return self.source.code
