from typing import Literal

ScheduleBatchResponse200PlanStatus = Literal["nothing_found", "optimal", "time_limit"]

SCHEDULE_BATCH_RESPONSE_200_PLAN_STATUS_VALUES: set[ScheduleBatchResponse200PlanStatus] = {
    "nothing_found",
    "optimal",
    "time_limit",
}


def check_schedule_batch_response_200_plan_status(value: str) -> ScheduleBatchResponse200PlanStatus:
    if value in SCHEDULE_BATCH_RESPONSE_200_PLAN_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SCHEDULE_BATCH_RESPONSE_200_PLAN_STATUS_VALUES!r}")
