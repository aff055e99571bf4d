from typing import Literal

RequestIspMatchType0 = Literal["all", "any"]

REQUEST_ISP_MATCH_TYPE_0_VALUES: set[RequestIspMatchType0] = {
    "all",
    "any",
}


def check_request_isp_match_type_0(value: str) -> RequestIspMatchType0:
    if value in REQUEST_ISP_MATCH_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_ISP_MATCH_TYPE_0_VALUES!r}")
