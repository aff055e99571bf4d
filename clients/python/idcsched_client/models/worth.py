from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.worth_no_price import WorthNoPrice, check_worth_no_price
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.worth_best import WorthBest


T = TypeVar("T", bound="Worth")


@_attrs_define
class Worth:
    """What points are worth in money, over all IDCs that fit and not only those shown.

    `best`: for each scorer the largest contribution of any of these IDCs. `per_point`: the money per month that one
    point is worth; null where points have no price, for the reason in `no_price`.

        Attributes:
            currency (str):
            per_point (float | None):
            best (WorthBest):
            no_price (WorthNoPrice | Unset):
    """

    currency: str
    per_point: float | None
    best: WorthBest
    no_price: WorthNoPrice | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        currency = self.currency

        per_point: float | None
        per_point = self.per_point

        best = self.best.to_dict()

        no_price: str | Unset = UNSET
        if not isinstance(self.no_price, Unset):
            no_price = self.no_price

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "currency": currency,
                "per_point": per_point,
                "best": best,
            }
        )
        if no_price is not UNSET:
            field_dict["no_price"] = no_price

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.worth_best import WorthBest

        d = dict(src_dict)
        currency = d.pop("currency")

        def _parse_per_point(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        per_point = _parse_per_point(d.pop("per_point"))

        best = WorthBest.from_dict(d.pop("best"))

        _no_price = d.pop("no_price", UNSET)
        no_price: WorthNoPrice | Unset
        if isinstance(_no_price, Unset):
            no_price = UNSET
        else:
            no_price = check_worth_no_price(_no_price)

        worth = cls(
            currency=currency,
            per_point=per_point,
            best=best,
            no_price=no_price,
        )

        worth.additional_properties = d
        return worth

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
