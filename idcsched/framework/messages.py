"""The texts that people read: written in English, marked with `_`, and translated when they are shown."""

from typing import NewType

__all__ = ["Message", "_"]

Message = NewType("Message", str)
"""A text with `{name}` fields that the translations hold. `_` makes one: so mypy refuses a text without the mark."""


def _(text: str) -> Message:
    """Mark a text, still in English, for `manage.py makemessages`."""
    return Message(text)
