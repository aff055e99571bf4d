from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.hypothetical_taint_effect import HypotheticalTaintEffect, check_hypothetical_taint_effect
from ..types import UNSET, Unset

T = TypeVar("T", bound="HypotheticalTaint")


@_attrs_define
class HypotheticalTaint:
    """
    Attributes:
        idc (str):
        key (str):
        effect (HypotheticalTaintEffect):
        value (None | str | Unset):
    """

    idc: str
    key: str
    effect: HypotheticalTaintEffect
    value: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        key = self.key

        effect: str = self.effect

        value: None | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        else:
            value = self.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "idc": idc,
                "key": key,
                "effect": effect,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        key = d.pop("key")

        effect = check_hypothetical_taint_effect(d.pop("effect"))

        def _parse_value(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        hypothetical_taint = cls(
            idc=idc,
            key=key,
            effect=effect,
            value=value,
        )

        return hypothetical_taint
