import django.core.serializers.json
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("audit", "0001_initial"),
        ("audit", "0002_sources"),
        ("audit", "0003_providers"),
        ("audit", "0004_kept_free"),
        ("audit", "0005_feed_names_idcs"),
        ("audit", "0006_numbered_by_the_database"),
        ("audit", "0007_feed_apart"),
        ("audit", "0008_changes_in_the_console"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="at")),
                ("actor", models.CharField(max_length=150, verbose_name="actor")),
                (
                    "via",
                    models.CharField(
                        choices=[
                            ("api", "API"),
                            ("admin", "admin"),
                            ("console", "console"),
                            ("command", "command"),
                            ("task", "task"),
                            ("import", "import"),
                        ],
                        max_length=10,
                        verbose_name="via",
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[("create", "created"), ("update", "updated"), ("delete", "deleted")],
                        max_length=10,
                        verbose_name="action",
                    ),
                ),
                ("kind", models.CharField(max_length=30, verbose_name="kind")),
                ("key", models.CharField(max_length=255, verbose_name="key")),
                (
                    "before",
                    models.JSONField(
                        encoder=django.core.serializers.json.DjangoJSONEncoder,
                        help_text="What was changed, as it was.",
                        null=True,
                        verbose_name="before",
                    ),
                ),
                (
                    "after",
                    models.JSONField(
                        encoder=django.core.serializers.json.DjangoJSONEncoder,
                        help_text="What was changed, as it is now.",
                        null=True,
                        verbose_name="after",
                    ),
                ),
                ("request_id", models.CharField(blank=True, max_length=128, verbose_name="request id")),
                ("message", models.TextField(blank=True, verbose_name="message")),
            ],
            options={
                "verbose_name": "change",
                "verbose_name_plural": "changes",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["kind", "key", "-id"], name="change_of_what"),
                    models.Index(fields=["actor", "-id"], name="change_by_whom"),
                    models.Index(fields=["at"], name="change_when"),
                    models.Index(
                        condition=models.Q(("request_id", ""), _negated=True),
                        fields=["request_id"],
                        name="change_by_which_request",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("via__in", ["api", "admin", "console", "command", "task", "import"])),
                        name="change_via_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("action", "create"), ("after__isnull", False), ("before__isnull", True)),
                            models.Q(("action", "update"), ("after__isnull", False), ("before__isnull", False)),
                            models.Q(("action", "delete"), ("after__isnull", True), ("before__isnull", False)),
                            _connector="OR",
                        ),
                        name="change_shape",
                        violation_error_message="A creation has no before, a deletion no after, an update both.",
                    ),
                ],
            },
        ),
    ]
