from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.schedule_batch_response_200_result import (
    ScheduleBatchResponse200Result,
    check_schedule_batch_response_200_result,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.schedule_batch_response_200_plan import ScheduleBatchResponse200Plan
    from ..models.schedule_batch_response_200_results_item import ScheduleBatchResponse200ResultsItem


T = TypeVar("T", bound="ScheduleBatchResponse200")


@_attrs_define
class ScheduleBatchResponse200:
    """In the order of the requests: what `schedule/` would have answered, with its `status`.

    Attributes:
        result (ScheduleBatchResponse200Result):
        results (list[ScheduleBatchResponse200ResultsItem]):
        plan (ScheduleBatchResponse200Plan | Unset): With the objective `bill`: what the requests add to the bills of
            all lines per month, assigned together and one after the other.
    """

    result: ScheduleBatchResponse200Result
    results: list[ScheduleBatchResponse200ResultsItem]
    plan: ScheduleBatchResponse200Plan | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        result: str = self.result

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        plan: dict[str, Any] | Unset = UNSET
        if not isinstance(self.plan, Unset):
            plan = self.plan.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "result": result,
                "results": results,
            }
        )
        if plan is not UNSET:
            field_dict["plan"] = plan

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.schedule_batch_response_200_plan import ScheduleBatchResponse200Plan
        from ..models.schedule_batch_response_200_results_item import ScheduleBatchResponse200ResultsItem

        d = dict(src_dict)
        result = check_schedule_batch_response_200_result(d.pop("result"))

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = ScheduleBatchResponse200ResultsItem.from_dict(results_item_data)

            results.append(results_item)

        _plan = d.pop("plan", UNSET)
        plan: ScheduleBatchResponse200Plan | Unset
        if isinstance(_plan, Unset):
            plan = UNSET
        else:
            plan = ScheduleBatchResponse200Plan.from_dict(_plan)

        schedule_batch_response_200 = cls(
            result=result,
            results=results,
            plan=plan,
        )

        schedule_batch_response_200.additional_properties = d
        return schedule_batch_response_200

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
