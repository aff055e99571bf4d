from typing import Literal

IgnoredTaintEffectType0 = Literal["NoExecute", "NoSchedule", "PreferNoSchedule"]

IGNORED_TAINT_EFFECT_TYPE_0_VALUES: set[IgnoredTaintEffectType0] = {
    "NoExecute",
    "NoSchedule",
    "PreferNoSchedule",
}


def check_ignored_taint_effect_type_0(value: str) -> IgnoredTaintEffectType0:
    if value in IGNORED_TAINT_EFFECT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {IGNORED_TAINT_EFFECT_TYPE_0_VALUES!r}")
