from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.ignored_taint_effect_type_0 import IgnoredTaintEffectType0, check_ignored_taint_effect_type_0
from ..types import UNSET, Unset

T = TypeVar("T", bound="IgnoredTaint")


@_attrs_define
class IgnoredTaint:
    """
    Attributes:
        idc (str):
        key (str):
        effect (IgnoredTaintEffectType0 | None | Unset):
    """

    idc: str
    key: str
    effect: IgnoredTaintEffectType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        key = self.key

        effect: None | str | Unset
        if isinstance(self.effect, Unset):
            effect = UNSET
        elif isinstance(self.effect, str):
            effect = self.effect
        else:
            effect = self.effect

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "idc": idc,
                "key": key,
            }
        )
        if effect is not UNSET:
            field_dict["effect"] = effect

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        key = d.pop("key")

        def _parse_effect(data: object) -> IgnoredTaintEffectType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effect_type_0 = check_ignored_taint_effect_type_0(data)

                return effect_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IgnoredTaintEffectType0 | None | Unset, data)

        effect = _parse_effect(d.pop("effect", UNSET))

        ignored_taint = cls(
            idc=idc,
            key=key,
            effect=effect,
        )

        return ignored_taint
