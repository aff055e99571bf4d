import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import idcsched.db.fields
import idcsched.ledger.models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("ledger", "0001_initial"),
        ("ledger", "0002_kept_free"),
        ("ledger", "0003_fewer_indexes"),
        ("ledger", "0004_empty_headcounts_go"),
    ]

    dependencies = [
        ("accounts", "0001_first_release"),
        ("inventory", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Holding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "resource",
                    models.CharField(
                        choices=[
                            ("bandwidth_mbps", "bandwidth (Mbps)"),
                            ("cpu", "CPU cores"),
                            ("memory_gib", "memory (GiB)"),
                            ("disk_gib", "disk (GiB)"),
                            ("gpu", "GPUs"),
                        ],
                        max_length=20,
                        verbose_name="resource",
                    ),
                ),
                ("taken", idcsched.db.fields.AmountField(default=0.0, verbose_name="taken")),
                ("ordered", idcsched.db.fields.AmountField(default=0.0, verbose_name="ordered")),
                ("kept", idcsched.db.fields.AmountField(db_default=0.0, default=0.0, verbose_name="kept free")),
                ("kept_for", models.IntegerField(blank=True, null=True, verbose_name="kept for priority")),
                ("kept_until", models.DateTimeField(blank=True, null=True, verbose_name="kept until")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="holdings",
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
                        related_name="holdings",
                        to="inventory.line",
                        verbose_name="line",
                    ),
                ),
            ],
            options={
                "verbose_name": "holding",
                "verbose_name_plural": "holdings",
                "ordering": ["idc", "resource", "line"],
                "indexes": [
                    models.Index(condition=models.Q(("kept__gt", 0)), fields=["kept_until"], name="holding_kept")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("line",),
                        name="holding_line_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("line__isnull", True)),
                        fields=("idc", "resource"),
                        name="holding_stock_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("line__isnull", False), ("resource", "bandwidth_mbps")),
                            models.Q(models.Q(("resource", "bandwidth_mbps"), _negated=True), ("line__isnull", True)),
                            _connector="OR",
                        ),
                        name="holding_line_for_bandwidth",
                        violation_error_message="Bandwidth is taken of a line, everything else of the IDC.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("resource__in", ["bandwidth_mbps", "cpu", "memory_gib", "disk_gib", "gpu"])
                        ),
                        name="holding_resource_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("taken__gte", 0), ("taken__lte", 1000000000000.0)),
                        name="holding_taken_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ordered__gte", 0), ("ordered__lte", 1000000000000.0)),
                        name="holding_ordered_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kept__gte", 0), ("kept__lte", 1000000000000.0)),
                        name="holding_kept_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kept", 0),
                            models.Q(("kept_for__isnull", False), ("kept_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="holding_kept_for_somebody",
                        violation_error_message="What is kept free is kept for somebody, and not for ever.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Claim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("placement", models.UUIDField(verbose_name="placement")),
                ("amount", idcsched.db.fields.AmountField(verbose_name="amount")),
                (
                    "remaining",
                    idcsched.db.fields.AmountField(
                        help_text="What still counts; fades once monitoring sees the use.", verbose_name="remaining"
                    ),
                ),
                ("taken_after", idcsched.db.fields.AmountField(verbose_name="taken after it")),
                ("ceiling", models.FloatField(blank=True, null=True, verbose_name="ceiling")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("fading_since", models.DateTimeField(blank=True, null=True, verbose_name="fading since")),
                ("released_at", models.DateTimeField(blank=True, null=True, verbose_name="released")),
                (
                    "holding",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="claims",
                        to="ledger.holding",
                        verbose_name="holding",
                    ),
                ),
            ],
            options={
                "verbose_name": "claim",
                "verbose_name_plural": "claims",
                "ordering": ["id"],
                "indexes": [
                    models.Index(condition=models.Q(("remaining__gt", 0)), fields=["fading_since"], name="claim_fading")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("released_at__isnull", True)),
                        fields=("placement", "holding"),
                        name="claim_unique",
                        violation_error_code="already_exists",
                        violation_error_message="The placement has a claim on this already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount__gt", 0)),
                        name="claim_amount_positive",
                        violation_error_message="A claim is about more than nothing.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("remaining__gte", 0), ("remaining__lte", models.F("amount"))),
                        name="claim_remaining_range",
                        violation_error_message="What remains of a claim lies between nothing and all of it.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("released_at__isnull", True), ("remaining", 0), _connector="OR"),
                        name="claim_released_whole",
                        violation_error_message="Nothing remains of a released claim.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ceiling__isnull", True), ("taken_after__lte", models.F("ceiling")), _connector="OR"
                        ),
                        name="claim_within_ceiling",
                        violation_error_code="oversold",
                        violation_error_message="No claim may go beyond what there is.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Headcount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("business", models.CharField(blank=True, max_length=256, verbose_name="business")),
                ("machines", models.PositiveIntegerField(default=0, verbose_name="machines")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="headcounts",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=idcsched.ledger.models.machines_protect,
                        related_name="headcounts",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "headcount",
                "verbose_name_plural": "headcounts",
                "ordering": ["idc", "tenant", "business"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("idc", "tenant", "business"),
                        name="headcount_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
    ]
