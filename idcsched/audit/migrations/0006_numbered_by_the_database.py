from django.db import migrations, models

import idcsched.audit.transactions


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0005_feed_names_idcs"),
    ]

    operations = [
        migrations.AlterField(
            model_name="feedentry",
            name="xid",
            field=models.BigIntegerField(
                db_default=idcsched.audit.transactions.TransactionNumber(),
                editable=False,
                null=True,
                verbose_name="transaction",
            ),
        ),
    ]
