import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("transfer", "0001_initial")]

    initial = True

    dependencies = [
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                ("actor", models.CharField(max_length=150, verbose_name="actor")),
                ("language", models.CharField(default="en", max_length=20, verbose_name="language")),
                ("request_id", models.CharField(blank=True, max_length=128, verbose_name="request id")),
                ("message", models.CharField(blank=True, max_length=500, verbose_name="message")),
                ("file_name", models.CharField(max_length=255, verbose_name="file")),
                ("content", models.BinaryField(help_text="Kept until the import is over.", verbose_name="content")),
                ("kind", models.CharField(blank=True, max_length=20, verbose_name="kind")),
                (
                    "missing",
                    models.CharField(
                        choices=[
                            ("keep", "stay as they are"),
                            ("retire", "IDCs are retired"),
                            ("delete", "are deleted"),
                        ],
                        default="keep",
                        max_length=10,
                        verbose_name="missing rows",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting to be looked through"),
                            ("checking", "being looked through"),
                            ("checked", "waiting for your go-ahead"),
                            ("confirmed", "waiting to be imported"),
                            ("applying", "being imported"),
                            ("applied", "imported"),
                            ("refused", "refused"),
                            ("failed", "failed"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                (
                    "moved_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="in this state since"),
                ),
                ("claim", models.UUIDField(editable=False, null=True, verbose_name="claim")),
                ("beat_at", models.DateTimeField(editable=False, null=True, verbose_name="last sign of life")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("done", models.PositiveIntegerField(default=0, verbose_name="rows done")),
                ("total", models.PositiveIntegerField(default=0, verbose_name="rows")),
                ("notes", models.JSONField(blank=True, default=list, verbose_name="how it was read")),
                ("counts", models.JSONField(blank=True, default=dict, verbose_name="rows by what becomes of them")),
                ("changes", models.JSONField(blank=True, default=list, verbose_name="changes")),
                ("faults", models.JSONField(blank=True, default=list, verbose_name="what is wrong")),
                ("fingerprint", models.CharField(blank=True, max_length=64, verbose_name="fingerprint")),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "import",
                "verbose_name_plural": "imports",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["state", "moved_at"], name="import_by_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "queued",
                                    "checking",
                                    "checked",
                                    "confirmed",
                                    "applying",
                                    "applied",
                                    "refused",
                                    "failed",
                                    "withdrawn",
                                ],
                            )
                        ),
                        name="import_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("missing__in", ["keep", "retire", "delete"])),
                        name="import_missing_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                ],
            },
        ),
    ]
