from typing import Literal

TolerationEffectType1 = Literal[""]

TOLERATION_EFFECT_TYPE_1_VALUES: set[TolerationEffectType1] = {
    "",
}


def check_toleration_effect_type_1(value: str) -> TolerationEffectType1:
    if value in TOLERATION_EFFECT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOLERATION_EFFECT_TYPE_1_VALUES!r}")
