"""The providers that may start machines: those that are enabled, and whose kind of driver can be loaded.

The drivers are in a package above this one, which registers their kinds with `codes_register` when it starts.
"""

from collections.abc import Iterable

from idcsched.accounts.known_codes import codes_offered

from .provider_models import Provider

__all__ = ["providers_usable"]


def providers_usable(codes: Iterable[str]) -> frozenset[str]:
    """Return those of the codes whose providers may start machines."""
    rows = Provider.objects.filter(code__in=list(codes), enabled=True, kind__in=codes_offered("provider_kind"))
    return frozenset(rows.values_list("code", flat=True))
