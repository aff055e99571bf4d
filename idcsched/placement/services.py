"""Every write of this room."""

from .batching import batch_answer, gang_place
from .committing import placement_commit
from .delivering import callbacks_announce, deliveries_prune, delivery_resend, placement_deliver
from .moving import placement_confirm, placement_release, placements_expire
from .ordering import placement_order
from .provider_rows import provider_create, provider_delete, provider_update
from .waiting import waiting_try

__all__ = [
    "batch_answer",
    "callbacks_announce",
    "deliveries_prune",
    "delivery_resend",
    "gang_place",
    "placement_commit",
    "placement_confirm",
    "placement_deliver",
    "placement_order",
    "placement_release",
    "placements_expire",
    "provider_create",
    "provider_delete",
    "provider_update",
    "waiting_try",
]
