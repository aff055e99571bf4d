from typing import Literal

RequestRequestExplainType0 = Literal["full", "none", "summary"]

REQUEST_REQUEST_EXPLAIN_TYPE_0_VALUES: set[RequestRequestExplainType0] = {
    "full",
    "none",
    "summary",
}


def check_request_request_explain_type_0(value: str) -> RequestRequestExplainType0:
    if value in REQUEST_REQUEST_EXPLAIN_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_REQUEST_EXPLAIN_TYPE_0_VALUES!r}")
