"""The public services of this package: all that writes providers, and tends machines."""

from .messages import machine_changed
from .providers import provider_create, provider_delete, provider_update
from .worker import machine_tend, machines_announce

__all__ = [
    "machine_changed",
    "machine_tend",
    "machines_announce",
    "provider_create",
    "provider_delete",
    "provider_update",
]
