from typing import Literal

TolerationEffectType0 = Literal["NoExecute", "NoSchedule", "PreferNoSchedule"]

TOLERATION_EFFECT_TYPE_0_VALUES: set[TolerationEffectType0] = {
    "NoExecute",
    "NoSchedule",
    "PreferNoSchedule",
}


def check_toleration_effect_type_0(value: str) -> TolerationEffectType0:
    if value in TOLERATION_EFFECT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOLERATION_EFFECT_TYPE_0_VALUES!r}")
