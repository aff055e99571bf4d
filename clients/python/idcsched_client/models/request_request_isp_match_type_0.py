from typing import Literal

RequestRequestIspMatchType0 = Literal["all", "any"]

REQUEST_REQUEST_ISP_MATCH_TYPE_0_VALUES: set[RequestRequestIspMatchType0] = {
    "all",
    "any",
}


def check_request_request_isp_match_type_0(value: str) -> RequestRequestIspMatchType0:
    if value in REQUEST_REQUEST_ISP_MATCH_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_REQUEST_ISP_MATCH_TYPE_0_VALUES!r}")
