"""The field validators of the inventory: labels, aliases, selectors, keys of taints."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.matching import FACT_PREFIX, parse_terms
from idcsched.language.wording import explained

__all__ = ["MAX_LABELS", "alias_list", "label_map", "selector_document", "taint_key"]

MAX_LABELS = 100
MAX_ALIASES = 100
MAX_ALIAS = 63
MAX_KEY = 128
MAX_VALUE = 256


def label_map(value: Any) -> None:
    """Check labels: a JSON object of texts, bounded, without keys that stand for facts."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for pair in value.items() for text in pair):
        raise ValidationError(_("Labels are an object of texts."), code="wrong_type")
    if len(value) > MAX_LABELS:
        raise ValidationError(
            _("There may be at most %(limit)s labels."), code="too_many", params={"limit": MAX_LABELS}
        )
    for key, text in value.items():
        _label(key, text)


def _label(key: str, text: str) -> None:
    if key.startswith(FACT_PREFIX):
        raise ValidationError(
            _("Labels that begin with %(prefix)s stand for facts and can't be set."),
            code="label_reserved",
            params={"prefix": FACT_PREFIX},
        )
    if not 1 <= len(key) <= MAX_KEY or len(text) > MAX_VALUE:
        raise ValidationError(
            _("A label's key has 1 to %(key)s characters, its value up to %(value)s."),
            code="label_length",
            params={"key": MAX_KEY, "value": MAX_VALUE},
        )


def alias_list(value: Any) -> None:
    """Check aliases: a JSON list of different names."""
    if not isinstance(value, list) or not all(isinstance(item, str) and 1 <= len(item) <= MAX_ALIAS for item in value):
        raise ValidationError(_("Aliases are a list of texts of 1 to 63 characters."), code="wrong_type")
    if len(value) > MAX_ALIASES:
        raise ValidationError(
            _("There may be at most %(limit)s aliases."), code="too_many", params={"limit": MAX_ALIASES}
        )
    if len(set(value)) < len(value):
        raise ValidationError(_("An alias stands here twice."), code="alias_twice")


def selector_document(value: Any) -> None:
    """Check a selector: a term or a list of terms (see `framework.matching`)."""
    try:
        parse_terms(value)
    except Invalid as error:
        raise ValidationError([ValidationError(_located(item), code=item.code) for item in error.errors]) from None


def _located(error: FieldError) -> str:
    """Return the error's text, with its pointer into the document."""
    return f"{error.pointer}: {explained(error)}" if error.pointer else explained(error)


def taint_key(value: str) -> None:
    """Check a taint's key: any text that a toleration can name, without blanks at its ends."""
    if value != value.strip() or not value:
        raise ValidationError(_("A key must not begin or end with a blank."), code="invalid_key")
