"""Messages of providers that something has happened to a machine: the machine gets its next turn at once.

The message does not say what has happened: the turn asks the provider, as always. So a message that comes late, twice
or out of order does no harm, and a lost one costs a little time.
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
from idcsched.placement.models import Machine
from idcsched.placement.provider_models import Provider
from idcsched.placement.signing import secret_bytes, signature_fits
from idcsched.placement.start import announce_machines

from .providers import provider_secret

__all__ = ["Outcome", "machine_changed"]


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The token by which the machine was ordered."""

    token: UUID


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A message that something has happened to a machine; other fields of the message are ignored."""

    data: About
    type: str = "machine.changed"


def machine_changed(*, provider: str, headers: Mapping[str, str], content: bytes) -> bool:
    """Make the machine's next turn due now; return whether it was waiting for one.

    Raises Invalid `invalid_signature`, NotFound.
    """
    valid = "\x00" not in provider  # PostgreSQL refuses to compare a text with NUL
    row = Provider.objects.filter(code=provider).exclude(secret_ref="").first() if valid else None
    if not signature_fits(headers, content, _secret(row), timezone.now()) or row is None:
        raise Invalid("invalid_signature", _("the message is not signed by this provider, or was signed too long ago"))
    return _turn_due_now(row.code, decode_json(content, Outcome).data.token)


def _secret(row: Provider | None) -> bytes:
    """Return the provider's secret; for an unknown provider a random one, so that both are refused in the same way."""
    try:
        return token_bytes() if row is None else secret_bytes(provider_secret(row))
    except (Invalid, Unavailable):
        return token_bytes()


@write()
def _turn_due_now(provider: str, token: UUID) -> bool:
    now = timezone.now()
    rows = Machine.objects.filter(pk=token, provider=provider)
    if not rows.exists():
        raise NotFound("not_found", _("there is no such machine"))
    unclaimed = Q(claimed_until__isnull=True) | Q(claimed_until__lte=now)
    updated = rows.filter(unclaimed, next_try_at__isnull=False).update(next_try_at=now)
    if updated:
        announce_machines([token], now)
    return bool(updated)
