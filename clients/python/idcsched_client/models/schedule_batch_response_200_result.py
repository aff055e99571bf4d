from typing import Literal

ScheduleBatchResponse200Result = Literal["all", "none", "some"]

SCHEDULE_BATCH_RESPONSE_200_RESULT_VALUES: set[ScheduleBatchResponse200Result] = {
    "all",
    "none",
    "some",
}


def check_schedule_batch_response_200_result(value: str) -> ScheduleBatchResponse200Result:
    if value in SCHEDULE_BATCH_RESPONSE_200_RESULT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_BATCH_RESPONSE_200_RESULT_VALUES!r}")
