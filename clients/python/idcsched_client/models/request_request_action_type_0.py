from typing import Literal

RequestRequestActionType0 = Literal["provision", "recommend", "reserve"]

REQUEST_REQUEST_ACTION_TYPE_0_VALUES: set[RequestRequestActionType0] = {
    "provision",
    "recommend",
    "reserve",
}


def check_request_request_action_type_0(value: str) -> RequestRequestActionType0:
    if value in REQUEST_REQUEST_ACTION_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_REQUEST_ACTION_TYPE_0_VALUES!r}")
