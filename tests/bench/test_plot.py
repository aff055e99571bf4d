"""Plots are SVG with logarithmic axes."""

from xml.etree import ElementTree as ET

import pytest

from bench.plot import plot

SVG = "{http://www.w3.org/2000/svg}"


def places(drawn: str) -> list[tuple[float, float]]:
    return [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in ET.fromstring(drawn).iter(f"{SVG}circle")]


def test_it_works() -> None:
    drawn = plot("growth", "IDCs", "µs", {"warm": [(10, 1), (100, 10), (1000, 100)]})
    (x1, y1), (x2, y2), (x3, y3) = places(drawn)
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2), "a power of ten is as wide everywhere"
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert y1 > y2 > y3, "more is higher up"
    assert [text.text for text in ET.fromstring(drawn).iter(f"{SVG}text")][:3] == ["1", "10", "100"]


def test_values_that_are_all_the_same_have_a_place() -> None:
    assert len(places(plot("t", "a", "b", {"s": [(10, 5), (100, 5)]}))) == 2


def test_names_are_text_and_no_markup() -> None:
    drawn = plot("<a> & b", "x", "y", {"<s>": [(1, 1), (2, 2)]})
    assert ET.fromstring(drawn).find(f"{SVG}title").text == "<a> & b"  # type: ignore[union-attr]
