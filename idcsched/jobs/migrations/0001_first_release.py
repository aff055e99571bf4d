from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("work", "0001_initial"), ("work", "0002_lease")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "trade",
                    models.CharField(
                        choices=[("worker", "worker"), ("beat", "beat")], max_length=10, verbose_name="trade"
                    ),
                ),
                ("name", models.CharField(max_length=255, verbose_name="name")),
                ("at", models.DateTimeField(verbose_name="at")),
            ],
            options={
                "verbose_name": "sign of life",
                "verbose_name_plural": "signs of life",
                "ordering": ["trade", "name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("trade", "name"),
                        name="heartbeat_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("trade__in", ["worker", "beat"])),
                        name="heartbeat_trade_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("holder", models.UUIDField(verbose_name="holder")),
                ("until", models.DateTimeField(verbose_name="until")),
            ],
            options={
                "verbose_name": "lease",
                "verbose_name_plural": "leases",
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("name",),
                        name="lease_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
    ]
