from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LineBill")


@_attrs_define
class LineBill:
    """What a month on one line costs without the order and with it, and the difference, to the cent.

    Attributes:
        line (str):
        per_month (float):
        before (float):
        after (float):
        method (str):
    """

    line: str
    per_month: float
    before: float
    after: float
    method: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        line = self.line

        per_month = self.per_month

        before = self.before

        after = self.after

        method = self.method

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "line": line,
                "per_month": per_month,
                "before": before,
                "after": after,
                "method": method,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        line = d.pop("line")

        per_month = d.pop("per_month")

        before = d.pop("before")

        after = d.pop("after")

        method = d.pop("method")

        line_bill = cls(
            line=line,
            per_month=per_month,
            before=before,
            after=after,
            method=method,
        )

        line_bill.additional_properties = d
        return line_bill

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
