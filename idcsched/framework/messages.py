"""The texts that people read: written in English, marked with `_`, and translated when they are shown."""

from typing import NewType

__all__ = ["Message", "_"]

Message = NewType("Message", str)
"""A text with `{name}` fields that is marked for translation by `_`; mypy refuses a plain `str` in its place."""


def _(text: str) -> Message:
    """Mark a text, still in English, for `manage.py makemessages`."""
    return Message(text)
