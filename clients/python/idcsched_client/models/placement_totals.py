from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.idc_totals import IdcTotals


T = TypeVar("T", bound="PlacementTotals")


@_attrs_define
class PlacementTotals:
    """The totals of some placements, in all and in each IDC, the dearest first.

    Attributes:
        placements (int):
        machines (int):
        bandwidth_mbps (float):
        per_month (float):
        without_bill (int):
        currency (str):
        idcs (list[IdcTotals]):
    """

    placements: int
    machines: int
    bandwidth_mbps: float
    per_month: float
    without_bill: int
    currency: str
    idcs: list[IdcTotals]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        placements = self.placements

        machines = self.machines

        bandwidth_mbps = self.bandwidth_mbps

        per_month = self.per_month

        without_bill = self.without_bill

        currency = self.currency

        idcs = []
        for idcs_item_data in self.idcs:
            idcs_item = idcs_item_data.to_dict()
            idcs.append(idcs_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "placements": placements,
                "machines": machines,
                "bandwidth_mbps": bandwidth_mbps,
                "per_month": per_month,
                "without_bill": without_bill,
                "currency": currency,
                "idcs": idcs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.idc_totals import IdcTotals

        d = dict(src_dict)
        placements = d.pop("placements")

        machines = d.pop("machines")

        bandwidth_mbps = d.pop("bandwidth_mbps")

        per_month = d.pop("per_month")

        without_bill = d.pop("without_bill")

        currency = d.pop("currency")

        idcs = []
        _idcs = d.pop("idcs")
        for idcs_item_data in _idcs:
            idcs_item = IdcTotals.from_dict(idcs_item_data)

            idcs.append(idcs_item)

        placement_totals = cls(
            placements=placements,
            machines=machines,
            bandwidth_mbps=bandwidth_mbps,
            per_month=per_month,
            without_bill=without_bill,
            currency=currency,
            idcs=idcs,
        )

        placement_totals.additional_properties = d
        return placement_totals

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
