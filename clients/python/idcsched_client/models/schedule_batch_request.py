from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.schedule_batch_request_mode import ScheduleBatchRequestMode, check_schedule_batch_request_mode
from ..models.schedule_batch_request_objective import (
    ScheduleBatchRequestObjective,
    check_schedule_batch_request_objective,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.request import Request


T = TypeVar("T", bound="ScheduleBatchRequest")


@_attrs_define
class ScheduleBatchRequest:
    """`independent`: each request in order, given what the requests before it left; `gang`: all of them or none.

    With the objective `score` each request goes where it scores best; with `bill` all of them are assigned together,
    for the smallest bill.

        Attributes:
            requests (list[Request]):
            mode (ScheduleBatchRequestMode | Unset):  Default: 'independent'.
            objective (ScheduleBatchRequestObjective | Unset):  Default: 'score'.
    """

    requests: list[Request]
    mode: ScheduleBatchRequestMode | Unset = "independent"
    objective: ScheduleBatchRequestObjective | Unset = "score"

    def to_dict(self) -> dict[str, Any]:
        requests = []
        for requests_item_data in self.requests:
            requests_item = requests_item_data.to_dict()
            requests.append(requests_item)

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "requests": requests,
            }
        )
        if mode is not UNSET:
            field_dict["mode"] = mode
        if objective is not UNSET:
            field_dict["objective"] = objective

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.request import Request

        d = dict(src_dict)
        requests = []
        _requests = d.pop("requests")
        for requests_item_data in _requests:
            requests_item = Request.from_dict(requests_item_data)

            requests.append(requests_item)

        _mode = d.pop("mode", UNSET)
        mode: ScheduleBatchRequestMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_schedule_batch_request_mode(_mode)

        _objective = d.pop("objective", UNSET)
        objective: ScheduleBatchRequestObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_schedule_batch_request_objective(_objective)

        schedule_batch_request = cls(
            requests=requests,
            mode=mode,
            objective=objective,
        )

        return schedule_batch_request
