import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.utils.timezone
import uuid_utils.compat
from django.db import migrations, models

import idcsched.db.fields


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("placement", "0001_initial"),
        ("placement", "0002_deliveries"),
        ("placement", "0003_providing"),
        ("placement", "0004_announced"),
        ("placement", "0005_awaits"),
        ("placement", "0006_missing_machines"),
        ("placement", "0007_look_again"),
        ("placement", "0008_fewer_indexes"),
        ("placement", "0009_delivery_hosts"),
        ("placement", "0010_bill"),
        ("placement", "0011_bill_per_month"),
    ]

    dependencies = [
        ("accounts", "0001_first_release"),
        ("inventory", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Placement",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150, verbose_name="asked by")),
                ("request_id", models.CharField(blank=True, max_length=255, verbose_name="request id")),
                (
                    "action",
                    models.CharField(
                        choices=[("reserve", "reserve"), ("provision", "provision")],
                        max_length=10,
                        verbose_name="action",
                    ),
                ),
                ("request", models.JSONField(verbose_name="request")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("reserved", "reserved"),
                            ("provisioning", "provisioning"),
                            ("active", "active"),
                            ("releasing", "releasing"),
                            ("released", "released"),
                            ("expired", "expired"),
                            ("failed", "failed"),
                        ],
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, verbose_name="version")),
                ("lines", models.JSONField(blank=True, default=list, verbose_name="lines")),
                ("bill", models.JSONField(blank=True, null=True, verbose_name="added to the bill")),
                (
                    "bill_per_month",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.functions.comparison.Cast(
                            django.db.models.fields.json.KeyTextTransform("per_month", "bill"), models.FloatField()
                        ),
                        output_field=models.FloatField(),
                        verbose_name="added to the bill per month",
                    ),
                ),
                ("business", models.CharField(blank=True, max_length=256, verbose_name="business")),
                ("machine_count", models.PositiveIntegerField(default=0, verbose_name="machines")),
                ("bandwidth_mbps", idcsched.db.fields.AmountField(default=0.0, verbose_name="bandwidth (Mbps)")),
                ("group_id", models.UUIDField(blank=True, null=True, verbose_name="group")),
                ("decision_id", models.UUIDField(verbose_name="decision")),
                ("based_on", models.UUIDField(blank=True, null=True, verbose_name="recommendation")),
                ("priority", models.IntegerField(default=0, verbose_name="priority")),
                ("ttl_seconds", models.PositiveIntegerField(default=600, verbose_name="time to live (s)")),
                ("expires_at", models.DateTimeField(blank=True, null=True, verbose_name="expires")),
                ("held_back", models.CharField(blank=True, max_length=500, verbose_name="held back")),
                ("cures", models.JSONField(blank=True, default=list, verbose_name="what may help")),
                ("tried_at", models.DateTimeField(blank=True, null=True, verbose_name="last try")),
                ("next_try_at", models.DateTimeField(blank=True, null=True, verbose_name="next try")),
                ("needs_attention", models.BooleanField(default=False, verbose_name="needs attention")),
                ("callback_url", models.CharField(blank=True, max_length=2000, verbose_name="callback")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="changed")),
                (
                    "awaits",
                    models.ManyToManyField(
                        blank=True, related_name="awaited_by", to="inventory.idc", verbose_name="lacks room in"
                    ),
                ),
                (
                    "idc",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "placement",
                "verbose_name_plural": "placements",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["tenant", "state", "-id"], name="placement_of_tenant"),
                    models.Index(fields=["idc", "state"], name="placement_in_idc"),
                    models.Index(
                        condition=models.Q(("state__in", ["reserved", "waiting"])),
                        fields=["expires_at"],
                        name="placement_expiring",
                    ),
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["-priority", "created_at"],
                        name="placement_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("needs_attention", True)), fields=["state"], name="placement_attention"
                    ),
                    models.Index(
                        condition=models.Q(("request_id", ""), _negated=True),
                        fields=["request_id"],
                        name="placement_by_request",
                    ),
                    models.Index(
                        condition=models.Q(("group_id__isnull", False)), fields=["group_id"], name="placement_in_group"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "waiting",
                                    "reserved",
                                    "provisioning",
                                    "active",
                                    "releasing",
                                    "released",
                                    "expired",
                                    "failed",
                                ],
                            )
                        ),
                        name="placement_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("action__in", ["reserve", "provision"])),
                        name="placement_action_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.UniqueConstraint(
                        fields=("based_on",),
                        name="placement_committed_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["active", "provisioning", "releasing", "reserved"]), _negated=True),
                            ("idc__isnull", False),
                            _connector="OR",
                        ),
                        name="placement_that_holds_stands_somewhere",
                        violation_error_message="What holds capacity holds it in an IDC.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["reserved", "waiting"]), _negated=True),
                            ("expires_at__isnull", False),
                            _connector="OR",
                        ),
                        name="placement_reserved_or_waiting_ends",
                        violation_error_message="A reservation ends some time, and so does waiting.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="at")),
                (
                    "move",
                    models.CharField(
                        choices=[
                            ("wait", "wait"),
                            ("reserve", "reserve"),
                            ("provision", "provision"),
                            ("confirm", "confirm"),
                            ("up", "machines are up"),
                            ("fall", "fall to another IDC"),
                            ("fail", "fail"),
                            ("retry", "retry"),
                            ("release", "release"),
                            ("gone", "machines are gone"),
                            ("give_up", "give up"),
                            ("lost", "machines are missing"),
                            ("found", "machines are there again"),
                            ("expire", "expire"),
                        ],
                        max_length=10,
                        verbose_name="move",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("reserved", "reserved"),
                            ("provisioning", "provisioning"),
                            ("active", "active"),
                            ("releasing", "releasing"),
                            ("released", "released"),
                            ("expired", "expired"),
                            ("failed", "failed"),
                        ],
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("actor", models.CharField(blank=True, max_length=150, verbose_name="actor")),
                ("detail", models.JSONField(blank=True, default=dict, verbose_name="detail")),
                (
                    "placement",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="placement.placement",
                        verbose_name="placement",
                    ),
                ),
            ],
            options={
                "verbose_name": "event",
                "verbose_name_plural": "events",
                "ordering": ("placement", "version"),
                "indexes": [models.Index(fields=["at"], name="event_when")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("placement", "version"),
                        name="event_version_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("kind", models.CharField(max_length=40, verbose_name="type")),
                ("url", models.CharField(max_length=2000, verbose_name="address")),
                ("host", models.CharField(db_default="", editable=False, max_length=255, verbose_name="host")),
                ("payload", models.TextField(verbose_name="payload")),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "to be sent"), ("delivered", "delivered"), ("given_up", "given up")],
                        default="pending",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("queued_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="tried since")),
                ("tries", models.PositiveIntegerField(default=0, verbose_name="tries")),
                ("tried_at", models.DateTimeField(blank=True, null=True, verbose_name="last try")),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="next try")),
                ("delivered_at", models.DateTimeField(blank=True, null=True, verbose_name="delivered")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("claim", models.UUIDField(blank=True, editable=False, null=True, verbose_name="claim")),
                (
                    "claimed_until",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="claimed until"),
                ),
                (
                    "placement",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="placement.placement",
                        verbose_name="placement",
                    ),
                ),
            ],
            options={
                "verbose_name": "callback",
                "verbose_name_plural": "callbacks",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(condition=models.Q(("state", "pending")), fields=["next_try_at"], name="delivery_due"),
                    models.Index(fields=["state", "-id"], name="delivery_in_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("placement", "version"),
                        name="delivery_of_event_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["pending", "delivered", "given_up"])),
                        name="delivery_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "delivered"), _negated=True),
                            ("delivered_at__isnull", False),
                            _connector="OR",
                        ),
                        name="delivery_delivered_some_time",
                        violation_error_message="What is delivered was delivered at some time.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                (
                    "state",
                    models.CharField(
                        choices=[("trying", "trying"), ("active", "active"), ("failed", "failed")],
                        default="trying",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("decision_id", models.UUIDField(verbose_name="decision")),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="started")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "placement",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="placement.placement",
                        verbose_name="placement",
                    ),
                ),
            ],
            options={
                "verbose_name": "attempt",
                "verbose_name_plural": "attempts",
                "ordering": ("placement", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("placement", "number"),
                        name="attempt_number_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["trying", "active", "failed"])),
                        name="attempt_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Provider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                ("kind", models.CharField(max_length=30, verbose_name="kind")),
                ("config", idcsched.db.fields.DocumentField(blank=True, default=dict, verbose_name="configuration")),
                (
                    "secret_ref",
                    models.CharField(
                        blank=True,
                        help_text="env:NAME or file:/PATH; never the secret itself.",
                        max_length=300,
                        verbose_name="secret",
                    ),
                ),
                (
                    "enabled",
                    models.BooleanField(
                        default=True,
                        help_text="One that is not starts no machines, and still removes those it has.",
                        verbose_name="enabled",
                    ),
                ),
            ],
            options={
                "verbose_name": "provider",
                "verbose_name_plural": "providers",
                "ordering": ["code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="provider_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SimulatedMachine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", models.CharField(db_index=True, max_length=64, verbose_name="token")),
                ("provider", idcsched.db.fields.CodeField(max_length=63, verbose_name="provider")),
                ("broken", models.BooleanField(default=False, verbose_name="broken")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                ("up_at", models.DateTimeField(verbose_name="up")),
                ("gone_at", models.DateTimeField(null=True, verbose_name="removed")),
            ],
            options={
                "verbose_name": "simulated machine",
                "verbose_name_plural": "simulated machines",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["provider", "gone_at"], name="simulated_of_provider")],
            },
        ),
        migrations.CreateModel(
            name="Machine",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("name", models.CharField(max_length=255, verbose_name="name")),
                ("shape", models.JSONField(verbose_name="shape")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("creating", "creating"),
                            ("active", "active"),
                            ("failed", "failed"),
                            ("deleting", "deleting"),
                            ("deleted", "deleted"),
                            ("given_up", "given up"),
                        ],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("provider", idcsched.db.fields.CodeField(blank=True, max_length=63, verbose_name="provider")),
                ("provider_id", models.CharField(blank=True, max_length=255, verbose_name="id at the provider")),
                ("addresses", models.JSONField(blank=True, default=list, verbose_name="addresses")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("tries", models.PositiveIntegerField(default=0, verbose_name="tries")),
                ("lives", models.PositiveIntegerField(default=0, verbose_name="lives")),
                ("since", models.DateTimeField(default=django.utils.timezone.now, verbose_name="since")),
                (
                    "next_try_at",
                    models.DateTimeField(
                        blank=True, default=django.utils.timezone.now, null=True, verbose_name="next try"
                    ),
                ),
                ("claim", models.UUIDField(blank=True, editable=False, null=True, verbose_name="claim")),
                (
                    "claimed_until",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="claimed until"),
                ),
                (
                    "announced_until",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="announced until"),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="created")),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="machines",
                        to="placement.attempt",
                        verbose_name="attempt",
                    ),
                ),
            ],
            options={
                "verbose_name": "machine",
                "verbose_name_plural": "machines",
                "ordering": ("attempt", "number"),
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_try_at__isnull", False)),
                        fields=["next_try_at"],
                        name="machine_to_look_at",
                    ),
                    models.Index(fields=["provider", "state"], name="machine_of_provider"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("attempt", "number"),
                        name="machine_number_once",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["pending", "creating", "active", "failed", "deleting", "deleted", "given_up"],
                            )
                        ),
                        name="machine_state_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                ],
            },
        ),
    ]
