from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bill import Bill
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
        bill (Bill | None | Unset):
        bill_unknown (str | Unset):
    """

    idc: str
    lines: list[LineUse]
    machine_count: int
    score: float
    bill: Bill | None | Unset = UNSET
    bill_unknown: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bill import Bill

        idc = self.idc

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        machine_count = self.machine_count

        score = self.score

        bill: dict[str, Any] | None | Unset
        if isinstance(self.bill, Unset):
            bill = UNSET
        elif isinstance(self.bill, Bill):
            bill = self.bill.to_dict()
        else:
            bill = self.bill

        bill_unknown = self.bill_unknown

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
        if bill is not UNSET:
            field_dict["bill"] = bill
        if bill_unknown is not UNSET:
            field_dict["bill_unknown"] = bill_unknown

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bill import Bill
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

        def _parse_bill(data: object) -> Bill | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                bill_type_0 = Bill.from_dict(data)

                return bill_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Bill | None | Unset, data)

        bill = _parse_bill(d.pop("bill", UNSET))

        bill_unknown = d.pop("bill_unknown", UNSET)

        idc_share = cls(
            idc=idc,
            lines=lines,
            machine_count=machine_count,
            score=score,
            bill=bill,
            bill_unknown=bill_unknown,
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
