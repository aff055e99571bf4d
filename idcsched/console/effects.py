"""The effects of taints, worded alike on all pages: in words, and with the code by which the API knows them."""

from collections.abc import Sequence

from idcsched.framework.messages import _
from idcsched.inventory.choices import Effect
from idcsched.language.wording import say

__all__ = ["effect_choices", "effect_words"]

WORDS_AND_CODE = _("{words} ({code})")


def effect_words(effect: str) -> str:
    """Return an effect in words; its code where there are none."""
    return str(Effect(effect).label) if effect in Effect.values else effect


def effect_choices() -> Sequence[tuple[str, str]]:
    """Return the choices of a form's field, each in words and with its code."""
    return [(effect, say(WORDS_AND_CODE, {"words": effect_words(effect), "code": effect})) for effect in Effect.values]
