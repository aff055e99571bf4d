from typing import Literal

ScheduleBatchResponse200PlanObjective = Literal["bill"]

SCHEDULE_BATCH_RESPONSE_200_PLAN_OBJECTIVE_VALUES: set[ScheduleBatchResponse200PlanObjective] = {
    "bill",
}


def check_schedule_batch_response_200_plan_objective(value: str) -> ScheduleBatchResponse200PlanObjective:
    if value in SCHEDULE_BATCH_RESPONSE_200_PLAN_OBJECTIVE_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SCHEDULE_BATCH_RESPONSE_200_PLAN_OBJECTIVE_VALUES!r}"
    )
