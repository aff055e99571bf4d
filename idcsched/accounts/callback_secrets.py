"""With what callbacks are signed: a secret per tenant, in the form that Standard Webhooks gives it.

It is derived from the installation's SECRET_KEY and kept nowhere, so that none can be stolen from the database.
"""

from base64 import b64encode
from datetime import datetime, timedelta

from django.utils.crypto import salted_hmac

from .models import Tenant

__all__ = ["OVERLAP", "callback_secret", "callback_secret_text", "secrets_in_force"]

OVERLAP = timedelta(hours=24)
"""So long the secret before goes on beside a new one."""
SALT = "idcsched.accounts.callback_secrets"
PREFIX = "whsec_"


def callback_secret(tenant: Tenant, version: int) -> bytes:
    """The tenant's secret of that number."""
    return salted_hmac(SALT, f"{tenant.pk}:{version}", algorithm="sha256").digest()


def callback_secret_text(tenant: Tenant) -> str:
    """The newest, as receivers are given it."""
    return PREFIX + b64encode(callback_secret(tenant, tenant.callback_secret_version)).decode("ascii")


def secrets_in_force(tenant: Tenant, now: datetime) -> list[bytes]:
    """The newest, and for a day the one that it replaced."""
    version, made_at = tenant.callback_secret_version, tenant.callback_secret_at
    overlaps = version > 1 and made_at is not None and now < made_at + OVERLAP
    return [callback_secret(tenant, each) for each in ((version, version - 1) if overlaps else (version,))]
