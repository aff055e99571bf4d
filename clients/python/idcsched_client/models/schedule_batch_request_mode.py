from typing import Literal

ScheduleBatchRequestMode = Literal["gang", "independent"]

SCHEDULE_BATCH_REQUEST_MODE_VALUES: set[ScheduleBatchRequestMode] = {
    "gang",
    "independent",
}


def check_schedule_batch_request_mode(value: str) -> ScheduleBatchRequestMode:
    if value in SCHEDULE_BATCH_REQUEST_MODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_BATCH_REQUEST_MODE_VALUES!r}")
