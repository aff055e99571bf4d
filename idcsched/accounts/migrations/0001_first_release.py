import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import idcsched.accounts.models
import idcsched.db.fields


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_token_rotated"),
        ("accounts", "0003_idempotency_key"),
        ("accounts", "0004_callback_secret"),
        ("accounts", "0005_answers_alone"),
        ("accounts", "0006_ended_tokens_go"),
        ("accounts", "0007_oidc_subject"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", idcsched.db.fields.CodeField(max_length=63, verbose_name="code")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                (
                    "default_profile",
                    idcsched.db.fields.CodeField(
                        blank=True,
                        help_text="Code of a profile; empty: the installation's default.",
                        max_length=63,
                        verbose_name="default profile",
                    ),
                ),
                (
                    "callback_hosts",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        default=list,
                        help_text="Hosts to which callbacks may be sent.",
                        validators=[idcsched.accounts.models.host_list],
                        verbose_name="callback hosts",
                    ),
                ),
                (
                    "callback_secret_version",
                    models.PositiveIntegerField(default=0, editable=False, verbose_name="callback secret no."),
                ),
                (
                    "callback_secret_at",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="callback secret made"),
                ),
                (
                    "quota_bandwidth_mbps",
                    idcsched.db.fields.AmountField(blank=True, null=True, verbose_name="bandwidth quota (Mbps)"),
                ),
                ("quota_machines", models.PositiveIntegerField(blank=True, null=True, verbose_name="machine quota")),
            ],
            options={
                "verbose_name": "tenant",
                "verbose_name_plural": "tenants",
                "ordering": ["code"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("code",),
                        name="tenant_code_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("quota_bandwidth_mbps__gte", 0), ("quota_bandwidth_mbps__lte", 1000000000000.0)
                        ),
                        name="tenant_quota_bandwidth_range",
                        violation_error_code="out_of_range",
                        violation_error_message="This number is out of its range.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "viewer"),
                            ("portal", "portal"),
                            ("operator", "operator"),
                            ("admin", "administrator"),
                        ],
                        default="viewer",
                        max_length=10,
                        verbose_name="role",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        help_text="Empty: what the browser asks for.",
                        max_length=10,
                        verbose_name="language",
                    ),
                ),
                (
                    "oidc_subject",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        help_text="Who the user is at the OpenID provider; empty: nobody there.",
                        max_length=255,
                        verbose_name="OpenID subject",
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all tenants.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="users",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "ordering": ["username"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["viewer", "portal", "operator", "admin"])),
                        name="user_role_known",
                        violation_error_code="invalid_choice",
                        violation_error_message="This is not one of the choices.",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("oidc_subject", ""), _negated=True),
                        fields=("oidc_subject",),
                        name="user_oidc_subject_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                ],
            },
            managers=[
                ("objects", idcsched.accounts.models.UserAccounts()),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=255, verbose_name="key")),
                (
                    "fingerprint",
                    models.CharField(help_text="What was asked, as a hash.", max_length=64, verbose_name="fingerprint"),
                ),
                ("created_at", models.DateTimeField(verbose_name="created")),
                ("status", models.PositiveSmallIntegerField(verbose_name="status")),
                ("headers", models.JSONField(default=dict, verbose_name="headers")),
                ("body", models.BinaryField(verbose_name="body")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="idempotency_keys",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "idempotency key",
                "verbose_name_plural": "idempotency keys",
                "indexes": [models.Index(fields=["created_at"], name="idempotency_key_age")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "key"),
                        name="idempotency_key_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__gte", 200), ("status__lt", 500)),
                        name="idempotency_status_final",
                        violation_error_message="Only a final answer is kept.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("prefix", models.CharField(editable=False, max_length=8, verbose_name="prefix")),
                (
                    "digest",
                    models.CharField(
                        editable=False,
                        max_length=64,
                        validators=[django.core.validators.MinLengthValidator(64)],
                        verbose_name="digest",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name="created"),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True, verbose_name="expires")),
                ("read_only", models.BooleanField(default=False, verbose_name="read-only")),
                (
                    "allowed_networks",
                    idcsched.db.fields.DocumentField(
                        blank=True,
                        default=list,
                        help_text="Networks from which it may be used, such as 10.0.0.0/8; none: from everywhere.",
                        validators=[idcsched.accounts.models.network_list],
                        verbose_name="allowed networks",
                    ),
                ),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="last used")),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="revoked")),
                (
                    "rotated_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When another token took its place.",
                        null=True,
                        verbose_name="rotated",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        help_text="The tenant for which it acts; empty: the user's.",
                        null=True,
                        on_delete=idcsched.accounts.models.tokens_in_force_protect,
                        related_name="api_tokens",
                        to="accounts.tenant",
                        verbose_name="tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["prefix"], name="token_by_prefix")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("digest",),
                        name="token_digest_unique",
                        violation_error_code="already_exists",
                        violation_error_message="There is one of this name already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("expires_at__isnull", True), ("expires_at__gt", models.F("created_at")), _connector="OR"
                        ),
                        name="token_expires_after_creation",
                        violation_error_code="in_the_past",
                        violation_error_message="A token must expire after it was made.",
                    ),
                ],
            },
        ),
    ]
