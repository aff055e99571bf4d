"""The data that `load_demo` loads: JSON under `fixtures/`, in the shapes in which the API takes the same objects.

Two things are the demo's own: a moment may be given as so many days after the day of loading, at a time of
the billing zone, and `traffic.json` and `readings.json` describe what the demo's source measures.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.conf import settings

__all__ = ["Document", "demo", "moment", "seed_example"]

Document = Mapping[str, Any]

FIXTURES: Final = settings.BASE_DIR / "fixtures"


@cache
def seed_example() -> Mapping[str, Sequence[Document]]:
    """The example of the scheduling rules, by kind of object."""
    found: Mapping[str, Sequence[Document]] = json.loads((FIXTURES / "seed-example.json").read_text(encoding="utf-8"))
    return found


@cache
def demo(kind: str) -> Sequence[Document]:
    """One kind of the demo's objects: `isps regions idcs metrics taints affinities providers`,
    or `traffic readings`."""
    found: Sequence[Document] = json.loads((FIXTURES / "demo" / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def moment(said: Document | None, now: datetime) -> datetime | None:
    """`{"days": 7, "at": "01:00"}` as a time: that many days after today, by the clock of the billing zone."""
    if said is None:
        return None
    zone = ZoneInfo(settings.BILLING_ZONE)
    day = now.astimezone(zone).date() + timedelta(days=said["days"])
    return datetime.combine(day, time.fromisoformat(said["at"]), zone)
