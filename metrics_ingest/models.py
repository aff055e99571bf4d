from typing import Final

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.audit.models import Recorded
from idcsched.db.fields import ENORMOUS, CodeField, NumberField, between, one_of, unique
from idcsched.db.names import code_and_name
from idcsched.feed.models import Topic
from idcsched.inventory.models import Idc, Line
from metrics_ingest.sources.models import CounterReadings, Run, RunState, Source

__all__ = [
    "BandwidthDay",
    "BandwidthHistory",
    "BandwidthMonth",
    "BandwidthRollup",
    "CounterReadings",
    "Direction",
    "Latest",
    "Metric",
    "Run",
    "RunState",
    "SampleDay",
    "Scope",
    "Source",
]

A_LINE: Final = Q(line__isnull=False)
NO_LINE: Final = Q(line__isnull=True)


class Direction(models.TextChoices):
    HIGHER = "higher", _("higher is better")
    LOWER = "lower", _("lower is better")


class Scope(models.TextChoices):
    IDC = "idc", _("an IDC")
    LINE = "line", _("a line")


class Metric(Recorded):
    """The meaning of a number: its unit, whether more of it is better, its range, and how long a sample stays fresh."""

    audit_kind = "metric"
    feed_topic = Topic.METRIC_DEFINITIONS
    unrecorded = frozenset({"builtin"})

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    unit = models.CharField(_("unit"), max_length=30, blank=True)
    direction = models.CharField(_("direction"), max_length=10, choices=Direction.choices)
    scope = models.CharField(_("about"), max_length=10, choices=Scope.choices)
    max_age_seconds = models.PositiveIntegerField(
        _("stays fresh for (seconds)"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Empty: for ever."),
    )
    low = NumberField(_("lowest value"), null=True, blank=True)
    high = NumberField(_("highest value"), null=True, blank=True)
    builtin = models.BooleanField(_("built-in"), default=False, editable=False)

    class Meta:
        verbose_name = _("metric")
        verbose_name_plural = _("metrics")
        ordering = ["code"]
        constraints = [
            unique("code", name="metric_code_unique"),
            one_of("direction", Direction, name="metric_direction_known"),
            one_of("scope", Scope, name="metric_scope_known"),
            between("max_age_seconds", 1, ENORMOUS, name="metric_max_age_positive"),
            between("low", -ENORMOUS, ENORMOUS, name="metric_low_range"),
            between("high", -ENORMOUS, ENORMOUS, name="metric_high_range"),
            models.CheckConstraint(
                condition=Q(low__isnull=True) | Q(high__isnull=True) | Q(low__lt=F("high")),
                name="metric_low_below_high",
                violation_error_code="range_order",
                violation_error_message=_("The lowest value must be below the highest."),
            ),
        ]

    def __str__(self) -> str:
        return code_and_name(self.code, self.name)


class Subject(models.Model):
    """The subject of a value: an IDC, or, for a metric about lines, one of its lines.

    Subjects are looked up by the unique constraints' indexes, since every further index would slow down each write.
    The index over (metric, line) leaves out the rows without a line. In it, all IDCs of a metric would stand under the
    same null, and PostgreSQL might look up one IDC by it and read them all.
    """

    metric = models.ForeignKey(Metric, models.PROTECT, verbose_name=_("metric"), related_name="+", db_index=False)
    idc = models.ForeignKey(Idc, models.PROTECT, verbose_name=_("IDC"), related_name="+")
    line = models.ForeignKey(
        Line, models.PROTECT, verbose_name=_("line"), null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        abstract = True


class Latest(Subject):
    """The newest value of a metric about one subject, with its time."""

    value = NumberField(_("value"))
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("latest value")
        verbose_name_plural = _("latest values")
        ordering = ["id"]
        constraints = [
            unique("metric", "line", where=A_LINE, name="latest_line_unique"),
            unique("metric", "idc", where=NO_LINE, name="latest_idc_unique"),
            between("value", -ENORMOUS, ENORMOUS, name="latest_value_range"),
        ]

    def __str__(self) -> str:
        return f"{self.line or self.idc} {self.metric.code} {self.value:g}"


class SampleDay(Subject):
    """One UTC day of a metric about one subject: 288 little-endian float32, one per five minutes, NaN for no sample.

    A slot holds one of the samples taken in its five minutes. As long as no later slot has a sample, the newest wins.
    After that, whichever arrives last wins (from a source that catches up), even if it was taken earlier.
    """

    day = models.DateField(_("day"))
    values = models.BinaryField(_("values"))

    class Meta:
        verbose_name = _("day of samples")
        verbose_name_plural = _("days of samples")
        ordering = ["id"]
        constraints = [
            unique("metric", "line", "day", where=A_LINE, name="sample_day_line_unique"),
            unique("metric", "idc", "day", where=NO_LINE, name="sample_day_idc_unique"),
        ]
        indexes = [models.Index(fields=["day"], name="sample_day_by_day")]

    def __str__(self) -> str:
        return f"{self.line or self.idc} {self.metric.code} {self.day}"


class BandwidthRollup(models.Model):
    """The present figures computed from the history of a line's bandwidth.

    `p95_mbps` is the percentile of the window that decisions use (the setting BANDWIDTH_WINDOW_DAYS), whose length is
    `window_seconds`; the other percentiles and `mean_30d_mbps` are of the last 24 hours, 7 days and 30 days.
    `covered_…` counts the five-minute values that each percentile rests on: a missing value is a gap, not a zero.

    Three figures are of the last 30 billing days, today included: `fourth_peak_30d_mbps`, the fourth-highest of the
    days' peaks; `enhanced_95_30d_mbps`, the mean of the five highest of the days' 5th-highest values; and
    `daily_peak_average_30d_mbps`, the mean of the days' peaks.

    `busy_profile` holds 168 little-endian float32: the mean Mbps of each hour of the week from Monday 00:00 in the
    billing zone. `hours` holds 168 more: the means of the 168 hours before `hours_until`, oldest first. NaN stands for
    hours of which nothing is known.

    `trend_…` is the trend line through the last 28 whole days' percentiles: its height today (`trend_level_mbps`), its
    slope (`trend_mbps_per_day`), and the spread of days about it. `…_mbps_per_day` and `…_spread_mbps` are slope and
    spread of further trend lines: through the days' peaks (`peak_…`), their fifth-highest values (`fifth_…`) and their
    means (`mean_…`). Charge types that bill by these figures are forecast by them.
    """

    line = models.OneToOneField(Line, models.CASCADE, verbose_name=_("line"), related_name="bandwidth")
    p95_mbps = models.FloatField(_("95th percentile (Mbps)"), null=True)
    window_seconds = models.PositiveIntegerField(_("window (seconds)"))
    covered_slots = models.PositiveIntegerField(_("five-minute values in it"))
    p95_24h_mbps = models.FloatField(_("95th percentile, 24 hours (Mbps)"), null=True)
    covered_24h = models.PositiveIntegerField(_("five-minute values in 24 hours"), default=0)
    p95_7d_mbps = models.FloatField(_("95th percentile, 7 days (Mbps)"), null=True)
    covered_7d = models.PositiveIntegerField(_("five-minute values in 7 days"), default=0)
    p95_30d_mbps = models.FloatField(_("95th percentile, 30 days (Mbps)"), null=True)
    covered_30d = models.PositiveIntegerField(_("five-minute values in 30 days"), default=0)
    mean_30d_mbps = models.FloatField(_("mean, 30 days (Mbps)"), null=True)
    fourth_peak_30d_mbps = models.FloatField(_("fourth daily peak, 30 days (Mbps)"), null=True)
    enhanced_95_30d_mbps = models.FloatField(_("enhanced 95th percentile, 30 days (Mbps)"), null=True)
    daily_peak_average_30d_mbps = models.FloatField(_("average of daily peaks, 30 days (Mbps)"), null=True)
    trend_level_mbps = models.FloatField(_("level today by the trend (Mbps)"), null=True)
    trend_mbps_per_day = models.FloatField(_("trend (Mbps per day)"), null=True)
    trend_spread_mbps = models.FloatField(_("spread about the trend (Mbps)"), null=True)
    peak_mbps_per_day = models.FloatField(_("trend of daily peaks (Mbps per day)"), null=True)
    peak_spread_mbps = models.FloatField(_("spread of daily peaks (Mbps)"), null=True)
    fifth_mbps_per_day = models.FloatField(_("trend of days' 5th-highest values (Mbps per day)"), null=True)
    fifth_spread_mbps = models.FloatField(_("spread of days' 5th-highest values (Mbps)"), null=True)
    mean_mbps_per_day = models.FloatField(_("trend of daily means (Mbps per day)"), null=True)
    mean_spread_mbps = models.FloatField(_("spread of daily means (Mbps)"), null=True)
    busy_profile = models.BinaryField(_("profile of the week"))
    hours = models.BinaryField(_("hourly means"))
    hours_until = models.DateTimeField(_("end of the hours"))
    computed_at = models.DateTimeField(_("computed"), default=timezone.now)

    class Meta:
        verbose_name = _("bandwidth roll-up")
        verbose_name_plural = _("bandwidth roll-ups")
        ordering = ["line"]
        constraints = [
            between("p95_mbps", 0, ENORMOUS, name="rollup_p95_range"),
            models.CheckConstraint(
                condition=Q(p95_mbps__isnull=False, covered_slots__gt=0) | Q(p95_mbps__isnull=True, covered_slots=0),
                name="rollup_p95_needs_values",
                violation_error_message=_("A percentile is known where there are values, and only there."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line}: {self.p95_mbps}"


class BandwidthHistory(models.Model):
    """The last 30 whole days of a line by the hour, which the exact bill of an order is computed from.

    `hours` holds 720 little-endian float32: the mean Mbps of each hour before `until`, a midnight in the billing zone,
    oldest first; NaN stands for hours of which nothing is known. `known_slots` counts the five-minute values in them.
    `measured` holds 61 more, figures of the same days by five-minute values, in the order of
    `metrics_ingest.billing.figures.measured_of_days`; null where an older version wrote the row.
    """

    line = models.OneToOneField(Line, models.CASCADE, verbose_name=_("line"), related_name="bandwidth_history")
    hours = models.BinaryField(_("hourly means"))
    until = models.DateTimeField(_("end of the hours"))
    known_slots = models.PositiveIntegerField(_("five-minute values in them"))
    measured = models.BinaryField(_("figures of the days"), null=True)

    class Meta:
        verbose_name = _("bandwidth history")
        verbose_name_plural = _("bandwidth histories")
        ordering = ["line"]

    def __str__(self) -> str:
        return f"{self.line}: {self.until}"


class BandwidthDay(models.Model):
    """The figures of a line's billing day by which months are billed; kept for longer than the samples.

    `fifth_mbps` is the fifth-highest of the day's five-minute values. A day without a single value has no row.
    """

    line = models.ForeignKey(
        Line, models.CASCADE, verbose_name=_("line"), related_name="bandwidth_days", db_index=False
    )
    day = models.DateField(_("day"))
    peak_mbps = models.FloatField(_("peak (Mbps)"))
    fifth_mbps = models.FloatField(_("5th-highest value (Mbps)"))
    p95_mbps = models.FloatField(_("95th percentile (Mbps)"))
    mean_mbps = models.FloatField(_("mean (Mbps)"))
    covered_slots = models.PositiveSmallIntegerField(_("five-minute values in it"))

    class Meta:
        verbose_name = _("bandwidth of a day")
        verbose_name_plural = _("bandwidth by day")
        ordering = ["line", "day"]
        constraints = [
            unique("line", "day", name="bandwidth_day_unique"),
            between("covered_slots", 1, ENORMOUS, name="bandwidth_day_covered"),
        ]

    def __str__(self) -> str:
        return f"{self.line} {self.day}: {self.p95_mbps}"


class BandwidthMonth(models.Model):
    """The figures of a line's billing month so far; kept when its history is pruned.

    `slots` counts the five-minute slots that the month has had so far, `covered_slots` those with a value, `days` the
    days with one. A month without a single value has no row.
    """

    line = models.ForeignKey(
        Line, models.PROTECT, verbose_name=_("line"), related_name="bandwidth_months", db_index=False
    )
    month = models.DateField(_("month"), help_text=_("Its first day."))
    p95_mbps = models.FloatField(_("95th percentile (Mbps)"))
    fourth_peak_mbps = models.FloatField(_("fourth daily peak (Mbps)"))
    enhanced_95_mbps = models.FloatField(_("enhanced 95th percentile (Mbps)"))
    daily_peak_average_mbps = models.FloatField(_("average of daily peaks (Mbps)"))
    mean_mbps = models.FloatField(_("mean (Mbps)"))
    slots = models.PositiveSmallIntegerField(_("five-minute slots so far"))
    covered_slots = models.PositiveSmallIntegerField(_("five-minute values in it"))
    days = models.PositiveSmallIntegerField(_("days with values"))
    computed_at = models.DateTimeField(_("computed"))

    class Meta:
        verbose_name = _("bandwidth of a month")
        verbose_name_plural = _("bandwidth by month")
        ordering = ["line", "-month"]
        constraints = [
            unique("line", "month", name="bandwidth_month_unique"),
            between("covered_slots", 1, ENORMOUS, name="bandwidth_month_covered"),
            models.CheckConstraint(
                condition=Q(covered_slots__lte=F("slots")),
                name="bandwidth_month_not_more_than_all",
                violation_error_message=_("A month has no more values than slots."),
            ),
            models.CheckConstraint(
                condition=Q(month__day=1),
                name="bandwidth_month_first_day",
                violation_error_message=_("A month is named by its first day."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line} {self.month:%Y-%m}: {self.p95_mbps}"
