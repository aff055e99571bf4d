from django.db import migrations, models

import idcsched.feed.transactions


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0005_feed_names_idcs"),
    ]

    operations = [
        migrations.AlterField(
            model_name="feedentry",
            name="xid",
            field=models.BigIntegerField(
                db_default=idcsched.feed.transactions.TransactionNumber(),
                editable=False,
                null=True,
                verbose_name="transaction",
            ),
        ),
    ]
