"""A decision's scores show measured and configured values exactly as they were given."""

from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from idcsched.inventory.models import Line
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import history_store, rollups_refresh
from tests.api.conftest import Api

MEASURED = 786.721
"""A decimal that float32 does not hold exactly: the nearest that it holds is 786.7210083007812."""


@pytest.fixture
def line(seed: Api) -> str:
    """The code of IDC a's only line, which has a price."""
    seed.post("/isps/", {"code": "ct"}, status=201)
    line = {"isp": "ct", "purchased_mbps": 1000, "max_level": 1.0, "price_per_mbps": 20}
    seed.call("PATCH", "/idcs/a/", {"lines": [line]}, status=200)
    return "ct"


def scores(api: Api, entry: dict[str, Any], **asked: Any) -> Any:
    """The score of IDC a under a profile with one scorer."""
    code = f"only-{entry['name']}"
    api.post("/profiles/", {"code": code, "plugins": [entry]}, status=201)
    return api.schedule(profile=code, only=["a"], **asked)["candidates"][0]["scores"][entry["name"]]


def test_a_measured_value_is_told_as_it_was_measured(seed: Api, line: str) -> None:
    seed.post("/metrics/", {"code": "loss", "scope": "line", "direction": "lower", "low": 0, "high": 1000}, status=201)
    seed.post("/samples/", [{"idc": "a", "line": line, "metric": "loss", "value": MEASURED}], status=200)
    entry = {"name": "loss", "plugin": "metric", "weight": 1, "args": {"metric": "loss"}}
    assert scores(seed, entry, isp="ct")["raw"] == MEASURED
    values = seed.get("/idcs/a/state/")["values"]
    assert [value["value"] for value in values if value["metric"] == "loss"] == [MEASURED]


def test_a_percentile_is_told_as_its_samples_were_measured(seed: Api, line: str) -> None:
    """A line's history is kept as float32; its percentile is still shown as the decimal that was measured."""
    metric, measured, now = Metric.objects.get(code="bandwidth_mbps"), Line.objects.get(idc__code="a"), timezone.now()
    values = np.full(288, MEASURED, dtype=np.float32)
    start = slot_floor(now) - (len(values) - 1) * SLOT
    history_store(metric=metric, idc=measured.idc, line=measured, start=start, values=values)
    rollups_refresh(now=now)
    sample = {"idc": "a", "line": line, "metric": "bandwidth_mbps", "value": MEASURED, "at": now.isoformat()}
    assert seed.post("/samples/", [sample], status=200) == {"accepted": 1}
    (state,) = seed.get("/idcs/a/state/")["lines"]
    assert [state[each] for each in ("percentile_mbps", "latest_mbps", "used_mbps")] == [MEASURED] * 3


@pytest.mark.parametrize("dearest", [40.0, 60.0])
def test_the_dearest_price_of_the_installation_is_the_range_of_the_bill(
    seed: Api, line: str, settings: Any, dearest: float
) -> None:
    settings.DEAREST_PRICE = dearest
    seed.post("/samples/", [{"idc": "a", "line": line, "metric": "bandwidth_mbps", "value": 0}], status=200)
    entry = {"name": "bill", "plugin": "billing_cost", "weight": 1}
    bill = scores(seed, entry, machines=[{"count": 1, "bandwidth_mbps": 100}])
    assert bill["range"] == [0.0, dearest]
    assert bill["normalized"] == pytest.approx(100 * (1 - bill["raw"] / dearest), abs=1e-5)
