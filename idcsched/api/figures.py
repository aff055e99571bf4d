"""Round the figures of an answer as a person would, once, where they leave; what is kept and decided with is exact."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

__all__ = ["rounded_figures"]

MBPS = 3
DECIMALS = {"amount": 2, "low_amount": 2, "high_amount": 2, "coverage": 6}
"""Decimals by the name of the field; bandwidth and what is counted of it have MBPS."""


def rounded_figures(document: Any, name: str = "") -> Any:
    """Return the document with each of its numbers rounded to the decimals of its field."""
    if isinstance(document, dict):
        return {key: rounded_figures(value, key) for key, value in document.items()}
    if isinstance(document, list):
        return [rounded_figures(value, name) for value in document]
    if isinstance(document, float):
        step = Decimal(1).scaleb(-DECIMALS.get(name, MBPS))
        return float(Decimal(repr(document)).quantize(step, ROUND_HALF_UP))
    return document
