from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.line_bill import LineBill


T = TypeVar("T", bound="Bill")


@_attrs_define
class Bill:
    """What the order adds to the bandwidth bill of a month, to the cent. `before`, `after`: the bill of its lines
    without and with it. `method`: from their last 30 days by the hour (`exact`), from the mean week of what is known of
    these (`weekly`), or at a flat rate (`fixed`). `counted`: what the profile scores instead, with what the order uses
    up of commit and room; null where it scores no price. `history_days`: how much is known, of the line of which least
    is; null where only flat rates are paid.

        Attributes:
            currency (str):
            per_month (float):
            before (float):
            after (float):
            method (str):
            counted (float | None):
            history_days (int | None):
            lines (list[LineBill]):
    """

    currency: str
    per_month: float
    before: float
    after: float
    method: str
    counted: float | None
    history_days: int | None
    lines: list[LineBill]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        per_month = self.per_month

        before = self.before

        after = self.after

        method = self.method

        counted: float | None
        counted = self.counted

        history_days: int | None
        history_days = self.history_days

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "per_month": per_month,
                "before": before,
                "after": after,
                "method": method,
                "counted": counted,
                "history_days": history_days,
                "lines": lines,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.line_bill import LineBill

        d = dict(src_dict)
        currency = d.pop("currency")

        per_month = d.pop("per_month")

        before = d.pop("before")

        after = d.pop("after")

        method = d.pop("method")

        def _parse_counted(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        counted = _parse_counted(d.pop("counted"))

        def _parse_history_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        history_days = _parse_history_days(d.pop("history_days"))

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LineBill.from_dict(lines_item_data)

            lines.append(lines_item)

        bill = cls(
            currency=currency,
            per_month=per_month,
            before=before,
            after=after,
            method=method,
            counted=counted,
            history_days=history_days,
            lines=lines,
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
