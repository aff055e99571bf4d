"""The template tags of the console's parts."""

import re

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

__all__ = ["gbps", "half", "icon", "millions"]

register = template.Library()
BOTH = re.compile(r"(?P<zh>[^A-Za-z]*[\u4e00-\u9fff][^A-Za-z]*?)\s+(?P<en>[A-Za-z].*)")
"""A name in two languages, the Chinese one first: 东莞松山湖 Dongguan Songshan Lake."""


@register.filter
def half(name: str) -> str:
    """Return the reader's half of a name in two languages; any other name as it is."""
    both = BOTH.fullmatch(name)
    return name if both is None else both["zh" if (get_language() or "").startswith("zh") else "en"]


@register.filter
def gbps(mbps: float) -> str:
    """Format Mbps as Gbps, with a decimal below a hundred: `61.1`."""
    value = mbps / 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"  # noqa: PLR2004 - a hundred, as said above


@register.filter
def millions(amount: float) -> str:
    """Format an amount of money in millions: `16.25`."""
    return f"{amount / 1e6:,.2f}"


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """Return an icon of `icons.svg` as decoration: the text beside it, or the button's label, says what it means."""
    file = static("console/vendor/icons.svg")
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="{}#i-{}"></use></svg>', css, file, name)
