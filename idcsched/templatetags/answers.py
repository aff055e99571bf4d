"""The template tags that show an answer: its sentences and its bars."""

from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from idcsched.console.bars import Bars, Versus, signed_amount
from idcsched.framework.messages import _
from idcsched.scheduling.verdict import Code, Money, Sentence

__all__ = ["cost_bars", "noted", "prose", "signed", "versus_chart"]

register = template.Library()
AND_THEN = _("{text} {sentence}")
NOTE = _("{note}.")


@register.simple_tag
def prose(paragraph: list[Sentence]) -> SafeString:
    """Return the sentences of a paragraph; codes of IDCs and amounts of money stand out."""
    text = SafeString("")
    for sentence in paragraph:
        params = {name: _marked(value) for name, value in sentence.params.items()}
        told = format_html(gettext(sentence.template), **params) if params else escape(str(sentence))
        text = format_html(gettext(AND_THEN), text=text, sentence=told) if text else told
    return text


@register.filter
def noted(text: str) -> SafeString:
    """Return a note of an answer as a sentence of a page: a capital, a full stop, code for backquotes."""
    parts = f"{text[:1].upper()}{text[1:]}".split("`")
    if len(parts) % 2 == 0:
        parts = [f"{text[:1].upper()}{text[1:]}"]  # one of them has no partner
    pieces = (format_html("<code>{}</code>", part) if place % 2 else part for place, part in enumerate(parts))
    return format_html(gettext(NOTE), note=format_html_join("", "{}", ((piece,) for piece in pieces)))


@register.filter
def signed(amount: float) -> str:
    """Format a difference with its sign, which says what its colour says."""
    return signed_amount(amount)


@register.inclusion_tag("console/cost_bars.html")
def cost_bars(bars: Bars, unit: str, caption: Any = "") -> dict[str, Any]:
    """Show a ranking as bars, ten at first, with its axis, its legend and a caption."""
    return {"bars": bars, "unit": unit, "caption": caption}


@register.inclusion_tag("console/versus.html")
def versus_chart(duel: Versus, currency: str) -> dict[str, Any]:
    """Show two candidates side by side, scorer by scorer."""
    return {"versus": duel, "currency": currency}


def _marked(value: Any) -> Any:
    if isinstance(value, Code):
        return format_html("<b>{}</b>", value)
    if isinstance(value, Money):
        return format_html('<span class="money">{}</span>', str(value))
    return value
