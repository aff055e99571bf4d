from typing import Literal

RequestRequestTierType0 = Literal["center", "edge"]

REQUEST_REQUEST_TIER_TYPE_0_VALUES: set[RequestRequestTierType0] = {
    "center",
    "edge",
}


def check_request_request_tier_type_0(value: str) -> RequestRequestTierType0:
    if value in REQUEST_REQUEST_TIER_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_REQUEST_TIER_TYPE_0_VALUES!r}")
