from typing import Literal

HypotheticalTaintEffect = Literal["NoExecute", "NoSchedule", "PreferNoSchedule"]

HYPOTHETICAL_TAINT_EFFECT_VALUES: set[HypotheticalTaintEffect] = {
    "NoExecute",
    "NoSchedule",
    "PreferNoSchedule",
}


def check_hypothetical_taint_effect(value: str) -> HypotheticalTaintEffect:
    if value in HYPOTHETICAL_TAINT_EFFECT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {HYPOTHETICAL_TAINT_EFFECT_VALUES!r}")
