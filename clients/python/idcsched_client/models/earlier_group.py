from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rejected_count import RejectedCount


T = TypeVar("T", bound="EarlierGroup")


@_attrs_define
class EarlierGroup:
    """
    Attributes:
        index (int):
        rejected_counts (list[RejectedCount]):
    """

    index: int
    rejected_counts: list[RejectedCount]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index = self.index

        rejected_counts = []
        for rejected_counts_item_data in self.rejected_counts:
            rejected_counts_item = rejected_counts_item_data.to_dict()
            rejected_counts.append(rejected_counts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "rejected_counts": rejected_counts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rejected_count import RejectedCount

        d = dict(src_dict)
        index = d.pop("index")

        rejected_counts = []
        _rejected_counts = d.pop("rejected_counts")
        for rejected_counts_item_data in _rejected_counts:
            rejected_counts_item = RejectedCount.from_dict(rejected_counts_item_data)

            rejected_counts.append(rejected_counts_item)

        earlier_group = cls(
            index=index,
            rejected_counts=rejected_counts,
        )

        earlier_group.additional_properties = d
        return earlier_group

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
