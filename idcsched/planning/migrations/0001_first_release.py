import django.db.models.deletion
import django.utils.timezone
import uuid_utils.compat
from django.db import migrations, models

import idcsched.db.fields


class Migration(migrations.Migration):
    replaces = [("planning", "0001_backtests"), ("planning", "0002_advice")]

    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredAdvice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("computed_at", models.DateTimeField(db_index=True, verbose_name="computed")),
                ("document", idcsched.db.fields.WholeDocumentField(verbose_name="document")),
            ],
            options={
                "verbose_name": "advice",
                "verbose_name_plural": "advice",
                "ordering": ["-computed_at"],
            },
        ),
        migrations.CreateModel(
            name="Backtest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                ("actor", models.CharField(max_length=150, verbose_name="asked by")),
                ("profile", models.CharField(max_length=63, verbose_name="profile")),
                ("days", models.PositiveSmallIntegerField(verbose_name="days")),
                ("policies", models.JSONField(verbose_name="profiles that are compared")),
                ("optimum", models.BooleanField(default=False, verbose_name="with the optimum")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting for a worker"),
                            ("running", "running"),
                            ("done", "done"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("beat_at", models.DateTimeField(editable=False, null=True, verbose_name="last sign of life")),
                ("finished_at", models.DateTimeField(null=True, verbose_name="finished")),
                ("done", models.PositiveIntegerField(default=0, verbose_name="orders decided")),
                ("total", models.PositiveIntegerField(default=0, verbose_name="orders to decide")),
                ("result", models.JSONField(null=True, verbose_name="result")),
                ("failure", models.CharField(blank=True, max_length=500, verbose_name="why it failed")),
                (
                    "tenant",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "backtest",
                "verbose_name_plural": "backtests",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed"])),
                        name="backtest_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    )
                ],
            },
        ),
    ]
