"""Texts that a spreadsheet would run as a formula, made harmless, and read back as they were.

An apostrophe goes before whatever could start a formula: at the start of the cell, and behind a separator or a new
line, where a spreadsheet that splits differently would start another cell. Reading takes one apostrophe from each
such place, so that what was written comes back unchanged, those that have an apostrophe of their own included.
"""

import re

__all__ = ["made_harmless", "taken_back"]

STARTERS = "=+@＝＋＠－\\-"
PLACE = r"(^|[;\t\r\n])([ \t\r\n]*)"
DANGEROUS = re.compile(rf"{PLACE}('*[{STARTERS}])")
ESCAPED = re.compile(rf"{PLACE}'('*[{STARTERS}])")


def made_harmless(text: str) -> str:
    """The text as it may stand in a spreadsheet's cell."""
    return DANGEROUS.sub(r"\1\2'\3", text)


def taken_back(text: str) -> str:
    """The text that was made harmless."""
    return ESCAPED.sub(r"\1\2\3", text)
