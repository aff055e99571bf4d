from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="IdcTotals")


@_attrs_define
class IdcTotals:
    """The totals of one IDC; null: of placements that stand nowhere.

    Attributes:
        placements (int):
        machines (int):
        bandwidth_mbps (float):
        per_month (float):
        without_bill (int):
        idc (None | str):
    """

    placements: int
    machines: int
    bandwidth_mbps: float
    per_month: float
    without_bill: int
    idc: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        placements = self.placements

        machines = self.machines

        bandwidth_mbps = self.bandwidth_mbps

        per_month = self.per_month

        without_bill = self.without_bill

        idc: None | str
        idc = self.idc

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "placements": placements,
                "machines": machines,
                "bandwidth_mbps": bandwidth_mbps,
                "per_month": per_month,
                "without_bill": without_bill,
                "idc": idc,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        placements = d.pop("placements")

        machines = d.pop("machines")

        bandwidth_mbps = d.pop("bandwidth_mbps")

        per_month = d.pop("per_month")

        without_bill = d.pop("without_bill")

        def _parse_idc(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        idc = _parse_idc(d.pop("idc"))

        idc_totals = cls(
            placements=placements,
            machines=machines,
            bandwidth_mbps=bandwidth_mbps,
            per_month=per_month,
            without_bill=without_bill,
            idc=idc,
        )

        idc_totals.additional_properties = d
        return idc_totals

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
