from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="LineUse")


@_attrs_define
class LineUse:
    """A line that the order would use. `note`: why the profile chooses this line and not the roomiest; absent where
    this is the roomiest.

        Attributes:
            line (str):
            isp (str):
            bandwidth_mbps (float):
            note (str | Unset):
    """

    line: str
    isp: str
    bandwidth_mbps: float
    note: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        line = self.line

        isp = self.isp

        bandwidth_mbps = self.bandwidth_mbps

        note = self.note

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "line": line,
                "isp": isp,
                "bandwidth_mbps": bandwidth_mbps,
            }
        )
        if note is not UNSET:
            field_dict["note"] = note

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        line = d.pop("line")

        isp = d.pop("isp")

        bandwidth_mbps = d.pop("bandwidth_mbps")

        note = d.pop("note", UNSET)

        line_use = cls(
            line=line,
            isp=isp,
            bandwidth_mbps=bandwidth_mbps,
            note=note,
        )

        line_use.additional_properties = d
        return line_use

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
