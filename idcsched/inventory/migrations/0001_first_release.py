import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import idcsched.db.fields
import idcsched.inventory.checks


class Migration(migrations.Migration):
    replaces = [("inventory", "0001_initial")]

    initial = True

    dependencies = [
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Isp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                (
                    "aliases",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        default=list,
                        validators=[idcsched.inventory.checks.alias_list],
                        verbose_name="aliases",
                    ),
                ),
            ],
            options={
                "verbose_name": "ISP",
                "verbose_name_plural": "ISPs",
                "ordering": ["code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="isp_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Region",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "latitude",
                    idcsched.db.fields.NumberField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(-90),
                            django.core.validators.MaxValueValidator(90),
                        ],
                        verbose_name="latitude",
                    ),
                ),
                (
                    "longitude",
                    idcsched.db.fields.NumberField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(-180),
                            django.core.validators.MaxValueValidator(180),
                        ],
                        verbose_name="longitude",
                    ),
                ),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                (
                    "labels",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        default=dict,
                        validators=[idcsched.inventory.checks.label_map],
                        verbose_name="labels",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="inventory.region",
                        verbose_name="parent",
                    ),
                ),
            ],
            options={
                "verbose_name": "region",
                "verbose_name_plural": "regions",
                "ordering": ["code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="region_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("parent__isnull", True),
                            models.Q(("parent", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="region_not_its_own_parent",
                        violation_error_code="region_cycle",
                        violation_error_message="A region can't be its own parent.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("latitude__gte", -90), ("latitude__lte", 90)),
                        name="region_latitude_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("longitude__gte", -180), ("longitude__lte", 180)),
                        name="region_longitude_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("latitude__isnull", True), ("longitude__isnull", True)),
                            models.Q(("latitude__isnull", False), ("longitude__isnull", False)),
                            _connector="OR",
                        ),
                        name="region_coordinates_both",
                        violation_error_code="coordinates_incomplete",
                        violation_error_message="Latitude and longitude go together: both or neither.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Idc",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "latitude",
                    idcsched.db.fields.NumberField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(-90),
                            django.core.validators.MaxValueValidator(90),
                        ],
                        verbose_name="latitude",
                    ),
                ),
                (
                    "longitude",
                    idcsched.db.fields.NumberField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(-180),
                            django.core.validators.MaxValueValidator(180),
                        ],
                        verbose_name="longitude",
                    ),
                ),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                (
                    "tier",
                    models.CharField(
                        choices=[("edge", "edge"), ("center", "center")],
                        default="edge",
                        max_length=10,
                        verbose_name="tier",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("online", "online"),
                            ("offline", "offline"),
                            ("draining", "draining"),
                            ("retired", "retired"),
                        ],
                        default="online",
                        max_length=10,
                        verbose_name="status",
                    ),
                ),
                ("partition", models.CharField(blank=True, max_length=63, verbose_name="partition")),
                (
                    "labels",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        default=dict,
                        validators=[idcsched.inventory.checks.label_map],
                        verbose_name="labels",
                    ),
                ),
                (
                    "provider",
                    idcsched.db.fields.CodeField(
                        blank=True,
                        help_text="Code of the provider that starts machines here.",
                        max_length=63,
                        verbose_name="provider",
                    ),
                ),
                ("stock_cpu", idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="CPU cores for sale")),
                (
                    "stock_memory_gib",
                    idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="memory for sale (GiB)"),
                ),
                (
                    "stock_disk_gib",
                    idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="disk for sale (GiB)"),
                ),
                ("stock_gpu", idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="GPUs for sale")),
                (
                    "region",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="idcs",
                        to="inventory.region",
                        verbose_name="region",
                    ),
                ),
            ],
            options={
                "verbose_name": "IDC",
                "verbose_name_plural": "IDCs",
                "ordering": ["code"],
                "indexes": [
                    models.Index(fields=["status"], name="idc_by_status"),
                    models.Index(fields=["tier"], name="idc_by_tier"),
                    models.Index(fields=["partition"], name="idc_by_partition"),
                    models.Index(fields=["provider"], name="idc_by_provider"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="idc_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tier__in", ["edge", "center"])),
                        name="idc_tier_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["online", "offline", "draining", "retired"])),
                        name="idc_status_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stock_cpu__gte", 0), ("stock_cpu__lte", 1000000000000.0)),
                        name="idc_stock_cpu_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stock_memory_gib__gte", 0), ("stock_memory_gib__lte", 1000000000000.0)),
                        name="idc_stock_memory_gib_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stock_disk_gib__gte", 0), ("stock_disk_gib__lte", 1000000000000.0)),
                        name="idc_stock_disk_gib_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stock_gpu__gte", 0), ("stock_gpu__lte", 1000000000000.0)),
                        name="idc_stock_gpu_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("latitude__gte", -90), ("latitude__lte", 90)),
                        name="idc_latitude_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("longitude__gte", -180), ("longitude__lte", 180)),
                        name="idc_longitude_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("latitude__isnull", True), ("longitude__isnull", True)),
                            models.Q(("latitude__isnull", False), ("longitude__isnull", False)),
                            _connector="OR",
                        ),
                        name="idc_coordinates_both",
                        violation_error_code="coordinates_incomplete",
                        violation_error_message="Latitude and longitude go together: both or neither.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RegionScope",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "region",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scopes",
                        to="inventory.region",
                        verbose_name="region",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="region_scopes",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "region scope",
                "verbose_name_plural": "region scopes",
                "ordering": ["user", "region"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "region"),
                        name="region_scope_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Taint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "key",
                    models.CharField(
                        max_length=128, validators=[idcsched.inventory.checks.taint_key], verbose_name="key"
                    ),
                ),
                ("value", models.CharField(blank=True, max_length=256, verbose_name="value")),
                (
                    "effect",
                    models.CharField(
                        choices=[
                            ("NoSchedule", "no new machines"),
                            ("PreferNoSchedule", "new machines only if nothing better fits"),
                            ("NoExecute", "no new machines, and those there are due to leave"),
                        ],
                        default="NoSchedule",
                        max_length=20,
                        verbose_name="effect",
                    ),
                ),
                ("reason", models.TextField(blank=True, max_length=1000, verbose_name="reason")),
                (
                    "starts_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: it has always been there.", null=True, verbose_name="starts"
                    ),
                ),
                (
                    "ends_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: it stays until it is lifted.", null=True, verbose_name="ends"
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="taints",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
            ],
            options={
                "verbose_name": "taint",
                "verbose_name_plural": "taints",
                "ordering": ["idc", "key", "value", "effect", "starts_at", "id"],
                "indexes": [
                    models.Index(fields=["key", "value"], name="taint_by_key"),
                    models.Index(fields=["effect"], name="taint_by_effect"),
                    models.Index(fields=["ends_at"], name="taint_by_end"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("idc", "key", "value", "effect", "starts_at"),
                        name="taint_unique_with_start",
                        violation_error_code="already_exists",
                        violation_error_message="The IDC has this taint already, from the same time on.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("starts_at__isnull", True)),
                        fields=("idc", "key", "value", "effect"),
                        name="taint_unique_without_start",
                        violation_error_code="already_exists",
                        violation_error_message="The IDC has this taint already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("key", ""), _negated=True),
                        name="taint_key_given",
                        violation_error_code="required",
                        violation_error_message="A taint needs a key.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("effect__in", ["NoSchedule", "PreferNoSchedule", "NoExecute"])),
                        name="taint_effect_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ends_at__isnull", True),
                            ("starts_at__isnull", True),
                            ("ends_at__gt", models.F("starts_at")),
                            _connector="OR",
                        ),
                        name="taint_window_order",
                        violation_error_code="window_order",
                        violation_error_message="The end must be after the start.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Affinity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "selector",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        null=True,
                        validators=[idcsched.inventory.checks.selector_document],
                        verbose_name="selector",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("prefer", "prefer"), ("require", "require"), ("forbid", "forbid")],
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                (
                    "weight",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="Of a preference, -100 to 100 but not 0; below 0 it keeps requests off.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(-100),
                            django.core.validators.MaxValueValidator(100),
                        ],
                        verbose_name="weight",
                    ),
                ),
                (
                    "request_selector",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        help_text="Which requests it is about, by their labels; empty: all.",
                        null=True,
                        validators=[idcsched.inventory.checks.selector_document],
                        verbose_name="request selector",
                    ),
                ),
                ("reason", models.TextField(blank=True, max_length=1000, verbose_name="reason")),
                ("starts_at", models.DateTimeField(blank=True, null=True, verbose_name="starts")),
                ("ends_at", models.DateTimeField(blank=True, null=True, verbose_name="ends")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                (
                    "idc",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="affinities",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
            ],
            options={
                "verbose_name": "affinity",
                "verbose_name_plural": "affinities",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["kind"], name="affinity_by_kind")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("idc__isnull", True), ("selector__isnull", False)),
                            models.Q(("idc__isnull", False), ("selector__isnull", True)),
                            _connector="OR",
                        ),
                        name="affinity_idc_or_selector",
                        violation_error_code="idc_or_selector",
                        violation_error_message="An affinity names either an IDC or a selector.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("weight__isnull", False), ("kind", "prefer")),
                            models.Q(("weight__isnull", True), ("kind__in", ["require", "forbid"])),
                            _connector="OR",
                        ),
                        name="affinity_weight_by_kind",
                        violation_error_code="weight_by_kind",
                        violation_error_message="A preference needs a weight; the other kinds take none.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("weight__gte", -100), ("weight__lte", 100), models.Q(("weight", 0), _negated=True)
                        ),
                        name="affinity_weight_range",
                        violation_error_code="out_of_range",
                        violation_error_message="A weight lies between -100 and 100 and is not 0.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["prefer", "require", "forbid"])),
                        name="affinity_kind_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ends_at__isnull", True),
                            ("starts_at__isnull", True),
                            ("ends_at__gt", models.F("starts_at")),
                            _connector="OR",
                        ),
                        name="affinity_window_order",
                        violation_error_code="window_order",
                        violation_error_message="The end must be after the start.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Line",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "code",
                    idcsched.db.fields.CodeField(
                        blank=True, help_text="Empty: the ISP's code.", max_length=63, verbose_name="code"
                    ),
                ),
                ("purchased_mbps", idcsched.db.fields.AmountField(verbose_name="purchased (Mbps)")),
                (
                    "commit_mbps",
                    idcsched.db.fields.AmountField(
                        blank=True, help_text="What is paid in any case.", null=True, verbose_name="commit (Mbps)"
                    ),
                ),
                (
                    "max_level",
                    idcsched.db.fields.AmountField(
                        blank=True,
                        help_text="Above 0, up to 1; empty: the installation's.",
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1)],
                        verbose_name="highest water level",
                    ),
                ),
                (
                    "charge_type",
                    models.CharField(
                        choices=[
                            ("p95_month", "monthly 95th percentile"),
                            ("fourth_peak_month", "fourth peak of the month"),
                            ("daily_peak", "daily peak"),
                            ("daily_peak_average", "average of daily peaks"),
                            ("enhanced_95", "enhanced 95th percentile"),
                            ("fixed", "fixed"),
                            ("volume", "by volume"),
                        ],
                        default="p95_month",
                        max_length=20,
                        verbose_name="charge type",
                    ),
                ),
                (
                    "price_per_mbps",
                    idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="price per Mbps"),
                ),
                ("price_per_gb", idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="price per GB")),
                (
                    "idc",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lines",
                        to="inventory.idc",
                        verbose_name="IDC",
                    ),
                ),
                (
                    "isp",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="lines",
                        to="inventory.isp",
                        verbose_name="ISP",
                    ),
                ),
            ],
            options={
                "verbose_name": "line",
                "verbose_name_plural": "lines",
                "ordering": ["idc", "code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("idc", "code"),
                        name="line_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="The IDC has a line of this code already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("code", ""), _negated=True),
                        name="line_code_given",
                        violation_error_code="required",
                        violation_error_message="A line needs a code.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purchased_mbps__gte", 0), ("purchased_mbps__lte", 1000000000000.0)),
                        name="line_purchased_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("commit_mbps__gte", 0), ("commit_mbps__lte", 1000000000000.0)),
                        name="line_commit_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_level__gt", 0), ("max_level__lte", 1)),
                        name="line_max_level_range",
                        violation_error_code="out_of_range",
                        violation_error_message="The highest water level lies above 0 and is at most 1.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("price_per_mbps__gte", 0), ("price_per_mbps__lte", 1000000000000.0)),
                        name="line_price_per_mbps_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("price_per_gb__gte", 0), ("price_per_gb__lte", 1000000000000.0)),
                        name="line_price_per_gb_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "charge_type__in",
                                [
                                    "p95_month",
                                    "fourth_peak_month",
                                    "daily_peak",
                                    "daily_peak_average",
                                    "enhanced_95",
                                    "fixed",
                                    "volume",
                                ],
                            )
                        ),
                        name="line_charge_type_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                ],
            },
        ),
    ]
