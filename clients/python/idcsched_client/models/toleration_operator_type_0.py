from typing import Literal

TolerationOperatorType0 = Literal["Equal", "Exists"]

TOLERATION_OPERATOR_TYPE_0_VALUES: set[TolerationOperatorType0] = {
    "Equal",
    "Exists",
}


def check_toleration_operator_type_0(value: str) -> TolerationOperatorType0:
    if value in TOLERATION_OPERATOR_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TOLERATION_OPERATOR_TYPE_0_VALUES!r}")
