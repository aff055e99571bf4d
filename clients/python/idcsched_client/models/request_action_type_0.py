from typing import Literal

RequestActionType0 = Literal["provision", "recommend", "reserve"]

REQUEST_ACTION_TYPE_0_VALUES: set[RequestActionType0] = {
    "provision",
    "recommend",
    "reserve",
}


def check_request_action_type_0(value: str) -> RequestActionType0:
    if value in REQUEST_ACTION_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REQUEST_ACTION_TYPE_0_VALUES!r}")
