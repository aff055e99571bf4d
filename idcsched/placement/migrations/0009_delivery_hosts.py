from urllib.parse import urlsplit

from django.db import migrations, models


def fill(apps, schema_editor):
    """Name the hosts of what is still to be sent; all else is looked at no more."""
    deliveries = apps.get_model("placement", "Delivery").objects.filter(state="pending")
    for url in set(deliveries.values_list("url", flat=True)):
        deliveries.filter(url=url).update(host=urlsplit(url).hostname or "")


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0008_fewer_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="delivery",
            name="host",
            field=models.CharField(db_default="", editable=False, max_length=255, verbose_name="host"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
