import django.utils.timezone
from django.db import migrations, models

import idcsched.feed.transactions


class Migration(migrations.Migration):
    replaces = [("feed", "0001_initial"), ("feed", "0002_shapes")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="FeedEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="at")),
                (
                    "topic",
                    models.CharField(
                        choices=[
                            ("inventory", "inventory"),
                            ("taints", "taints"),
                            ("affinities", "affinities"),
                            ("metrics", "metric values"),
                            ("metric_definitions", "metric definitions"),
                            ("ledger", "ledger"),
                            ("profiles", "profiles"),
                            ("shapes", "traffic shapes"),
                            ("tokens", "tokens"),
                            ("sources", "sources"),
                            ("providers", "providers"),
                            ("kept_free", "room kept for orders that wait"),
                        ],
                        max_length=30,
                        verbose_name="topic",
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        blank=True,
                        help_text="What moved; empty: anything of the topic.",
                        max_length=255,
                        verbose_name="key",
                    ),
                ),
                (
                    "idcs",
                    models.JSONField(
                        editable=False,
                        help_text="The primary keys of the IDCs of which it moved; empty: of any.",
                        null=True,
                        verbose_name="IDCs",
                    ),
                ),
                (
                    "xid",
                    models.BigIntegerField(
                        db_default=idcsched.feed.transactions.TransactionNumber(),
                        editable=False,
                        null=True,
                        verbose_name="transaction",
                    ),
                ),
            ],
            options={
                "verbose_name": "feed entry",
                "verbose_name_plural": "feed entries",
                "db_table": "audit_feedentry",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["xid"], name="feed_by_transaction"),
                    models.Index(fields=["at"], name="feed_when"),
                ],
            },
        ),
    ]
