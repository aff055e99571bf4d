from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.core.validators import MinLengthValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.audit.models import Recorded
from idcsched.db.deleting import protect_by
from idcsched.db.fields import AmountField, CodeField, DocumentField, between, one_of, unique
from idcsched.feed.models import Topic

from .hosts import host_shaped, network_shaped
from .roles import Role

__all__ = ["ApiToken", "IdempotencyKey", "Tenant", "User"]


MAX_ENTRIES = 100


def host_list(value: Any) -> None:
    """Validate a JSON list of host names or addresses."""
    if not isinstance(value, list) or len(value) > MAX_ENTRIES or not all(host_shaped(item) for item in value):
        raise ValidationError(_("This must be a list of host names or addresses."), code="invalid_host")


def network_list(value: Any) -> None:
    """Validate a JSON list of networks in CIDR notation."""
    if not isinstance(value, list) or len(value) > MAX_ENTRIES or not all(network_shaped(item) for item in value):
        raise ValidationError(_("This must be a list of networks such as 10.0.0.0/8."), code="invalid_network")


class Tenant(Recorded):
    """A tenant, on whose behalf machines are ordered."""

    audit_kind = "tenant"
    feed_topic = Topic.TOKENS
    confidential = True
    unrecorded = frozenset({"callback_secret_at"})

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    default_profile = CodeField(
        _("default profile"), blank=True, help_text=_("Code of a profile; empty: the installation's default.")
    )
    callback_hosts = DocumentField(
        _("callback hosts"),
        default=list,
        blank=True,
        validators=[host_list],
        help_text=_("Hosts to which callbacks may be sent."),
    )
    callback_secret_version = models.PositiveIntegerField(_("callback secret no."), default=0, editable=False)
    callback_secret_at = models.DateTimeField(_("callback secret made"), null=True, blank=True, editable=False)
    quota_bandwidth_mbps = AmountField(_("bandwidth quota (Mbps)"), null=True, blank=True)
    quota_machines = models.PositiveIntegerField(_("machine quota"), null=True, blank=True)

    class Meta:
        verbose_name = _("tenant")
        verbose_name_plural = _("tenants")
        ordering = ["code"]
        constraints = [
            unique("code", name="tenant_code_unique"),
            between("quota_bandwidth_mbps", 0, name="tenant_quota_bandwidth_range"),
        ]

    def __str__(self) -> str:
        return self.name or self.code


class UserAccounts(UserManager["User"]):
    """User manager that gives a superuser made by Django's command the role of an administrator."""

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **extra_fields: Any
    ) -> "User":
        return super().create_superuser(username, email, password, **{"role": Role.ADMIN, **extra_fields})


class User(AbstractUser, Recorded):
    """A person or portal. The role says what it may do, the tenant for whom, the region scopes where.

    Django's groups and permissions are unused.
    """

    audit_kind = "user"
    feed_topic = Topic.TOKENS
    confidential = True
    unrecorded = frozenset({"password", "last_login", "date_joined", "is_staff", "is_superuser"})

    role = models.CharField(_("role"), max_length=10, choices=Role.choices, default=Role.VIEWER)
    tenant = models.ForeignKey(
        Tenant,
        models.PROTECT,
        verbose_name=_("tenant"),
        null=True,
        blank=True,
        related_name="users",
        help_text=_("Empty: all tenants."),
    )
    language = models.CharField(
        _("language"), max_length=10, blank=True, help_text=_("Empty: what the browser asks for.")
    )
    oidc_subject = models.CharField(
        _("OpenID subject"),
        max_length=255,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text=_("Who the user is at the OpenID provider; empty: nobody there."),
    )

    objects: ClassVar[UserAccounts] = UserAccounts()

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        ordering = ["username"]
        constraints = [
            one_of("role", Role, name="user_role_known"),
            unique("oidc_subject", name="user_oidc_subject_unique", where=~Q(oidc_subject="")),
        ]

    @property
    def audit_key(self) -> str:
        return self.username

    @property
    def needs_second_factor(self) -> bool:
        """Whether a password alone does not sign the user in."""
        wanted = settings.SECOND_FACTOR
        return wanted == "everybody" or (wanted == "administrators" and self.role == Role.ADMIN)

    def get_session_auth_hash(self) -> str:
        """Return what a session must hold to go on: one from before a second factor was needed ends."""
        return super().get_session_auth_hash() + ("+" if self.needs_second_factor else "")


def tokens_in_force_protect(collector: Any, field: Any, rows: models.QuerySet[Any], using: str) -> None:
    """Refuse to delete a tenant with tokens in force; those that have ended are deleted with the tenant."""
    not_expired = Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())
    protect_by(Q(revoked_at__isnull=True) & not_expired, collector, field, rows, using)


class ApiToken(Recorded):
    """A secret by which a program authenticates. Only its digest is kept; its text is shown once, when it is made."""

    audit_kind = "token"
    feed_topic = Topic.TOKENS
    confidential = True
    unrecorded = frozenset({"digest", "last_used_at"})

    user = models.ForeignKey(User, models.CASCADE, verbose_name=_("user"), related_name="api_tokens")
    tenant = models.ForeignKey(
        Tenant,
        tokens_in_force_protect,
        verbose_name=_("tenant"),
        null=True,
        blank=True,
        related_name="api_tokens",
        help_text=_("The tenant for which it acts; empty: the user's."),
    )
    name = models.CharField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=8, editable=False)
    digest = models.CharField(_("digest"), max_length=64, editable=False, validators=[MinLengthValidator(64)])
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    read_only = models.BooleanField(_("read-only"), default=False)
    allowed_networks = DocumentField(
        _("allowed networks"),
        default=list,
        blank=True,
        validators=[network_list],
        help_text=_("Networks from which it may be used, such as 10.0.0.0/8; none: from everywhere."),
    )
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    rotated_at = models.DateTimeField(
        _("rotated"), null=True, blank=True, editable=False, help_text=_("When another token took its place.")
    )

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-id"]
        constraints = [
            unique("digest", name="token_digest_unique"),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=models.F("created_at")),
                name="token_expires_after_creation",
                violation_error_code="in_the_past",
                violation_error_message=_("A token must expire after it was made."),
            ),
        ]
        indexes = [models.Index(fields=["prefix"], name="token_by_prefix")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def allows_address(self, address: str) -> bool:
        """Return whether the token may be used from the address.

        An unparsable address is refused unless `allowed_networks` is empty.
        """
        networks: Iterable[str] = self.allowed_networks
        if not networks:
            return True
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        parsed = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(parsed in ip_network(network) for network in networks)


class IdempotencyKey(models.Model):
    """An `Idempotency-Key` and the answer kept for its request.

    Sent again within a day, the request gets this answer and is not carried out twice. Written by
    `services.idempotency` only.
    """

    user = models.ForeignKey(User, models.CASCADE, verbose_name=_("user"), related_name="idempotency_keys")
    key = models.CharField(_("key"), max_length=255)
    fingerprint = models.CharField(_("fingerprint"), max_length=64, help_text=_("What was asked, as a hash."))
    created_at = models.DateTimeField(_("created"))
    status = models.PositiveSmallIntegerField(_("status"))
    headers = models.JSONField(_("headers"), default=dict)
    body = models.BinaryField(_("body"))

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        constraints = [
            unique("user", "key", name="idempotency_key_unique"),
            models.CheckConstraint(
                condition=Q(status__gte=200, status__lt=500),
                name="idempotency_status_final",
                violation_error_message=_("Only a final answer is kept."),
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return self.key
