"""The template filters of the admin's pages."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext

from idcsched.language.figures import figure_text

__all__ = ["age", "compact", "entry", "figure", "mbps", "pairs", "pretty", "whole"]

register = template.Library()
MINUTE = 60


@register.filter
def mbps(value: float | None) -> str:
    """Format Mbps as a whole number, `?` where it is unknown; nobody orders a tenth of a Mbps."""
    return "?" if value is None else whole(value)


@register.filter
def whole(value: float) -> str:
    """Format a number without decimals, its thousands apart: `12,164`."""
    return f"{round(value):,}"


@register.filter
def figure(value: float | None) -> str:
    """Format a number without an exponent or needless digits."""
    return "–" if value is None else figure_text(value)


@register.filter
def age(seconds: float) -> str:
    """Format an age: `12 s`, and from a minute on in words."""
    if seconds < MINUTE:
        return gettext("%(count)d s") % {"count": max(seconds, 0)}
    now = timezone.now()
    return timesince(now - timedelta(seconds=seconds), now, depth=1)


@register.filter
def compact(document: Any) -> str:
    """Format a document as JSON on one line."""
    return json.dumps(document, ensure_ascii=False)


@register.filter
def pretty(document: Any) -> str:
    """Format a document as indented JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False)


@register.filter
def entry(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Return the value under a key, or the key itself where the mapping lacks it."""
    return mapping.get(key, key)


@register.filter
def pairs(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the mapping's pairs; in a template, `mapping.items` would be the value under a key `items`."""
    return list(mapping.items())
