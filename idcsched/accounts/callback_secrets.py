"""The secrets that sign callbacks: one per tenant, in the format of Standard Webhooks.

Secrets are derived from the installation's SECRET_KEY and stored nowhere, so that none can be stolen from the database.
"""

from base64 import b64encode
from datetime import datetime, timedelta

from django.utils.crypto import salted_hmac

from .models import Tenant

__all__ = ["OVERLAP", "callback_secret", "callback_secret_text", "secrets_in_force"]

OVERLAP = timedelta(hours=24)
"""How long callbacks are signed with the replaced secret as well."""
SALT = "idcsched.accounts.callback_secrets"
PREFIX = "whsec_"


def callback_secret(tenant: Tenant, version: int) -> bytes:
    """Derive the tenant's secret of that version."""
    return salted_hmac(SALT, f"{tenant.pk}:{version}", algorithm="sha256").digest()


def callback_secret_text(tenant: Tenant) -> str:
    """Return the tenant's newest secret in the format that receivers get."""
    return PREFIX + b64encode(callback_secret(tenant, tenant.callback_secret_version)).decode("ascii")


def secrets_in_force(tenant: Tenant, now: datetime) -> list[bytes]:
    """Return the tenant's newest secret and, for a day, the one that it replaced."""
    version, made_at = tenant.callback_secret_version, tenant.callback_secret_at
    overlaps = version > 1 and made_at is not None and now < made_at + OVERLAP
    versions = (version, version - 1) if overlaps else (version,)
    return [callback_secret(tenant, number) for number in versions]
