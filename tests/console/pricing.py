"""Lines with a price and a month of traffic, so that what an order adds to their bills is known."""

from collections.abc import Mapping

import numpy as np
from django.utils import timezone

from idcsched.inventory.models import Line
from idcsched.inventory.services import line_update
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, slot_floor
from metrics_ingest.services import history_store, rollups_refresh

__all__ = ["lines_priced"]

DAYS = 32
MBPS = 50.0


def lines_priced(prices: Mapping[str, float]) -> None:
    """Give the one line of each IDC its price per Mbps, and the traffic of the month up to ten minutes ago.

    What was measured since then, and decides how much room there is, stays the latest.
    """
    now, metric = timezone.now(), Metric.objects.get(code="bandwidth_mbps")
    slots = DAYS * SLOTS_A_DAY
    for code, price in prices.items():
        line = Line.objects.get(idc__code=code)
        line_update(line=line, changes={"price_per_mbps": price})
        history_store(
            metric=metric,
            idc=line.idc,
            line=line,
            start=slot_floor(now) - (slots + 1) * SLOT,
            values=np.full(slots, MBPS, dtype=np.float32),
        )
    rollups_refresh(now=now)
