from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.line_use import LineUse


T = TypeVar("T", bound="IdcShare")


@_attrs_define
class IdcShare:
    """One of the IDCs that the machines are spread over.

    Attributes:
        idc (str):
        lines (list[LineUse]):
        machine_count (int):
        score (float):
    """

    idc: str
    lines: list[LineUse]
    machine_count: int
    score: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        machine_count = self.machine_count

        score = self.score

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idc": idc,
                "lines": lines,
                "machine_count": machine_count,
                "score": score,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.line_use import LineUse

        d = dict(src_dict)
        idc = d.pop("idc")

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LineUse.from_dict(lines_item_data)

            lines.append(lines_item)

        machine_count = d.pop("machine_count")

        score = d.pop("score")

        idc_share = cls(
            idc=idc,
            lines=lines,
            machine_count=machine_count,
            score=score,
        )

        idc_share.additional_properties = d
        return idc_share

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
