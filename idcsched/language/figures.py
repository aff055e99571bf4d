"""Numbers as people write them."""

from decimal import Decimal

__all__ = ["figure_text"]

THOUSAND = 1000


def figure_text(value: float) -> str:
    """Return a number as `30000`, `786.721`, `0.015`: six digits, or two decimals from a thousand on; no exponent."""
    rounded = round(value, 2) if abs(value) >= THOUSAND else float(f"{value:.6g}")
    return f"{Decimal(str(rounded)).normalize():f}"
