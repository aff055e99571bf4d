from typing import Literal

ScheduleBatchRequestObjective = Literal["bill", "score"]

SCHEDULE_BATCH_REQUEST_OBJECTIVE_VALUES: set[ScheduleBatchRequestObjective] = {
    "bill",
    "score",
}


def check_schedule_batch_request_objective(value: str) -> ScheduleBatchRequestObjective:
    if value in SCHEDULE_BATCH_REQUEST_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_BATCH_REQUEST_OBJECTIVE_VALUES!r}")
