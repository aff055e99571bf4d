"""A provider's own word that something has happened to a machine: it gets its turn at once.

What has happened is not taken from the message: the provider is asked, as always. So one that comes late, twice or
out of order does no harm, and one that is lost costs a little time.
"""

from collections.abc import Mapping
from secrets import token_bytes
from uuid import UUID

import msgspec
from django.db.models import Q
from django.utils import timezone

from idcsched.audit.writing import write
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import Invalid, NotFound, Unavailable
from idcsched.framework.messages import _

from .models import Machine
from .provider_models import Provider
from .provider_rows import provider_secret
from .signing import secret_bytes, signature_fits
from .start import announce_machines

__all__ = ["Outcome", "machine_told"]


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The token by which the machine was ordered."""

    token: UUID


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Something has happened to a machine; whatever else the message says is passed over."""

    data: About
    type: str = "machine.changed"


def machine_told(*, provider: str, headers: Mapping[str, str], content: bytes) -> bool:
    """Whether the machine is looked at now; raises Invalid `invalid_signature`, NotFound for what is not there."""
    named = "\x00" not in provider  # which PostgreSQL would not even compare
    row = Provider.objects.filter(code=provider).exclude(secret_ref="").first() if named else None
    if not signature_fits(headers, content, _secret(row), timezone.now()) or row is None:
        raise Invalid("invalid_signature", _("the message is not signed by this provider, or was signed too long ago"))
    return _looked_at(row.code, decode_json(content, Outcome).data.token)


def _secret(row: Provider | None) -> bytes:
    """The provider's; of one that is not there a random one, so that both are refused in the same way."""
    try:
        return token_bytes() if row is None else secret_bytes(provider_secret(row))
    except (Invalid, Unavailable):
        return token_bytes()


@write()
def _looked_at(provider: str, token: UUID) -> bool:
    now = timezone.now()
    rows = Machine.objects.filter(pk=token, provider=provider)
    if not rows.exists():
        raise NotFound("not_found", _("there is no such machine"))
    unclaimed = Q(claimed_until__isnull=True) | Q(claimed_until__lte=now)
    found = rows.filter(unclaimed, next_try_at__isnull=False).update(next_try_at=now)
    if found:
        announce_machines([token], now)
    return bool(found)
