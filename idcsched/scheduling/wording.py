"""Reasons in the language of the reader: the framework's English templates are the catalogue's message ids."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

__all__ = ["say"]


def say(template: str, params: Mapping[str, Any]) -> str:
    """The sentence, translated, with its numbers."""
    text = gettext(template)
    return text.format_map(params) if params else text
