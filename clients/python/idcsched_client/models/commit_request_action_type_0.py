from typing import Literal

CommitRequestActionType0 = Literal["provision", "reserve"]

COMMIT_REQUEST_ACTION_TYPE_0_VALUES: set[CommitRequestActionType0] = {
    "provision",
    "reserve",
}


def check_commit_request_action_type_0(value: str) -> CommitRequestActionType0:
    if value in COMMIT_REQUEST_ACTION_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COMMIT_REQUEST_ACTION_TYPE_0_VALUES!r}")
