"""The data that `load_demo` loads: JSON under `fixtures/`, in the shapes in which the API takes the same objects.

Unlike in the API, a time may be given as so many days after the day of loading, at an hour of the billing zone;
`traffic.json` and `readings.json` describe what the demo's source measures.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.conf import settings

__all__ = ["Document", "article_profile", "demo", "moment", "seed_example"]

Document = Mapping[str, Any]

FIXTURES: Final = settings.BASE_DIR / "fixtures"


@cache
def seed_example() -> Mapping[str, Sequence[Document]]:
    """Read the seed example, by kind of object."""
    example: Mapping[str, Sequence[Document]] = json.loads((FIXTURES / "seed-example.json").read_text(encoding="utf-8"))
    return example


@cache
def article_profile() -> Document:
    """Read the profile that the demo's past orders were decided by, and that other profiles are compared with."""
    profile: Document = json.loads((FIXTURES / "article-profile.json").read_text(encoding="utf-8"))
    return profile


@cache
def demo(kind: str) -> Sequence[Document]:
    """Read one kind of the demo's objects: `isps regions idcs metrics taints affinities providers
    shapes`, or `traffic readings`."""
    documents: Sequence[Document] = json.loads((FIXTURES / "demo" / f"{kind}.json").read_text(encoding="utf-8"))
    return documents


def moment(relative: Document | None, now: datetime) -> datetime | None:
    """Convert `{"days": 7, "at": "01:00"}` to a time: that many days after today, by the clock of the billing zone."""
    if relative is None:
        return None
    zone = ZoneInfo(settings.BILLING_ZONE)
    day = now.astimezone(zone).date() + timedelta(days=relative["days"])
    return datetime.combine(day, time.fromisoformat(relative["at"]), zone)
