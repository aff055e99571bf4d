from typing import Literal

RequestTierType0 = Literal["center", "edge"]

REQUEST_TIER_TYPE_0_VALUES: set[RequestTierType0] = {
    "center",
    "edge",
}


def check_request_tier_type_0(value: str) -> RequestTierType0:
    if value in REQUEST_TIER_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_TIER_TYPE_0_VALUES!r}")
