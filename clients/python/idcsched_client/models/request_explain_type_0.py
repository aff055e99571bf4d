from typing import Literal

RequestExplainType0 = Literal["full", "none", "summary"]

REQUEST_EXPLAIN_TYPE_0_VALUES: set[RequestExplainType0] = {
    "full",
    "none",
    "summary",
}


def check_request_explain_type_0(value: str) -> RequestExplainType0:
    if value in REQUEST_EXPLAIN_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_EXPLAIN_TYPE_0_VALUES!r}")
