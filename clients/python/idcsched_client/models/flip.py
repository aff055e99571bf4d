from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Flip")


@_attrs_define
class Flip:
    """The weight at which the runner-up draws level, all others unchanged; null: none between 0 and 10,000.

    Attributes:
        scorer (str):
        weight (float | None):
    """

    scorer: str
    weight: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        scorer = self.scorer

        weight: float | None
        weight = self.weight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "scorer": scorer,
                "weight": weight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        scorer = d.pop("scorer")

        def _parse_weight(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        weight = _parse_weight(d.pop("weight"))

        flip = cls(
            scorer=scorer,
            weight=weight,
        )

        flip.additional_properties = d
        return flip

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
