from django.db import migrations


class Migration(migrations.Migration):
    """The feed's table stays, and is that of the app `feed`."""

    dependencies = [
        ("audit", "0006_numbered_by_the_database"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name="FeedEntry")]),
    ]
