"""Sentences in the language of the reader: English templates are the message ids of the translations."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from idcsched.framework.errors import FieldError, IdcschedError
from idcsched.framework.messages import Message

__all__ = ["explained", "say"]


def say(template: Message, params: Mapping[str, Any] | None) -> str:
    """Return the sentence in the language of the reader, with its parameters."""
    text = gettext(template)
    return text.format_map(params) if params else text


def explained(error: FieldError | IdcschedError) -> str:
    """Return an error's sentence, without its pointer; a field error among its parameters is explained as well."""
    template = error.detail if isinstance(error, FieldError) else error.template
    params = {
        name: explained(value) if isinstance(value, FieldError) else value
        for name, value in (error.params or {}).items()
    }
    return say(template, params)
