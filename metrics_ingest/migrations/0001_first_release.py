import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.db import migrations, models

import idcsched.db.fields


def leave_room(apps, schema_editor):
    """Keep half of each page free, so that PostgreSQL changes rows in place and touches no index.

    Every five minutes all rows of these tables change; it takes a third of the time so.
    """
    if schema_editor.connection.vendor == "postgresql":
        for table in ("metrics_ingest_latest", "metrics_ingest_sampleday"):
            schema_editor.execute(f"ALTER TABLE {table} SET (fillfactor = 50)")


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("metrics_ingest", "0001_initial"),
        ("metrics_ingest", "0002_history_protects"),
        ("metrics_ingest", "0003_room_to_update"),
        ("metrics_ingest", "0004_bandwidth_figures"),
        ("metrics_ingest", "0005_sources"),
        ("metrics_ingest", "0006_counter_readings"),
        ("metrics_ingest", "0007_lines_apart"),
        ("metrics_ingest", "0008_source_regions"),
        ("metrics_ingest", "0009_forecast_spreads"),
        ("metrics_ingest", "0010_bandwidth_history"),
        ("metrics_ingest", "0011_names_of_bandwidth_figures"),
        ("metrics_ingest", "0012_figures_of_the_history"),
    ]

    dependencies = [
        ("inventory", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Source",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("kind", models.CharField(max_length=30, verbose_name="kind")),
                (
                    "schedule",
                    models.CharField(
                        help_text="A number of seconds, or cron's five fields, such as */5 * * * *, in the time zone of the setting BILLING_ZONE.",
                        max_length=200,
                        verbose_name="schedule",
                    ),
                ),
                ("config", idcsched.db.fields.DocumentField(blank=True, default=dict, verbose_name="configuration")),
                ("mapping", idcsched.db.fields.DocumentField(blank=True, default=dict, verbose_name="mapping")),
                (
                    "secret_ref",
                    models.CharField(
                        blank=True,
                        help_text="env:NAME or file:/PATH; never the secret itself.",
                        max_length=300,
                        verbose_name="secret",
                    ),
                ),
                (
                    "regions",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        help_text="It writes samples of IDCs in these regions and their sub-regions; empty: everywhere.",
                        null=True,
                        verbose_name="regions",
                    ),
                ),
                ("enabled", models.BooleanField(default=True, verbose_name="enabled")),
                ("due_at", models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="due")),
                ("claim", models.UUIDField(editable=False, null=True, verbose_name="claimed by")),
                ("claimed_until", models.DateTimeField(editable=False, null=True, verbose_name="claimed until")),
                ("started_at", models.DateTimeField(editable=False, null=True, verbose_name="last run")),
                ("succeeded_at", models.DateTimeField(editable=False, null=True, verbose_name="last success")),
                ("failures", models.PositiveIntegerField(default=0, editable=False, verbose_name="failures in a row")),
                ("runs_total", models.PositiveBigIntegerField(default=0, editable=False, verbose_name="runs")),
                ("runs_failed", models.PositiveBigIntegerField(default=0, editable=False, verbose_name="failed runs")),
                (
                    "samples_stored",
                    models.PositiveBigIntegerField(default=0, editable=False, verbose_name="samples stored"),
                ),
                (
                    "samples_refused",
                    models.PositiveBigIntegerField(default=0, editable=False, verbose_name="samples refused"),
                ),
            ],
            options={
                "verbose_name": "source",
                "verbose_name_plural": "sources",
                "ordering": ["code"],
                "indexes": [
                    models.Index(condition=models.Q(("enabled", True)), fields=["due_at"], name="source_by_due")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="source_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("claim__isnull", True), ("claimed_until__isnull", True)),
                            models.Q(("claim__isnull", False), ("claimed_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="source_claim_has_an_end",
                        violation_error_message="A claim needs a time at which it ends.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Metric",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                ("unit", models.CharField(blank=True, max_length=30, verbose_name="unit")),
                (
                    "direction",
                    models.CharField(
                        choices=[("higher", "higher is better"), ("lower", "lower is better")],
                        max_length=10,
                        verbose_name="direction",
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[("idc", "an IDC"), ("line", "a line")], max_length=10, verbose_name="about"
                    ),
                ),
                (
                    "max_age_seconds",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty: for ever.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="stays fresh for (seconds)",
                    ),
                ),
                ("low", idcsched.db.fields.NumberField(blank=True, null=True, verbose_name="lowest value")),
                ("high", idcsched.db.fields.NumberField(blank=True, null=True, verbose_name="highest value")),
                ("builtin", models.BooleanField(default=False, editable=False, verbose_name="built-in")),
            ],
            options={
                "verbose_name": "metric",
                "verbose_name_plural": "metrics",
                "ordering": ["code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="metric_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("direction__in", ["higher", "lower"])),
                        name="metric_direction_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["idc", "line"])),
                        name="metric_scope_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_age_seconds__gte", 1), ("max_age_seconds__lte", 1000000000000.0)),
                        name="metric_max_age_positive",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("low__gte", -1000000000000.0), ("low__lte", 1000000000000.0)),
                        name="metric_low_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("high__gte", -1000000000000.0), ("high__lte", 1000000000000.0)),
                        name="metric_high_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("low__isnull", True),
                            ("high__isnull", True),
                            ("low__lt", models.F("high")),
                            _connector="OR",
                        ),
                        name="metric_low_below_high",
                        violation_error_code="range_order",
                        violation_error_message="The lowest value must be below the highest.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Latest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", idcsched.db.fields.NumberField(verbose_name="value")),
                ("at", models.DateTimeField(verbose_name="at")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "line",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="metrics_ingest.metric",
                        verbose_name="metric",
                    ),
                ),
            ],
            options={
                "verbose_name": "latest value",
                "verbose_name_plural": "latest values",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("line__isnull", False)),
                        fields=("metric", "line"),
                        name="latest_line_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("line__isnull", True)),
                        fields=("metric", "idc"),
                        name="latest_idc_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__gte", -1000000000000.0), ("value__lte", 1000000000000.0)),
                        name="latest_value_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("claim", models.UUIDField(editable=False, verbose_name="claim")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("succeeded", "succeeded"),
                            ("failed", "failed"),
                            ("lost", "lost"),
                        ],
                        default="running",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("started_at", models.DateTimeField(verbose_name="started")),
                ("finished_at", models.DateTimeField(null=True, verbose_name="finished")),
                ("fetched", models.PositiveIntegerField(default=0, verbose_name="fetched")),
                ("stored", models.PositiveIntegerField(default=0, verbose_name="stored")),
                ("refused", models.PositiveIntegerField(default=0, verbose_name="refused")),
                ("unmatched", models.PositiveIntegerField(default=0, verbose_name="unmatched")),
                ("refusals", idcsched.db.fields.DocumentField(default=list, verbose_name="refusals")),
                (
                    "unmatched_names",
                    idcsched.db.fields.DocumentField(default=list, verbose_name="names that match nothing"),
                ),
                ("error", idcsched.db.fields.DocumentField(null=True, verbose_name="error")),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="metrics_ingest.source",
                        verbose_name="source",
                    ),
                ),
            ],
            options={
                "verbose_name": "run",
                "verbose_name_plural": "runs",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["source", "-id"], name="run_by_source"),
                    models.Index(fields=["started_at"], name="run_when"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("claim",),
                        name="run_claim_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["running", "succeeded", "failed", "lost"])),
                        name="run_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("finished_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="run_finished_when_over",
                        violation_error_message="A run that is over has a time at which it ended.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "fetched",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("stored"), "+", models.F("refused")
                                    ),
                                    "+",
                                    models.F("unmatched"),
                                ),
                            )
                        ),
                        name="run_counts_add_up",
                        violation_error_message="Every value is stored, refused or unmatched.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SampleDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(verbose_name="day")),
                ("values", models.BinaryField(verbose_name="values")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "line",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="metrics_ingest.metric",
                        verbose_name="metric",
                    ),
                ),
            ],
            options={
                "verbose_name": "day of samples",
                "verbose_name_plural": "days of samples",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["day"], name="sample_day_by_day")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("line__isnull", False)),
                        fields=("metric", "line", "day"),
                        name="sample_day_line_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("line__isnull", True)),
                        fields=("metric", "idc", "day"),
                        name="sample_day_idc_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BandwidthDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(verbose_name="day")),
                ("peak_mbps", models.FloatField(verbose_name="peak (Mbps)")),
                ("fifth_mbps", models.FloatField(verbose_name="5th-highest value (Mbps)")),
                ("p95_mbps", models.FloatField(verbose_name="95th percentile (Mbps)")),
                ("mean_mbps", models.FloatField(verbose_name="mean (Mbps)")),
                ("covered_slots", models.PositiveSmallIntegerField(verbose_name="five-minute values in it")),
                (
                    "line",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bandwidth_days",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
            ],
            options={
                "verbose_name": "bandwidth of a day",
                "verbose_name_plural": "bandwidth by day",
                "ordering": ["line", "day"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("line", "day"),
                        name="bandwidth_day_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("covered_slots__gte", 1), ("covered_slots__lte", 1000000000000.0)),
                        name="bandwidth_day_covered",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BandwidthHistory",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hours", models.BinaryField(verbose_name="hourly means")),
                ("until", models.DateTimeField(verbose_name="end of the hours")),
                ("known_slots", models.PositiveIntegerField(verbose_name="five-minute values in them")),
                ("measured", models.BinaryField(null=True, verbose_name="figures of the days")),
                (
                    "line",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bandwidth_history",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
            ],
            options={
                "verbose_name": "bandwidth history",
                "verbose_name_plural": "bandwidth histories",
                "ordering": ["line"],
            },
        ),
        migrations.CreateModel(
            name="BandwidthMonth",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("month", models.DateField(help_text="Its first day.", verbose_name="month")),
                ("p95_mbps", models.FloatField(verbose_name="95th percentile (Mbps)")),
                ("fourth_peak_mbps", models.FloatField(verbose_name="fourth daily peak (Mbps)")),
                ("enhanced_95_mbps", models.FloatField(verbose_name="enhanced 95th percentile (Mbps)")),
                ("daily_peak_average_mbps", models.FloatField(verbose_name="average of daily peaks (Mbps)")),
                ("mean_mbps", models.FloatField(verbose_name="mean (Mbps)")),
                ("slots", models.PositiveSmallIntegerField(verbose_name="five-minute slots so far")),
                ("covered_slots", models.PositiveSmallIntegerField(verbose_name="five-minute values in it")),
                ("days", models.PositiveSmallIntegerField(verbose_name="days with values")),
                ("computed_at", models.DateTimeField(verbose_name="computed")),
                (
                    "line",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bandwidth_months",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
            ],
            options={
                "verbose_name": "bandwidth of a month",
                "verbose_name_plural": "bandwidth by month",
                "ordering": ["line", "-month"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("line", "month"),
                        name="bandwidth_month_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("covered_slots__gte", 1), ("covered_slots__lte", 1000000000000.0)),
                        name="bandwidth_month_covered",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("covered_slots__lte", models.F("slots"))),
                        name="bandwidth_month_not_more_than_all",
                        violation_error_message="A month has no more values than slots.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("month__day", 1)),
                        name="bandwidth_month_first_day",
                        violation_error_message="A month is named by its first day.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BandwidthRollup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("p95_mbps", models.FloatField(null=True, verbose_name="95th percentile (Mbps)")),
                ("window_seconds", models.PositiveIntegerField(verbose_name="window (seconds)")),
                ("covered_slots", models.PositiveIntegerField(verbose_name="five-minute values in it")),
                ("p95_24h_mbps", models.FloatField(null=True, verbose_name="95th percentile, 24 hours (Mbps)")),
                ("covered_24h", models.PositiveIntegerField(default=0, verbose_name="five-minute values in 24 hours")),
                ("p95_7d_mbps", models.FloatField(null=True, verbose_name="95th percentile, 7 days (Mbps)")),
                ("covered_7d", models.PositiveIntegerField(default=0, verbose_name="five-minute values in 7 days")),
                ("p95_30d_mbps", models.FloatField(null=True, verbose_name="95th percentile, 30 days (Mbps)")),
                ("covered_30d", models.PositiveIntegerField(default=0, verbose_name="five-minute values in 30 days")),
                ("mean_30d_mbps", models.FloatField(null=True, verbose_name="mean, 30 days (Mbps)")),
                (
                    "fourth_peak_30d_mbps",
                    models.FloatField(null=True, verbose_name="fourth daily peak, 30 days (Mbps)"),
                ),
                (
                    "enhanced_95_30d_mbps",
                    models.FloatField(null=True, verbose_name="enhanced 95th percentile, 30 days (Mbps)"),
                ),
                (
                    "daily_peak_average_30d_mbps",
                    models.FloatField(null=True, verbose_name="average of daily peaks, 30 days (Mbps)"),
                ),
                ("trend_level_mbps", models.FloatField(null=True, verbose_name="level today by the trend (Mbps)")),
                ("trend_mbps_per_day", models.FloatField(null=True, verbose_name="trend (Mbps per day)")),
                ("trend_spread_mbps", models.FloatField(null=True, verbose_name="spread about the trend (Mbps)")),
                ("peak_mbps_per_day", models.FloatField(null=True, verbose_name="trend of daily peaks (Mbps per day)")),
                ("peak_spread_mbps", models.FloatField(null=True, verbose_name="spread of daily peaks (Mbps)")),
                (
                    "fifth_mbps_per_day",
                    models.FloatField(null=True, verbose_name="trend of days' 5th-highest values (Mbps per day)"),
                ),
                (
                    "fifth_spread_mbps",
                    models.FloatField(null=True, verbose_name="spread of days' 5th-highest values (Mbps)"),
                ),
                ("mean_mbps_per_day", models.FloatField(null=True, verbose_name="trend of daily means (Mbps per day)")),
                ("mean_spread_mbps", models.FloatField(null=True, verbose_name="spread of daily means (Mbps)")),
                ("busy_profile", models.BinaryField(verbose_name="profile of the week")),
                ("hours", models.BinaryField(verbose_name="hourly means")),
                ("hours_until", models.DateTimeField(verbose_name="end of the hours")),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="computed")),
                (
                    "line",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bandwidth",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
            ],
            options={
                "verbose_name": "bandwidth roll-up",
                "verbose_name_plural": "bandwidth roll-ups",
                "ordering": ["line"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("p95_mbps__gte", 0), ("p95_mbps__lte", 1000000000000.0)),
                        name="rollup_p95_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("covered_slots__gt", 0), ("p95_mbps__isnull", False)),
                            models.Q(("covered_slots", 0), ("p95_mbps__isnull", True)),
                            _connector="OR",
                        ),
                        name="rollup_p95_needs_values",
                        violation_error_message="A percentile is known where there are values, and only there.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CounterReadings",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="counter_readings",
                        serialize=False,
                        to="metrics_ingest.source",
                        verbose_name="source",
                    ),
                ),
                ("rules", models.CharField(max_length=64, verbose_name="rules")),
                ("held", models.BinaryField(verbose_name="readings")),
            ],
            options={
                "verbose_name": "readings of counters",
                "verbose_name_plural": "readings of counters",
            },
        ),
        migrations.RunPython(leave_room, migrations.RunPython.noop),
    ]
