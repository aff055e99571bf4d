from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.schedule_batch_response_200_plan_objective import (
    ScheduleBatchResponse200PlanObjective,
    check_schedule_batch_response_200_plan_objective,
)
from ..models.schedule_batch_response_200_plan_status import (
    ScheduleBatchResponse200PlanStatus,
    check_schedule_batch_response_200_plan_status,
)

T = TypeVar("T", bound="ScheduleBatchResponse200Plan")


@_attrs_define
class ScheduleBatchResponse200Plan:
    """With the objective `bill`: what the requests add to the bills of all lines per month, assigned together and one
    after the other.

        Attributes:
            objective (ScheduleBatchResponse200PlanObjective):
            status (ScheduleBatchResponse200PlanStatus):
            placed (int):
            greedy_placed (int):
            bill (float):
            bound (float):
            gap (float):
            seconds (float):
            greedy_bill (float):
            currency (str):
            not_as_planned (list[int]):
    """

    objective: ScheduleBatchResponse200PlanObjective
    status: ScheduleBatchResponse200PlanStatus
    placed: int
    greedy_placed: int
    bill: float
    bound: float
    gap: float
    seconds: float
    greedy_bill: float
    currency: str
    not_as_planned: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        objective: str = self.objective

        status: str = self.status

        placed = self.placed

        greedy_placed = self.greedy_placed

        bill = self.bill

        bound = self.bound

        gap = self.gap

        seconds = self.seconds

        greedy_bill = self.greedy_bill

        currency = self.currency

        not_as_planned = self.not_as_planned

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "objective": objective,
                "status": status,
                "placed": placed,
                "greedy_placed": greedy_placed,
                "bill": bill,
                "bound": bound,
                "gap": gap,
                "seconds": seconds,
                "greedy_bill": greedy_bill,
                "currency": currency,
                "not_as_planned": not_as_planned,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        objective = check_schedule_batch_response_200_plan_objective(d.pop("objective"))

        status = check_schedule_batch_response_200_plan_status(d.pop("status"))

        placed = d.pop("placed")

        greedy_placed = d.pop("greedy_placed")

        bill = d.pop("bill")

        bound = d.pop("bound")

        gap = d.pop("gap")

        seconds = d.pop("seconds")

        greedy_bill = d.pop("greedy_bill")

        currency = d.pop("currency")

        not_as_planned = cast(list[int], d.pop("not_as_planned"))

        schedule_batch_response_200_plan = cls(
            objective=objective,
            status=status,
            placed=placed,
            greedy_placed=greedy_placed,
            bill=bill,
            bound=bound,
            gap=gap,
            seconds=seconds,
            greedy_bill=greedy_bill,
            currency=currency,
            not_as_planned=not_as_planned,
        )

        schedule_batch_response_200_plan.additional_properties = d
        return schedule_batch_response_200_plan

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
