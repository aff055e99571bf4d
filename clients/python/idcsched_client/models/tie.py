from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.tie_values import TieValues


T = TypeVar("T", bound="Tie")


@_attrs_define
class Tie:
    """The IDCs that share the best total. `others`: how many more than the listed ones do; absent where none do.

    Attributes:
        between (list[str]):
        broken_by (str):
        values (TieValues):
        others (int | Unset):
    """

    between: list[str]
    broken_by: str
    values: TieValues
    others: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        between = self.between

        broken_by = self.broken_by

        values = self.values.to_dict()

        others = self.others

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "between": between,
                "broken_by": broken_by,
                "values": values,
            }
        )
        if others is not UNSET:
            field_dict["others"] = others

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tie_values import TieValues

        d = dict(src_dict)
        between = cast(list[str], d.pop("between"))

        broken_by = d.pop("broken_by")

        values = TieValues.from_dict(d.pop("values"))

        others = d.pop("others", UNSET)

        tie = cls(
            between=between,
            broken_by=broken_by,
            values=values,
            others=others,
        )

        tie.additional_properties = d
        return tie

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
