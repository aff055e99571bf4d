from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_claims(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Delete the rows without an answer: their requests died, or are sent again."""
    apps.get_model("accounts", "IdempotencyKey").objects.filter(status__isnull=True).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_callback_secret"),
    ]

    operations = [
        migrations.RunPython(forget_claims, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="idempotencykey", name="idempotency_status_final"),
        migrations.RemoveField(model_name="idempotencykey", name="claim"),
        migrations.RemoveField(model_name="idempotencykey", name="claimed_at"),
        migrations.AlterField(
            model_name="idempotencykey",
            name="status",
            field=models.PositiveSmallIntegerField(verbose_name="status"),
        ),
        migrations.AlterField(
            model_name="idempotencykey",
            name="body",
            field=models.BinaryField(verbose_name="body"),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.CheckConstraint(
                condition=models.Q(status__gte=200, status__lt=500),
                name="idempotency_status_final",
                violation_error_message="Only a final answer is kept.",
            ),
        ),
    ]
