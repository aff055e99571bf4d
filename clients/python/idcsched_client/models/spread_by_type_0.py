from typing import Literal

SpreadByType0 = Literal["idc", "provider", "region"]

SPREAD_BY_TYPE_0_VALUES: set[SpreadByType0] = {
    "idc",
    "provider",
    "region",
}


def check_spread_by_type_0(value: str) -> SpreadByType0:
    if value in SPREAD_BY_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SPREAD_BY_TYPE_0_VALUES!r}")
