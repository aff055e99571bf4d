from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Bill")


@_attrs_define
class Bill:
    """What the order would add to the bills there, per month. `counted`: what the profile scores, with what else the
    order takes up; `clipped`: that lies outside the scorer's range, so that the score does not show all of it.

        Attributes:
            currency (str):
            per_month (float):
            counted (float):
            clipped (bool):
    """

    currency: str
    per_month: float
    counted: float
    clipped: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        per_month = self.per_month

        counted = self.counted

        clipped = self.clipped

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "per_month": per_month,
                "counted": counted,
                "clipped": clipped,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        currency = d.pop("currency")

        per_month = d.pop("per_month")

        counted = d.pop("counted")

        clipped = d.pop("clipped")

        bill = cls(
            currency=currency,
            per_month=per_month,
            counted=counted,
            clipped=clipped,
        )

        bill.additional_properties = d
        return bill

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
