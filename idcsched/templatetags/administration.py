"""Figures as the admin's pages show them."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.timesince import timesince
from django.utils.translation import gettext

from idcsched.language.figures import figure_text

__all__ = ["age", "compact", "entry", "figure", "mbps", "pairs", "pretty"]

register = template.Library()
MINUTE = 60


@register.filter
def mbps(value: float | None) -> str:
    """Whole numbers: nobody orders a tenth of a Mbps."""
    return "?" if value is None else number_format(round(value), use_l10n=True)


@register.filter
def figure(value: float | None) -> str:
    """As many digits as tell something."""
    return "–" if value is None else figure_text(value)


@register.filter
def age(seconds: float) -> str:
    """`12 s`, and from a minute on as people say it."""
    if seconds < MINUTE:
        return gettext("%(count)d s") % {"count": max(seconds, 0)}
    now = timezone.now()
    return timesince(now - timedelta(seconds=seconds), now, depth=1)


@register.filter
def compact(document: Any) -> str:
    """A document on one line."""
    return json.dumps(document, ensure_ascii=False)


@register.filter
def pretty(document: Any) -> str:
    """A document to be read."""
    return json.dumps(document, indent=2, ensure_ascii=False)


@register.filter
def entry(mapping: Mapping[Any, Any], key: Any) -> Any:
    """What a mapping holds under a key."""
    return mapping.get(key, key)


@register.filter
def pairs(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """What `mapping.items` means, also where the mapping has a key of that name."""
    return list(mapping.items())
