import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

import idcsched.db.fields
import idcsched.scheduling.models

LZ4_KNOWN = "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"


def compress_quickly(apps, schema_editor):
    """Have PostgreSQL compress the documents of decisions by LZ4, if it was built with it.

    Its own way takes a third of the time in which a decision is kept. LZ4 takes a seventh more room.
    """
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(LZ4_KNOWN)
        known = cursor.fetchone()
    if known and known[0]:
        for column in ("request", "answer", "sentences"):
            schema_editor.execute(f"ALTER TABLE scheduling_decision ALTER COLUMN {column} SET COMPRESSION lz4")


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("scheduling", "0001_initial"),
        ("scheduling", "0002_decision_sentences"),
        ("scheduling", "0003_placements"),
        ("scheduling", "0004_pictures"),
        ("scheduling", "0005_fewer_indexes"),
        ("scheduling", "0006_quicker_compression"),
        ("scheduling", "0007_documents_as_written"),
        ("scheduling", "0008_standing_records"),
        ("scheduling", "0009_shapes"),
        ("scheduling", "0010_history_pictures"),
        ("scheduling", "0011_learnt_shapes"),
        ("scheduling", "0012_idc_outcomes"),
    ]

    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Picture",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(db_index=True, verbose_name="created")),
                ("data", models.BinaryField(verbose_name="data")),
            ],
            options={
                "verbose_name": "picture",
                "verbose_name_plural": "pictures",
            },
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, unique=True, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
            ],
            options={
                "verbose_name": "profile",
                "verbose_name_plural": "profiles",
                "ordering": ("code",),
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(db_index=True, verbose_name="decided at")),
                (
                    "tenant_code",
                    models.CharField(
                        blank=True,
                        help_text="As it was then, also of one that is gone.",
                        max_length=63,
                        verbose_name="tenant's code",
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150, verbose_name="asked by")),
                ("request_id", models.CharField(blank=True, max_length=255, verbose_name="request id")),
                ("http_request_id", models.CharField(blank=True, max_length=128, verbose_name="HTTP request id")),
                (
                    "result",
                    models.CharField(
                        choices=[("scheduled", "scheduled"), ("unschedulable", "unschedulable")],
                        max_length=16,
                        verbose_name="result",
                    ),
                ),
                ("reason_code", models.CharField(blank=True, max_length=32, verbose_name="reason")),
                ("idc", models.CharField(blank=True, max_length=63, verbose_name="IDC")),
                ("profile", models.CharField(max_length=63, verbose_name="profile")),
                ("profile_revision", models.PositiveIntegerField(verbose_name="profile revision")),
                ("request", models.JSONField(verbose_name="request")),
                ("answer", idcsched.db.fields.WholeDocumentField(verbose_name="answer")),
                (
                    "sentences",
                    idcsched.db.fields.WholeDocumentField(
                        default=dict,
                        help_text="What each English sentence of the answer was made of.",
                        verbose_name="sentences",
                    ),
                ),
                (
                    "placement",
                    models.UUIDField(
                        blank=True,
                        help_text="What it became; its record is kept for longer then.",
                        null=True,
                        verbose_name="placement",
                    ),
                ),
                (
                    "taken",
                    models.JSONField(
                        blank=True,
                        help_text="The candidate that was taken, its rank, and why not the first.",
                        null=True,
                        verbose_name="taken",
                    ),
                ),
                (
                    "inputs",
                    models.BinaryField(
                        help_text="What it was decided on, packed; empty: not kept.", null=True, verbose_name="inputs"
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
                (
                    "history",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="What the lines that it saw had carried in the last 30 days, where that was loaded.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions_by_history",
                        to="scheduling.picture",
                        verbose_name="history",
                    ),
                ),
                (
                    "picture",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="What it saw of the world, where that is not among the inputs.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="scheduling.picture",
                        verbose_name="picture",
                    ),
                ),
            ],
            options={
                "verbose_name": "decision",
                "verbose_name_plural": "decisions",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("request_id", ""), _negated=True),
                        fields=["request_id"],
                        name="decision_by_request",
                    ),
                    models.Index(fields=["idc"], name="decision_of_idc"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("idc__gt", ""), ("result", "scheduled")),
                            models.Q(("idc", ""), ("result", "unschedulable")),
                            _connector="OR",
                        ),
                        name="scheduling_decision_idc_iff_scheduled",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("body", models.JSONField(verbose_name="body")),
                ("message", models.CharField(blank=True, max_length=500, verbose_name="message")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("created_by", models.CharField(blank=True, max_length=150, verbose_name="created by")),
                (
                    "profile",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="scheduling.profile",
                        verbose_name="profile",
                    ),
                ),
            ],
            options={
                "verbose_name": "profile revision",
                "verbose_name_plural": "profile revisions",
                "ordering": ("profile", "-number"),
                "constraints": [
                    models.UniqueConstraint(fields=("profile", "number"), name="scheduling_revision_number_once"),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="scheduling_revision_number_from_1"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Shape",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "business",
                    models.CharField(
                        help_text="The label `business` of the orders that it is about.",
                        max_length=256,
                        verbose_name="business",
                    ),
                ),
                (
                    "entered",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        help_text="24 numbers for the hours of a day, or 168 for those of a week from Monday on, in the billing zone; on any scale, the largest stands for the busiest hour.",
                        null=True,
                        validators=[idcsched.scheduling.models.shape_numbers],
                        verbose_name="traffic by the hour",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("learnt", models.JSONField(editable=False, null=True, verbose_name="learnt shape")),
                ("learnt_at", models.DateTimeField(editable=False, null=True, verbose_name="learnt")),
                ("learnt_days", models.FloatField(editable=False, null=True, verbose_name="days it rests on")),
                ("learnt_lines", models.FloatField(editable=False, null=True, verbose_name="lines it rests on")),
                ("learnt_error", models.FloatField(editable=False, null=True, verbose_name="error")),
                (
                    "learnt_use",
                    models.FloatField(editable=False, null=True, verbose_name="Mbps at the peak per ordered Mbps"),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("trusted", "trusted"),
                            ("unchanged", "what is ordered did not change while its lines were measured"),
                            ("too_short", "less than two weeks of traffic"),
                            ("few_lines", "orders came and went on fewer than three lines"),
                            ("uncertain", "too uncertain: too few changes, always along with others, or perhaps mixed"),
                            ("mixed", "mixed: the shapes of single orders differ too much"),
                        ],
                        db_default="",
                        default="",
                        editable=False,
                        max_length=10,
                        verbose_name="verdict of the last attempt",
                    ),
                ),
                ("tried_at", models.DateTimeField(editable=False, null=True, verbose_name="last attempt")),
                ("tried_days", models.FloatField(editable=False, null=True, verbose_name="days of the last attempt")),
                ("tried_lines", models.FloatField(editable=False, null=True, verbose_name="lines of the last attempt")),
                ("tried_error", models.FloatField(editable=False, null=True, verbose_name="error of the last attempt")),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose business it is; empty: that of all tenants of which no shape of their own is known.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shapes",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "traffic shape",
                "verbose_name_plural": "traffic shapes",
                "ordering": ("business", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "business"),
                        name="scheduling_shape_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is a shape of this tenant's business already.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("tenant__isnull", True)),
                        fields=("business",),
                        name="scheduling_shape_of_all_tenants_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is a shape of this business of all tenants already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verdict", ""),
                            ("verdict__in", ["trusted", "unchanged", "too_short", "few_lines", "uncertain", "mixed"]),
                            _connector="OR",
                        ),
                        name="scheduling_shape_verdict_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IdcOutcome",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "decision_id", "idc", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("idc", models.CharField(max_length=63, verbose_name="IDC")),
                ("chosen", models.BooleanField(verbose_name="chosen")),
                ("rank", models.PositiveIntegerField(null=True, verbose_name="rank")),
                ("plugin", models.CharField(blank=True, max_length=63, verbose_name="plugin")),
                ("code", models.CharField(blank=True, max_length=63, verbose_name="reason")),
                ("billed", models.FloatField(null=True, verbose_name="added to the bill per month")),
                (
                    "decision",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcomes",
                        to="scheduling.decision",
                        verbose_name="decision",
                    ),
                ),
            ],
            options={
                "verbose_name": "outcome of an IDC",
                "verbose_name_plural": "outcomes of IDCs",
                "indexes": [models.Index(fields=["idc", "decision"], name="outcome_of_idc")],
            },
        ),
        migrations.AddField(
            model_name="profile",
            name="active",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="active_of",
                to="scheduling.profilerevision",
                verbose_name="active revision",
            ),
        ),
        migrations.RunPython(compress_quickly, migrations.RunPython.noop),
    ]
