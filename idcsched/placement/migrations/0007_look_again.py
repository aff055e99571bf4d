from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone


def look_again(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """So far nobody looked for machines that had been up for an hour: they are looked for from now on."""
    machines = apps.get_model("placement", "Machine")
    machines.objects.filter(state="active", next_try_at=None).update(next_try_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0006_missing_machines"),
    ]

    operations = [
        migrations.RunPython(look_again, migrations.RunPython.noop),
    ]
