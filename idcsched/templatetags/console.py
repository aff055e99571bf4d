"""The template tags of the console's parts."""

from datetime import datetime

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext

from idcsched.console.effects import effect_words
from idcsched.console.order_words import name_shown
from metrics_ingest.builtin import metric_title

__all__ = ["age_in_days", "gbps", "icon", "millions"]

register = template.Library()
register.filter("half", name_shown)
register.filter("effect_words", effect_words)


@register.filter("metric_title")
def title_of_metric(code: str, name: str) -> str:
    """Return the metric's name for the reader: one in two languages by its half."""
    return name_shown(metric_title(code, name))


@register.filter
def gbps(mbps: float) -> str:
    """Format Mbps as Gbps, with a decimal below a hundred: `61.1`."""
    value = mbps / 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"  # noqa: PLR2004 - a hundred, as said above


@register.filter
def millions(amount: float) -> str:
    """Format an amount of money in millions, `16.25`; in Chinese in units of ten thousand, `1,625`."""
    in_chinese = (get_language() or "").startswith("zh")
    return f"{amount / 1e4:,.0f}" if in_chinese else f"{amount / 1e6:,.2f}"


@register.filter
def age_in_days(moment: datetime) -> str:
    """Format how long ago it was in whole days: `13 days`."""
    days = max((timezone.now() - moment).days, 0)
    return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """Return an icon of `icons.svg` as decoration: the text beside it, or the button's label, says what it means."""
    file = static("console/vendor/icons.svg")
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="{}#i-{}"></use></svg>', css, file, name)
