"""The public services of this package: all that writes placements and callbacks."""

from .batching import batch_answer, gang_place
from .committing import placement_commit
from .delivering import callbacks_announce, deliveries_prune, delivery_resend, placement_deliver
from .fallback import placement_retry, placement_try_next_idc, placements_reconcile
from .moving import Destination, placement_move
from .ordering import placement_order
from .shape_learning import shapes_learn
from .transitions import (
    placement_confirm,
    placement_give_up,
    placement_provision,
    placement_release,
    placements_expire,
)
from .waiting import waiting_try

__all__ = [
    "Destination",
    "batch_answer",
    "callbacks_announce",
    "deliveries_prune",
    "delivery_resend",
    "gang_place",
    "placement_commit",
    "placement_confirm",
    "placement_deliver",
    "placement_give_up",
    "placement_move",
    "placement_order",
    "placement_provision",
    "placement_release",
    "placement_retry",
    "placement_try_next_idc",
    "placements_expire",
    "placements_reconcile",
    "shapes_learn",
    "waiting_try",
]
