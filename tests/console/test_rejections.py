"""Why IDCs did not fit, the nearest miss first, and what each lacks."""

import pytest

from idcsched.console.rejections import nearest_first


def rejected(idc: str, code: str = "not_enough_bandwidth", **detail: float) -> dict[str, object]:
    return {"idc": idc, "plugin": "network_flow", "code": code, "reason": "", "detail": detail, "also": []}


def test_it_works() -> None:
    far, near = rejected("far", need=12_000, short_by=9000), rejected("near", need=12_000, short_by=4204.814)
    draining = rejected("draining", "draining")
    misses = nearest_first([draining, far, near], None)
    assert [(miss.idc, miss.share) for miss in misses] == [("near", "65%"), ("far", "25%"), ("draining", None)]


@pytest.mark.parametrize(
    ("short_by", "lacks"),
    [(4204.814, "4,205 Mbps short"), (9000, "9,000 Mbps short"), (0.03512, "0.0351 Mbps short")],
)
def test_what_is_said_to_lack_is_enough(short_by: float, lacks: str) -> None:
    (miss,) = nearest_first([rejected("a", need=12_000, short_by=short_by)], None)
    assert miss.lacks == lacks


def test_for_what_else_it_does_not_fit_is_said_in_words() -> None:
    """The shipped plugins have words for their reasons; a third party's plugin goes by its name."""
    (miss,) = nearest_first([{**rejected("a"), "also": ["network_flow", "taint", "my_own"]}], None)
    assert miss.also == ["bandwidth", "taints", "my_own"]
