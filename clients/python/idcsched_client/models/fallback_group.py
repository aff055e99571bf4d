from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.earlier_group import EarlierGroup


T = TypeVar("T", bound="FallbackGroup")


@_attrs_define
class FallbackGroup:
    """The group that won (null: none did) and why the ones before it were empty.

    Attributes:
        index (int | None):
        earlier (list[EarlierGroup]):
    """

    index: int | None
    earlier: list[EarlierGroup]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        index: int | None
        index = self.index

        earlier = []
        for earlier_item_data in self.earlier:
            earlier_item = earlier_item_data.to_dict()
            earlier.append(earlier_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "index": index,
                "earlier": earlier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.earlier_group import EarlierGroup

        d = dict(src_dict)

        def _parse_index(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        index = _parse_index(d.pop("index"))

        earlier = []
        _earlier = d.pop("earlier")
        for earlier_item_data in _earlier:
            earlier_item = EarlierGroup.from_dict(earlier_item_data)

            earlier.append(earlier_item)

        fallback_group = cls(
            index=index,
            earlier=earlier,
        )

        fallback_group.additional_properties = d
        return fallback_group

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
